// A release as a Frictionless data package, version 2 (datapackage.org): a table for each text file, with the types and constraints
// of its fields. Pure.
import type { FieldShape } from '../datasets/define.ts'
import type { ReleaseFile } from '../storage/published-releases.ts'
import {
  describeAccess,
  describeField,
  describeRelease,
  extensionOf,
  fileUrl,
  isCompressed,
  linksOf,
  nameRelease,
  type ReleaseDescription,
  readLicences,
  recordsTypeOf,
  releaseUrl,
  SERVICE_NAME,
  versionOf,
} from './release-description.ts'

const PROFILES = 'https://datapackage.org/profiles/2.0'

const TYPES: Readonly<Record<FieldShape['kind'], { type: string; format?: string }>> = {
  identifier: { type: 'integer' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  text: { type: 'string' },
  date: { type: 'date' },
  boolean: { type: 'boolean' },
  choice: { type: 'string' },
  code: { type: 'string' },
  uri: { type: 'string', format: 'uri' },
  object: { type: 'object' },
}

export function describeAsDataPackage(description: ReleaseDescription) {
  const { dataset, release, baseUrl, citation, sources } = description
  const licences = readLicences(release.licence)
  return {
    $schema: `${PROFILES}/datapackage.json`,
    name: `${dataset.name}-${release.number}`,
    id: releaseUrl(description),
    title: nameRelease(description),
    description: describeRelease(description),
    version: versionOf(release),
    created: release.publishedAt.toISOString(),
    /** The day up to which the data is known. */
    as_of: release.asOf,
    homepage: `${baseUrl}/`,
    licenses:
      licences.length === 0
        ? // A licence has a name of the Open Definition or an address.
          [{ path: releaseUrl(description), title: release.licence }]
        : licences.map(({ name, url }) => (name === url ? { path: url } : { name, path: url })),
    contributors: [{ title: SERVICE_NAME, path: baseUrl, roles: ['publisher'] }],
    ...(sources.length > 0 && { sources: sources.map((title) => ({ title })) }),
    conditionsOfAccess: describeAccess(baseUrl, dataset),
    citation: citation.text,
    /** SHA-256 of the records, whichever file has them. */
    digest: release.digest,
    resources: release.files.filter(isText).map((file) => describeFile(description, file)),
  }
}

/** Parquet has its own types. frictionless-py reads its nulls as NaN, and would reject the constraints (decision 0041). */
const isText = (file: ReleaseFile) => extensionOf(file) !== 'parquet'

function describeFile(description: ReleaseDescription, file: ReleaseFile) {
  const { dataset, release } = description
  const extension = extensionOf(file)
  return {
    name: `records-${extension}`,
    type: 'table',
    path: fileUrl(description, file),
    format: extension,
    mediatype: recordsTypeOf(file),
    ...(isCompressed(file) && { compression: 'gz' }),
    encoding: 'utf-8',
    bytes: file.bytes,
    hash: `sha256:${file.sha256}`,
    rows: file.records,
    schema: {
      $schema: `${PROFILES}/tableschema.json`,
      fields: release.contract.fields.map((field) => ({
        name: field.name,
        ...TYPES[field.kind],
        description: describeField(dataset, field),
        constraints: describeConstraints(field),
        ...describeLinks(description, field),
      })),
      missingValues: [''],
      primaryKey: ['id'],
    },
  }
}

const describeConstraints = (field: FieldShape) => ({
  required: !field.nullable,
  ...(field.kind === 'identifier' && { unique: true }),
  ...(field.minimum !== undefined && { minimum: field.minimum }),
  ...(field.maximum !== undefined && { maximum: field.maximum }),
  ...(field.kind === 'text' && { minLength: 1 }),
  // The length of an object is that of its JSON text, which other programs write in another way.
  ...(field.maxLength !== undefined && field.kind !== 'object' && { maxLength: field.maxLength }),
  ...(field.choices && { enum: field.choices }),
  ...(field.vocabulary && { pattern: field.vocabulary.pattern }),
})

/** What the format has no property for: a program that does not know these members ignores them. */
function describeLinks({ dataset }: ReleaseDescription, field: FieldShape) {
  const { derivedFrom, qualifiedBy, equivalent } = linksOf(dataset, field)
  return {
    ...(derivedFrom.length > 0 && { derivedFrom }),
    ...(qualifiedBy !== undefined && { qualifiedBy }),
    ...(equivalent && { rdfType: equivalent.property, unit: equivalent.unit }),
  }
}
