// What the descriptions of a release have in common, in Croissant, as a data package and in DCAT: names, addresses, licences and
// what the declaration says about a field beyond its type. Pure.
import type { Dataset, Field, FieldShape } from '../datasets/define.ts'
import type { PublishedRelease, ReleaseFile } from '../storage/published-releases.ts'

export interface ReleaseDescription {
  readonly dataset: Dataset
  readonly release: PublishedRelease
  readonly baseUrl: string
  readonly citation: { readonly text: string; readonly bibtex: string }
  /** The names of the sources with the most records. */
  readonly sources: readonly string[]
}

/** The name of the service: it publishes the data. */
export const SERVICE_NAME = 'Outbreak Data Service'
/** The language of names and descriptions. */
export const LANGUAGE = 'en'

export const releasesUrl = (baseUrl: string, { name }: Pick<Dataset, 'name'>): string =>
  `${baseUrl}/v2/${name}/releases`

export const releaseUrl = ({ baseUrl, dataset, release }: ReleaseDescription): string =>
  `${releasesUrl(baseUrl, dataset)}/${release.number}`

export const fileUrl = (description: ReleaseDescription, { name }: ReleaseFile): string =>
  `${releaseUrl(description)}/files/${name}`

export const nameRelease = ({ dataset, release }: ReleaseDescription): string =>
  `${dataset.title}, release ${release.number}`

/** What the records are, and what the publisher says about this release. */
export const describeRelease = ({ dataset, release }: ReleaseDescription): string =>
  [dataset.description, endSentence(release.title), `Data as of ${release.asOf}.`, release.note ?? '']
    .filter((text) => text !== '')
    .join(' ')

const endSentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

/** A release may change records of the release before it, so it is a major version (semver.org). */
export const versionOf = ({ number }: PublishedRelease): string => `${number}.0.0`

export const describeAccess = (baseUrl: string, { scope }: Pick<Dataset, 'scope'>): string =>
  `A file is downloaded with an access token of the scope ${scope}, in the header Authorization: Bearer. The operator of the service provides client credentials. ${baseUrl}/.well-known/oauth-protected-resource names the token issuer.`

export const isCompressed = ({ name }: Pick<ReleaseFile, 'name'>): boolean => name.endsWith('.gz')

/** `csv`, `ndjson` or `parquet`. */
export const extensionOf = ({ name }: Pick<ReleaseFile, 'name'>): string => /\.([a-z]+)(?:\.gz)?$/.exec(name)?.[1] ?? ''

const TYPES: Readonly<Record<string, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

/** The media type of the records, even if the file is compressed. */
export const recordsTypeOf = (file: Pick<ReleaseFile, 'name' | 'mediaType'>): string =>
  TYPES[extensionOf(file)] ?? file.mediaType

/** Identifiers of SPDX that end with a version, joined by AND: all of them apply. Other texts are not taken for identifiers. */
const SPDX_IDENTIFIER = /^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*-[0-9]+\.[0-9]+$/

interface Licence {
  readonly name: string
  readonly url: string
}

/** The licences that a string names; empty if it is neither a URL nor identifiers of SPDX. */
export function readLicences(text: string): Licence[] {
  if (/^https?:\/\/\S+$/.test(text)) return [{ name: text, url: text }]
  const names = text.split(' AND ')
  if (!names.every((name) => SPDX_IDENTIFIER.test(name))) return []
  return names.map((name) => ({ name, url: `https://spdx.org/licenses/${name}.html` }))
}

/** How a field depends on others. A release may have fields that the declaration no longer has; they have no links. */
export interface FieldLinks {
  /** The fields from which the value is computed. */
  readonly derivedFrom: readonly string[]
  /** The field that says how exact the number is. */
  readonly qualifiedBy?: string
  /** The property of schema.org with the same meaning, and the unit of its values. */
  readonly equivalent?: { readonly property: string; readonly unit: string }
}

export function linksOf(dataset: Dataset, field: FieldShape): FieldLinks {
  const declared: Field | undefined = dataset.fields.find(({ name }) => name === field.name)
  const { latitude, longitude } = dataset.coordinates ?? {}
  const property = (field.name === latitude && 'latitude') || (field.name === longitude && 'longitude') || undefined
  return {
    derivedFrom: declared?.derive?.from ?? [],
    ...(field.qualifiedBy !== undefined && { qualifiedBy: field.qualifiedBy }),
    ...(property && { equivalent: { property: `https://schema.org/${property}`, unit: 'degree' } }),
  }
}

/** The description of a field with its code list and its links, for people. */
export function describeField(dataset: Dataset, field: FieldShape): string {
  const { derivedFrom, qualifiedBy } = linksOf(dataset, field)
  return [
    field.description,
    ...(field.vocabulary ? [`Code list: ${field.vocabulary.name}.`] : []),
    ...(qualifiedBy === undefined ? [] : [`\`${qualifiedBy}\` says how exact it is.`]),
    ...(derivedFrom.length === 1 ? [`Derived from \`${derivedFrom[0]}\`.`] : []),
  ].join(' ')
}
