// The descriptions of every release of the sample, validated by the programs of their formats: mlcroissant also loads the records,
// frictionless compares every cell with the declared types and constraints. Each program rejects descriptions that are wrong.
// Only those of the first and the last release, unless DESCRIBE_LOAD=all. That also reads the CSV file of every release with
// mlcroissant and the NDJSON file with frictionless, which takes minutes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import type { describeAsCroissant } from '../../src/formats/croissant.ts'
import type { describeAsDataPackage } from '../../src/formats/data-package.ts'
import { exportRelease } from '../../src/publish/export/export-files.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { openDirectoryStore } from '../../src/storage/files/directory-store.ts'
import { skipWithoutValidators, VALIDATOR_PYTHON } from '../fixtures/describe/python.ts'
import { HOME, openRoutes } from '../fixtures/routes.ts'

interface Job {
  format: keyof typeof NAMES
  /** The path of the description. */
  description: string
  /** The directory with the files of the release. */
  files: string
  /** The record sets that mlcroissant loads, or the tables that frictionless validates. */
  load: string[]
}
interface Result {
  errors: string[]
  warnings: string[]
  loaded: Record<string, { records: number; cases?: number }>
}
type Path = readonly (string | number)[]
type Members = Record<string | number, unknown>
interface Distribution {
  'dcat:byteSize': { '@value': string }
  'spdx:checksum': { 'spdx:checksumValue': { '@value': string } }
}

const NAMES = { croissant: 'croissant.json', datapackage: 'datapackage.json', dcat: 'dcat.jsonld' } as const
const FORMATS = Object.keys(NAMES) as Job['format'][]
const PUBLISHED = [1, 2, 3, 4, 5, 6]
const isComplete = process.env['DESCRIBE_LOAD'] === 'all'
const RELEASES = isComplete ? PUBLISHED : [1, 6]
const root = path.resolve(import.meta.dirname, '../..')
const script = path.join(root, 'test/fixtures/describe/validate.py')

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-describe-'))
after(() => rm(directory, { recursive: true, force: true }))
const files = path.join(directory, 'files')
const results = new Map<Job, Result>()
const jobs = new Map<string, Job>()
const routes = await openRoutes()

/** One process validates everything: to start these programs takes seconds. */
function validate(list: readonly Job[]): void {
  const { stdout, stderr, status } = spawnSync(VALIDATOR_PYTHON as string, [script], {
    ...{ input: JSON.stringify(list), encoding: 'utf8', maxBuffer: 1 << 26, timeout: 1_200_000 },
    // Nothing is read from the network: the contexts and shapes are local, and so are the files.
    env: { ...process.env, HTTPS_PROXY: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9' },
  })
  assert.equal(status, 0, stderr)
  for (const [i, result] of (JSON.parse(stdout) as Result[]).entries()) results.set(list[i] as Job, result)
}

const resultOf = (name: string): Result =>
  results.get(jobs.get(name) ?? assert.fail(name)) ?? assert.fail(`${name} has no result`)

const readDescription = async (release: number, format: Job['format']): Promise<string> =>
  (await routes.inject(`${HOME}/releases/${release}/${NAMES[format]}`)).body

async function addJob(name: string, format: Job['format'], description: string, load: string[]): Promise<void> {
  const file = path.join(directory, `${jobs.size}-${NAMES[format]}`)
  await writeFile(file, description)
  jobs.set(name, { format, description: file, files, load })
}

const indexOf = (field: string): number => hedOutbreaks.fields.findIndex(({ name }) => name === field)
const statuses = hedOutbreaks.fields[indexOf('case_status')]?.choices ?? []
const CSV_FIELDS = ['resources', 0, 'schema', 'fields']
const CSV_DISTRIBUTION = ['@graph', 0, 'dcat:distribution', 0]

/** What is wrong, the reason that the program gives, and the member with its wrong value; undefined removes it. */
const CONTROLS: readonly (readonly [string, Job['format'], RegExp, Path, unknown])[] = [
  ['a wrong SHA-256', 'croissant', /not identical/, ['distribution', 0, 'sha256'], '0'.repeat(64)],
  ['a file without an address', 'croissant', /contentUrl/, ['distribution', 0, 'contentUrl'], undefined],
  [
    ...(['a text that is declared as an integer', 'croissant', /invalid literal/] as const),
    ...([['recordSet', 0, 'field', 1, 'dataType'], 'sc:Integer'] as const),
  ],
  [
    ...(['a field of a file that does not exist', 'croissant', /nothing\.csv/] as const),
    ...([['recordSet', 0, 'field', 1, 'source', 'fileObject', '@id'], 'nothing.csv'] as const),
  ],
  ['a wrong SHA-256', 'datapackage', /Hash Count/, ['resources', 0, 'hash'], `sha256:${'0'.repeat(64)}`],
  ['no files', 'datapackage', /resources/, ['resources'], undefined],
  [
    ...(['a boolean that is declared as an integer', 'datapackage', /Type Error.*date_inferred/] as const),
    ...([[...CSV_FIELDS, indexOf('date_inferred'), 'type'], 'integer'] as const),
  ],
  [
    ...(['a list of values that lacks one', 'datapackage', /Constraint Error.*case_status/] as const),
    ...([[...CSV_FIELDS, indexOf('case_status'), 'constraints', 'enum'], statuses.slice(1)] as const),
  ],
  [
    ...(['a SHA-256 that is too short', 'dcat', /checksumValue/] as const),
    ...([[...CSV_DISTRIBUTION, 'spdx:checksum', 'spdx:checksumValue', '@value'], 'abcd'] as const),
  ],
  ['no title', 'dcat', /title/, ['@graph', 0, 'dct:title'], undefined],
  ['a size that is a text', 'dcat', /byteSize/, [...CSV_DISTRIBUTION, 'dcat:byteSize'], 'large'],
]

/** The description with another value of a member, or without it. */
function changeMember(description: string, member: Path, value: unknown): string {
  const changed = JSON.parse(description) as Members
  const parent = member.slice(0, -1).reduce<Members>((members, key) => members[key] as Members, changed)
  parent[member.at(-1) as string] = value
  return JSON.stringify(changed)
}

before(async () => {
  await mkdir(files)
  const store = openDirectoryStore(files)
  for (const release of PUBLISHED) {
    await publishRelease(routes.operator, hedOutbreaks, path.join(root, 'sample/releases', String(release)))
    await exportRelease(routes.operator, store, hedOutbreaks, release)
  }
  await routes.refresh()
  if (skipWithoutValidators !== false) return
  for (const release of RELEASES)
    for (const format of FORMATS) {
      const isRead = release === 1 || isComplete
      const load = {
        croissant: release === 1 ? ['records-csv', 'records-ndjson', 'records-parquet'] : isRead ? ['records-csv'] : [],
        datapackage: isRead ? ['records-csv', 'records-ndjson'] : ['records-csv'],
        dcat: [],
      }
      await addJob(`${format} ${release}`, format, await readDescription(release, format), load[format])
    }
  for (const [title, format, , member, value] of CONTROLS) {
    const description = changeMember(await readDescription(1, format), member, value)
    await addJob(`${format}: ${title}`, format, description, ['records-csv'])
  }
  validate([...jobs.values()])
})

for (const release of RELEASES) {
  test(`release ${release}: the digests and sizes of all descriptions are those of the files`, async () => {
    const read = async (extension: string) => {
      const bytes = await readFile(path.join(files, `hed-outbreaks-${release}.${extension}`))
      return [bytes.length, hash('sha256', bytes)] as const
    }
    const expected = await Promise.all(['csv.gz', 'ndjson.gz', 'parquet'].map(read))
    const [croissant = '', datapackage = '', dcat = ''] = await Promise.all(
      FORMATS.map((format) => readDescription(release, format)),
    )
    const { distribution } = JSON.parse(croissant) as ReturnType<typeof describeAsCroissant>
    assert.deepEqual(
      distribution.map(({ contentSize, sha256 }) => [Number.parseInt(contentSize, 10), sha256]),
      expected,
    )
    const { resources } = JSON.parse(datapackage) as ReturnType<typeof describeAsDataPackage>
    assert.deepEqual(
      resources.map((file) => [file.bytes, file.hash.replace('sha256:', '')]),
      expected.slice(0, 2),
    )
    const { '@graph': graph } = JSON.parse(dcat) as { '@graph': { 'dcat:distribution': Distribution[] }[] }
    assert.deepEqual(
      graph[0]?.['dcat:distribution'].map((file) => [
        Number(file['dcat:byteSize']['@value']),
        file['spdx:checksum']['spdx:checksumValue']['@value'],
      ]),
      expected,
    )
  })

  for (const format of FORMATS)
    test(`release ${release}: ${format} has no error and no warning`, { skip: skipWithoutValidators }, (t) => {
      const { errors, warnings, loaded } = resultOf(`${format} ${release}`)
      assert.deepEqual([errors, warnings], [[], []])
      t.diagnostic(JSON.stringify(loaded))
    })

  test(`release ${release}: as many records, and as many cases, as the API has`, {
    skip: skipWithoutValidators,
  }, async (t) => {
    const { loaded: tables } = resultOf(`datapackage ${release}`)
    const { loaded } = resultOf(`croissant ${release}`)
    const records = await routes.walk(`${HOME}/outbreaks`, { release, num: 1000 })
    const cases = records.reduce((sum, record) => sum + Number(record['cases'] ?? 0), 0)
    assert.equal(tables['records-csv']?.records, records.length)
    for (const [table, read] of Object.entries(tables)) assert.equal(read.records, records.length, table)
    for (const [set, read] of Object.entries(loaded)) assert.deepEqual(read, { records: records.length, cases }, set)
    t.diagnostic(
      `${records.length} records, ${cases} cases; mlcroissant loaded ${Object.keys(loaded).join(', ') || 'none'}`,
    )
  })
}

test('mlcroissant loaded the records of all three files', { skip: skipWithoutValidators }, () => {
  assert.deepEqual(Object.keys(resultOf('croissant 1').loaded), ['records-csv', 'records-ndjson', 'records-parquet'])
})

for (const [title, format, reason] of CONTROLS)
  test(`control: ${format} with ${title} is refused`, { skip: skipWithoutValidators }, () => {
    const { errors } = resultOf(`${format}: ${title}`)
    assert.match(errors.join('\n'), reason)
  })
