// The descriptions of a release, member by member: addresses, digests, sizes, licences, types, constraints and links of fields.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { describeAsCroissant, describeCatalogue } from '../../../src/formats/croissant.ts'
import { describeAsDataPackage } from '../../../src/formats/data-package.ts'
import { describeAsDcat } from '../../../src/formats/dcat.ts'
import { type ReleaseDescription, readLicences } from '../../../src/formats/release-description.ts'
import { declaredFields } from '../../../src/storage/contract.ts'
import type { PublishedRelease } from '../../../src/storage/published-releases.ts'

const RELEASE_URL = 'https://api.test/v2/hed-outbreaks/releases/3'
const file = (extension: string, mediaType: string, bytes: number) => ({
  ...{ name: `hed-outbreaks-3.${extension}`, mediaType, bytes, records: 42, sha256: String(bytes).repeat(64) },
})
const files = [
  file('csv.gz', 'application/gzip', 1),
  file('ndjson.gz', 'application/gzip', 2),
  file('parquet', 'application/vnd.apache.parquet', 3),
]

const describeRelease = (changes: Partial<PublishedRelease> = {}): ReleaseDescription => ({
  dataset: hedOutbreaks,
  baseUrl: 'https://api.test',
  release: {
    ...{
      number: 3,
      title: 'A title',
      licence: 'CC0-1.0',
      note: 'A note.',
      publishedAt: new Date('2026-01-02T03:04:05Z'),
      asOf: '2025-12-31',
    },
    ...{
      records: 42,
      added: 42,
      corrected: 0,
      withdrawn: 0,
      rejected: 0,
      reasons: {},
      preferred: {},
      warnings: {},
      digest: 'd'.repeat(64),
    },
    ...{ contract: { fields: declaredFields(hedOutbreaks), keysSince: 1 }, restores: null, prunedAt: null, files },
    ...changes,
  },
  citation: { text: 'Cite this.', bibtex: '@misc{this}' },
  sources: ['WHO', 'Ministry'],
})

const byName = <Item extends { name: string }>(items: readonly Item[], name: string): Item =>
  items.find((item) => item.name === name) ?? assert.fail(`there is no ${name}`)

describe('Croissant', () => {
  const croissant = describeAsCroissant(describeRelease())
  const [csv, ndjson] = croissant.recordSet

  test('names the release, its version, licence, sources and citation, and how to get access', () => {
    const { name, url, version, datePublished, temporalCoverage, license, citeAs, isBasedOn, description } = croissant
    assert.deepEqual(
      { name, url, version, datePublished, temporalCoverage, license, citeAs, isBasedOn },
      {
        name: 'Historical epidemic data: outbreaks, release 3',
        url: RELEASE_URL,
        version: '3.0.0',
        datePublished: '2026-01-02T03:04:05.000Z',
        temporalCoverage: '../2025-12-31',
        license: ['https://spdx.org/licenses/CC0-1.0.html'],
        citeAs: '@misc{this}',
        isBasedOn: ['WHO', 'Ministry'].map((source) => ({ '@type': 'sc:CreativeWork', name: source })),
      },
    )
    assert.match(description, / A title\. Data as of 2025-12-31\. A note\.$/)
    assert.match(croissant.conditionsOfAccess, /scope hed-outbreaks:read.*Authorization: Bearer/)
  })

  test('each file has its URL, media type, size and SHA-256', () => {
    assert.deepEqual(
      croissant.distribution.map(({ contentUrl, encodingFormat, contentSize, sha256 }) => [
        ...[contentUrl, encodingFormat, contentSize, sha256],
      ]),
      [
        [`${RELEASE_URL}/files/hed-outbreaks-3.csv.gz`, 'text/csv', '1 B', '1'.repeat(64)],
        [
          `${RELEASE_URL}/files/hed-outbreaks-3.ndjson.gz`,
          ['application/x-ndjson', 'application/jsonlines'],
          '2 B',
          '2'.repeat(64),
        ],
        [
          `${RELEASE_URL}/files/hed-outbreaks-3.parquet`,
          ['application/vnd.apache.parquet', 'application/x-parquet'],
          '3 B',
          '3'.repeat(64),
        ],
      ],
    )
  })

  test('a record set for each file has every field of the release; an object is left out where it is no text', () => {
    const names = hedOutbreaks.fields.map(({ name }) => name)
    const fieldsOf = (set: typeof csv) => set?.field.map(({ name }) => name)
    assert.deepEqual(fieldsOf(csv), names)
    assert.deepEqual(
      fieldsOf(ndjson),
      names.filter((name) => name !== 'extra'),
    )
    assert.deepEqual(
      croissant.recordSet.slice(0, 3).map((set) => set['@id']),
      ['records-csv', 'records-ndjson', 'records-parquet'],
    )
  })

  test('a field has its type, constraints, unit, closed list and the fields it is derived from', () => {
    const fields = (csv?.field ?? []) as { name: string }[]
    const head = (name: string) => ({ '@type': 'cr:Field', '@id': `records-csv/${name}`, name })
    const source = (column: string) => ({ fileObject: { '@id': 'hed-outbreaks-3.csv.gz' }, extract: { column } })
    assert.deepEqual(byName(fields, 'latitude'), {
      ...head('latitude'),
      description: 'Degrees north, WGS 84. Only together with `longitude`.',
      ...{ dataType: 'sc:Float', equivalentProperty: 'https://schema.org/latitude' },
      ...{ valueRequired: false, minValue: -90, maxValue: 90, unitText: 'degree' },
      source: source('latitude'),
    })
    assert.deepEqual(byName(fields, 'who_region'), {
      ...head('who_region'),
      description: 'Region of the World Health Organization. Derived from `country_code`.',
      ...{ dataType: 'sc:Text', valueRequired: false },
      'prov:wasDerivedFrom': [{ '@id': 'records-csv/country_code' }],
      source: source('who_region'),
      references: { field: { '@id': 'values-of-who_region/value' } },
    })
    const values = croissant.recordSet.find((set) => set['@id'] === 'values-of-sex')
    assert.deepEqual(values && 'data' in values && values.data, [
      ...[{ 'values-of-sex/value': 'female' }, { 'values-of-sex/value': 'male' }, { 'values-of-sex/value': 'other' }],
    ])
  })

  test('a licence that is neither an identifier of SPDX nor an address stays a text', () => {
    assert.equal(describeAsCroissant(describeRelease({ licence: 'Ask the ministry' })).license, 'Ask the ministry')
  })
})

describe('a data package', () => {
  const dataPackage = describeAsDataPackage(describeRelease())

  test('has the text files of the release with URL, size, SHA-256 and number of rows', () => {
    assert.deepEqual(
      dataPackage.resources.map(({ schema: _schema, ...resource }) => resource),
      files.slice(0, 2).map(({ name, bytes, sha256 }, i) => ({
        ...{ name: `records-${i === 0 ? 'csv' : 'ndjson'}`, type: 'table', path: `${RELEASE_URL}/files/${name}` },
        ...{
          format: i === 0 ? 'csv' : 'ndjson',
          mediatype: i === 0 ? 'text/csv' : 'application/x-ndjson',
          compression: 'gz',
        },
        ...{ encoding: 'utf-8', bytes, hash: `sha256:${sha256}`, rows: 42 },
      })),
    )
  })

  test('a field has its type, constraints and links', () => {
    const fields = (dataPackage.resources[0]?.schema.fields ?? []) as { name: string }[]
    assert.deepEqual(byName(fields, 'id'), {
      ...{ name: 'id', type: 'integer', description: hedOutbreaks.fields[0]?.description },
      constraints: { required: true, unique: true, minimum: 1 },
    })
    assert.deepEqual(byName(fields, 'cases'), {
      ...{ name: 'cases', type: 'integer' },
      description:
        'Number of cases; includes deaths where both counts have the same basis. `count_qualifier` says how exact it is.',
      constraints: { required: false, minimum: -2_147_483_647, maximum: 2_147_483_647 },
      qualifiedBy: 'count_qualifier',
    })
    assert.deepEqual(byName(fields, 'sex'), {
      ...{ name: 'sex', type: 'string', description: 'Sex of the counted persons; null is everyone.' },
      constraints: { required: false, enum: ['female', 'male', 'other'] },
    })
    assert.deepEqual(byName(fields, 'source_url'), {
      ...{ name: 'source_url', type: 'string', format: 'uri', description: 'URL of the report.' },
      constraints: { required: false, maxLength: 2000 },
    })
    assert.deepEqual(byName(fields, 'longitude'), {
      ...{ name: 'longitude', type: 'number', description: 'Degrees east, WGS 84. Only together with `latitude`.' },
      constraints: { required: false, minimum: -180, maximum: 180 },
      ...{ rdfType: 'https://schema.org/longitude', unit: 'degree' },
    })
  })

  test('each licence has a name or an address', () => {
    const licencesOf = (licence: string) => describeAsDataPackage(describeRelease({ licence })).licenses
    assert.deepEqual(licencesOf('CC0-1.0 AND Apache-2.0'), [
      { name: 'CC0-1.0', path: 'https://spdx.org/licenses/CC0-1.0.html' },
      { name: 'Apache-2.0', path: 'https://spdx.org/licenses/Apache-2.0.html' },
    ])
    assert.deepEqual(licencesOf('https://example.org/terms'), [{ path: 'https://example.org/terms' }])
    assert.deepEqual(licencesOf('Ask the ministry'), [{ path: RELEASE_URL, title: 'Ask the ministry' }])
  })
})

describe('DCAT', () => {
  const [dataset, series] = describeAsDcat(describeRelease())['@graph'] as [Record<string, unknown>, object]

  test('a release is a dataset in the series of releases, after the one before it', () => {
    assert.equal(dataset['@id'], RELEASE_URL)
    assert.deepEqual(dataset['dct:temporal'], {
      '@type': 'dct:PeriodOfTime',
      'dcat:endDate': { '@value': '2025-12-31', '@type': 'xsd:date' },
    })
    assert.deepEqual(dataset['dcat:previousVersion'], { '@id': 'https://api.test/v2/hed-outbreaks/releases/2' })
    assert.deepEqual(dataset['dcat:inSeries'], { '@id': 'https://api.test/v2/hed-outbreaks/releases' })
    assert.deepEqual(Object.entries(series).slice(0, 2), [
      ['@id', 'https://api.test/v2/hed-outbreaks/releases'],
      ['@type', 'dcat:DatasetSeries'],
    ])
    const [first] = describeAsDcat(describeRelease({ number: 1 }))['@graph']
    assert.equal(Object.hasOwn(first as object, 'dcat:previousVersion'), false)
  })

  test('each file is a distribution; only a registered media type is one of IANA', () => {
    const distributions = dataset['dcat:distribution'] as Record<string, unknown>[]
    assert.deepEqual(
      distributions.map((each) => each['dcat:mediaType'] ?? each['dct:format']),
      [
        { '@id': 'https://www.iana.org/assignments/media-types/text/csv', '@type': 'dct:MediaType' },
        { '@type': 'dct:MediaTypeOrExtent', 'rdfs:label': 'application/x-ndjson' },
        {
          '@id': 'https://www.iana.org/assignments/media-types/application/vnd.apache.parquet',
          '@type': 'dct:MediaType',
        },
      ],
    )
    assert.deepEqual(distributions[0]?.['dcat:byteSize'], { '@value': '1', '@type': 'xsd:nonNegativeInteger' })
    assert.deepEqual(distributions[0]?.['dcat:downloadURL'], { '@id': `${RELEASE_URL}/files/hed-outbreaks-3.csv.gz` })
  })

  test('several licences that apply together are one document', () => {
    const [described] = describeAsDcat(describeRelease({ licence: 'CC0-1.0 AND CC-BY-4.0' }))['@graph']
    const [distribution] = (described as typeof dataset)['dcat:distribution'] as Record<string, unknown>[]
    assert.deepEqual(distribution?.['dct:license'], {
      ...{ '@type': 'dct:LicenseDocument', 'dct:title': 'CC0-1.0 AND CC-BY-4.0' },
      'rdfs:seeAlso': ['CC0-1.0', 'CC-BY-4.0'].map((name) => ({ '@id': `https://spdx.org/licenses/${name}.html` })),
    })
  })
})

test('only identifiers of SPDX with a version, joined by AND, and addresses are taken for licences', () => {
  for (const text of ['Open data', 'CC0-1.0 OR CC-BY-4.0', 'see-file', 'CC0-1.0 AND mine', ''])
    assert.deepEqual(readLicences(text), [], text)
  assert.deepEqual(readLicences('CC-BY-SA-4.0'), [
    { name: 'CC-BY-SA-4.0', url: 'https://spdx.org/licenses/CC-BY-SA-4.0.html' },
  ])
})

test('the description for search engines has every field and nothing of a release', () => {
  const { dataset } = describeCatalogue([hedOutbreaks], 'https://api.test')
  assert.equal(dataset[0]?.variableMeasured.length, hedOutbreaks.fields.length)
  const text = JSON.stringify(dataset)
  assert.doesNotMatch(text, /"(version|datePublished|license|sha256|contentUrl|distribution|isBasedOn)"/)
})
