// A release as Croissant 1.1 (docs.mlcommons.org/croissant): its files, and a record set for each file with every field.
// Also the dataset without a release, in the words of schema.org, for search engines. Pure.
import type { Dataset, FieldShape } from '../datasets/define.ts'
import type { ReleaseFile } from '../storage/published-releases.ts'
import {
  describeAccess,
  describeField,
  describeRelease,
  extensionOf,
  fileUrl,
  LANGUAGE,
  linksOf,
  nameRelease,
  type ReleaseDescription,
  readLicences,
  recordsTypeOf,
  releasesUrl,
  releaseUrl,
  SERVICE_NAME,
  versionOf,
} from './release-description.ts'

const PROFILE = 'http://mlcommons.org/croissant/1.1'
export const CROISSANT_TYPE = `application/ld+json; profile="${PROFILE}"`

/** Terms of the Croissant vocabulary that have the same name in the document. */
const CROISSANT_TERMS = `
  arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty
  fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references
  regex repeated replace samplingRate separator source subField transform`
  .trim()
  .split(/\s+/)
const CONTEXT = {
  '@language': LANGUAGE,
  '@vocab': 'https://schema.org/',
  sc: 'https://schema.org/',
  cr: 'http://mlcommons.org/croissant/',
  dct: 'http://purl.org/dc/terms/',
  prov: 'http://www.w3.org/ns/prov#',
  rai: 'http://mlcommons.org/croissant/RAI/',
  ...Object.fromEntries(CROISSANT_TERMS.map((term) => [term, `cr:${term}`])),
  conformsTo: 'dct:conformsTo',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  description: { '@container': '@language' },
  examples: { '@id': 'cr:examples', '@type': '@json' },
  name: { '@container': '@language' },
}

/** Names that programs for Croissant know, alongside the media type of the download. */
const FURTHER_TYPES: Readonly<Record<string, string>> = {
  ndjson: 'application/jsonlines',
  parquet: 'application/x-parquet',
}

const DATA_TYPES: Readonly<Record<FieldShape['kind'], string>> = {
  identifier: 'sc:Integer',
  integer: 'sc:Integer',
  number: 'sc:Float',
  text: 'sc:Text',
  date: 'sc:Date',
  boolean: 'sc:Boolean',
  choice: 'sc:Text',
  code: 'sc:Text',
  uri: 'sc:URL',
  object: 'sc:Text',
}

const publisher = (baseUrl: string) => ({ '@type': 'sc:Organization', name: SERVICE_NAME, url: baseUrl })

export function describeAsCroissant(description: ReleaseDescription) {
  const { dataset, release, baseUrl, citation, sources } = description
  const licences = readLicences(release.licence)
  return {
    '@context': CONTEXT,
    '@type': 'sc:Dataset',
    conformsTo: PROFILE,
    name: nameRelease(description),
    description: describeRelease(description),
    url: releaseUrl(description),
    version: versionOf(release),
    datePublished: release.publishedAt.toISOString(),
    // An interval of ISO 8601 without a beginning.
    temporalCoverage: `../${release.asOf}`,
    license: licences.length === 0 ? release.licence : licences.map(({ url }) => url),
    creator: publisher(baseUrl),
    publisher: publisher(baseUrl),
    inLanguage: LANGUAGE,
    conditionsOfAccess: describeAccess(baseUrl, dataset),
    citeAs: citation.bibtex,
    isBasedOn: sources.map((name) => ({ '@type': 'sc:CreativeWork', name })),
    isLiveDataset: false,
    distribution: release.files.map((file) => describeFile(description, file)),
    recordSet: [
      ...release.files.map((file) => describeRecords(description, file)),
      ...release.contract.fields.filter(({ choices }) => choices).map(describeChoices),
    ],
  }
}

const describeFile = (description: ReleaseDescription, file: ReleaseFile) => {
  const further = FURTHER_TYPES[extensionOf(file)]
  return {
    '@type': 'cr:FileObject',
    '@id': file.name,
    name: file.name,
    contentUrl: fileUrl(description, file),
    contentSize: `${file.bytes} B`,
    encodingFormat: further === undefined ? recordsTypeOf(file) : [recordsTypeOf(file), further],
    sha256: file.sha256,
    conditionsOfAccess: describeAccess(description.baseUrl, description.dataset),
  }
}

const valuesId = ({ name }: FieldShape) => `values-of-${name}`

/** An object is JSON text in CSV and Parquet. In NDJSON it is an object, for which Croissant has no data type. */
const hasDataType = (file: ReleaseFile, { kind }: FieldShape) => kind !== 'object' || extensionOf(file) !== 'ndjson'

function describeRecords({ dataset, release }: ReleaseDescription, file: ReleaseFile) {
  const { fields } = release.contract
  const id = `records-${extensionOf(file)}`
  return {
    '@type': 'cr:RecordSet',
    '@id': id,
    name: id,
    description: `${file.records} records. ${dataset.description}`,
    key: { '@id': `${id}/id` },
    field: fields
      .filter((field) => hasDataType(file, field))
      .map((field) => {
        const { derivedFrom, equivalent } = linksOf(dataset, field)
        return {
          '@type': 'cr:Field',
          '@id': `${id}/${field.name}`,
          name: field.name,
          description: describeField(dataset, field),
          dataType: DATA_TYPES[field.kind],
          ...(equivalent && { equivalentProperty: equivalent.property }),
          ...describeConstraints(field),
          ...(equivalent && { unitText: equivalent.unit }),
          ...(derivedFrom.length > 0 && {
            'prov:wasDerivedFrom': derivedFrom.map((name) => ({ '@id': `${id}/${name}` })),
          }),
          source: { fileObject: { '@id': file.name }, extract: { column: field.name } },
          ...(field.choices && { references: { field: { '@id': `${valuesId(field)}/value` } } }),
        }
      }),
  }
}

/** Croissant has no constraints; these are the ones of schema.org (PropertyValueSpecification). */
const describeConstraints = ({ nullable, minimum, maximum, maxLength, vocabulary }: FieldShape) => ({
  valueRequired: !nullable,
  ...(minimum !== undefined && { minValue: minimum }),
  ...(maximum !== undefined && { maxValue: maximum }),
  ...(maxLength !== undefined && { valueMaxLength: maxLength }),
  ...(vocabulary && { valuePattern: vocabulary.pattern }),
})

/** The values of a field that has a closed list. */
function describeChoices(field: FieldShape) {
  const id = valuesId(field)
  const valueId = `${id}/value`
  return {
    '@type': 'cr:RecordSet',
    '@id': id,
    name: id,
    description: `The values of ${field.name}.`,
    dataType: 'sc:Enumeration',
    key: { '@id': valueId },
    field: [
      { '@type': 'cr:Field', '@id': valueId, name: 'value', description: field.description, dataType: 'sc:Text' },
    ],
    data: field.choices?.map((choice) => ({ [valueId]: choice })),
  }
}

/** The dataset for search engines: what the OpenAPI document says too, and nothing about a release. */
const describeDataset = (dataset: Dataset, baseUrl: string) => ({
  '@type': 'Dataset',
  '@id': releasesUrl(baseUrl, dataset),
  name: dataset.title,
  description: `${dataset.description} Published as numbered releases that never change, as CSV, NDJSON and Parquet.`,
  url: `${baseUrl}/`,
  identifier: dataset.name,
  inLanguage: LANGUAGE,
  publisher: { '@type': 'Organization', name: SERVICE_NAME, url: baseUrl },
  conditionsOfAccess: describeAccess(baseUrl, dataset),
  variableMeasured: dataset.fields.map((field) => ({
    '@type': 'PropertyValue',
    name: field.name,
    description: describeField(dataset, field),
  })),
})

/** The datasets of the service as one document. */
export const describeCatalogue = (datasets: readonly Dataset[], baseUrl: string) => ({
  '@context': 'https://schema.org/',
  '@type': 'DataCatalog',
  name: SERVICE_NAME,
  url: `${baseUrl}/`,
  dataset: datasets.map((dataset) => describeDataset(dataset, baseUrl)),
})
