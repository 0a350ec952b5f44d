// A release in DCAT 3 with the properties of DCAT-AP, as JSON-LD: a dataset in a series, with a distribution for each file. Pure.
import type { ReleaseFile } from '../storage/published-releases.ts'
import {
  describeAccess,
  describeRelease,
  fileUrl,
  isCompressed,
  LANGUAGE,
  nameRelease,
  type ReleaseDescription,
  readLicences,
  recordsTypeOf,
  releasesUrl,
  releaseUrl,
  SERVICE_NAME,
} from './release-description.ts'

export const DCAT_TYPE = 'application/ld+json'

const CONTEXT = {
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  prov: 'http://www.w3.org/ns/prov#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  spdx: 'http://spdx.org/rdf/terms#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
}
const IANA_MEDIA_TYPES = 'https://www.iana.org/assignments/media-types'
/** The code list of the Publications Office that DCAT-AP requires: access only under conditions. */
const RESTRICTED = 'http://publications.europa.eu/resource/authority/access-right/RESTRICTED'

const inEnglish = (text: string) => ({ '@value': text, '@language': LANGUAGE })
const typed = (type: string, value: string) => ({ '@value': value, '@type': `xsd:${type}` })

export function describeAsDcat(description: ReleaseDescription) {
  const { dataset, release, baseUrl, citation, sources } = description
  const id = releaseUrl(description)
  const series = releasesUrl(baseUrl, dataset)
  const homepage = { '@id': `${baseUrl}/`, '@type': 'foaf:Document' }
  const publisher = {
    '@id': `${baseUrl}/#publisher`,
    '@type': 'foaf:Agent',
    'foaf:name': SERVICE_NAME,
    'foaf:homepage': { '@id': homepage['@id'] },
  }
  const rights = {
    '@type': 'dct:RightsStatement',
    'rdfs:label': inEnglish(describeAccess(baseUrl, dataset)),
  }
  return {
    '@context': CONTEXT,
    '@graph': [
      {
        '@id': id,
        '@type': 'dcat:Dataset',
        'dct:title': inEnglish(nameRelease(description)),
        'dct:description': inEnglish(describeRelease(description)),
        'dct:identifier': id,
        'dct:issued': typed('dateTime', release.publishedAt.toISOString()),
        'dct:temporal': { '@type': 'dct:PeriodOfTime', 'dcat:endDate': typed('date', release.asOf) },
        'dcat:version': String(release.number),
        ...(release.number > 1 && { 'dcat:previousVersion': { '@id': `${series}/${release.number - 1}` } }),
        'dcat:inSeries': { '@id': series },
        'dct:publisher': publisher,
        'dct:accessRights': { '@id': RESTRICTED, '@type': 'dct:RightsStatement' },
        'dcat:landingPage': homepage,
        'dct:bibliographicCitation': citation.text,
        ...(sources.length > 0 && {
          'dct:provenance': {
            '@type': 'dct:ProvenanceStatement',
            'rdfs:label': inEnglish(`Sources: ${sources.join('; ')}`),
          },
        }),
        'dcat:distribution': release.files.map((file) => describeFile(description, file, rights)),
      },
      {
        '@id': series,
        '@type': 'dcat:DatasetSeries',
        'dct:title': inEnglish(dataset.title),
        'dct:description': inEnglish(dataset.description),
        'dct:publisher': { '@id': publisher['@id'] },
      },
    ],
  }
}

const describeFile = (description: ReleaseDescription, file: ReleaseFile, rights: object) => ({
  '@id': fileUrl(description, file),
  '@type': 'dcat:Distribution',
  'dct:title': inEnglish(file.name),
  'dct:issued': typed('dateTime', description.release.publishedAt.toISOString()),
  'dcat:accessURL': { '@id': releaseUrl(description) },
  'dcat:downloadURL': { '@id': fileUrl(description, file) },
  ...describeType(recordsTypeOf(file)),
  ...(isCompressed(file) && { 'dcat:compressFormat': mediaType('application/gzip') }),
  'dcat:byteSize': typed('nonNegativeInteger', String(file.bytes)),
  'spdx:checksum': {
    '@type': 'spdx:Checksum',
    'spdx:algorithm': { '@id': 'spdx:checksumAlgorithm_sha256', '@type': 'spdx:ChecksumAlgorithm' },
    'spdx:checksumValue': typed('hexBinary', file.sha256),
  },
  'dct:license': describeLicence(description.release.licence),
  'dct:rights': rights,
})

/** `dcat:mediaType` is for types that IANA has registered, which never begin with `x-`. */
const describeType = (type: string) =>
  type.includes('/x-')
    ? { 'dct:format': { '@type': 'dct:MediaTypeOrExtent', 'rdfs:label': type } }
    : { 'dcat:mediaType': mediaType(type) }

const mediaType = (type: string) => ({ '@id': `${IANA_MEDIA_TYPES}/${type}`, '@type': 'dct:MediaType' })

/** A distribution has one licence: several that apply together are one document that names them. */
function describeLicence(text: string) {
  const [first, ...others] = readLicences(text)
  if (first !== undefined && others.length === 0)
    return { '@id': first.url, '@type': 'dct:LicenseDocument', 'dct:title': text }
  return {
    '@type': 'dct:LicenseDocument',
    'dct:title': text,
    ...(first && { 'rdfs:seeAlso': [first, ...others].map(({ url }) => ({ '@id': url })) }),
  }
}
