// Releases stay the same when their dataset gets fields. Four releases and their files are written with one declaration; two
// optional fields are declared, one after the other: every earlier release reads as before, byte for byte.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  choice,
  type Dataset,
  defineDataset,
  type Field,
  faceted,
  optional,
  text,
} from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { exportRelease } from '../../../src/publish/export/export-files.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { previewRelease, publishRelease } from '../../../src/publish/publish.ts'
import { renewIndexes } from '../../../src/publish/rebuild-index.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { openDirectoryStore } from '../../../src/storage/files/directory-store.ts'
import { createTestDatabase } from '../../database.ts'
import { type Row, writeChanges, writeNdjson } from '../../fixtures/releases.ts'
import { HOME, openRoutes } from '../../fixtures/routes.ts'
import { KEPT_RELEASES, readResponses } from './responses.ts'
import { changedRows, firstRows, secondRows, thirdRows, withdrawnKeys } from './rows.ts'

const OUTBREAKS = `${HOME}/outbreaks`

const url = await createTestDatabase()
const operator = openDatabase({ url, role: 'outbreaks_operator' })
const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
after(() => Promise.all([operator.close(), rm(files, { recursive: true, force: true })]))

for (const input of [writeNdjson(firstRows), writeNdjson(secondRows), writeChanges(2, changedRows, withdrawnKeys)])
  await publishRelease(operator, hedOutbreaks, await input, { confirmedWithdrawn: 1 })
await rollbackTo(operator, hedOutbreaks, 2, 'A source withdrew its report.', { confirmedWithdrawn: 1 })
await pruneReleases(operator, hedOutbreaks, KEPT_RELEASES[0])
for (const release of KEPT_RELEASES) await exportRelease(operator, openDirectoryStore(files), hedOutbreaks, release)
const writtenFiles = await readdir(files)
const expectedResponses = await readResponses(url, hedOutbreaks)

/** The dataset with one more field after the field `previous`. */
function addField({ content, ...rest }: Dataset, previous: string, name: string, field: Omit<Field, 'name'>): Dataset {
  const fields = content.flatMap(({ name: existingName, ...existing }): [string, Omit<Field, 'name'>][] =>
    existingName === previous
      ? [
          [existingName, existing],
          [name, field],
        ]
      : [[existingName, existing]],
  )
  return defineDataset({ ...rest, content: Object.fromEntries(fields) })
}

/** Asserts that every earlier release has the same digest, responses and files, exported again from the database. */
async function assertUnchanged(dataset: Dataset): Promise<void> {
  assert.deepEqual(await readResponses(url, dataset), expectedResponses)
  const again = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-again-'))
  try {
    for (const release of KEPT_RELEASES) {
      // The store is empty, so each file is written and compared with its recorded digest.
      const written = await exportRelease(operator, openDirectoryStore(again), dataset, release)
      assert.ok(written.every((file) => file.written))
    }
    for (const name of writtenFiles)
      assert.ok((await readFile(path.join(again, name))).equals(await readFile(path.join(files, name))), name)
  } finally {
    await rm(again, { recursive: true })
  }
}

/** Computes the digest of a release from its records, as docs/verify-a-download.md describes. */
function digestOf(records: readonly Record<string, unknown>[]): string {
  const chunks = [...Map.groupBy(records, ({ id }) => Math.floor((Number(id) - 1) / 100)).entries()].sort(
    ([a], [b]) => a - b,
  )
  const digests = chunks.map(([, chunkRecords]) =>
    hash('sha256', chunkRecords.map((record) => `${JSON.stringify(record)}\n`).join(''), 'buffer'),
  )
  return hash('sha256', Buffer.concat(digests))
}

const onset = addField(
  hedOutbreaks,
  'event',
  'outbreak_phase',
  faceted(optional(choice('Phase of the outbreak.', ['early', 'late']))),
)
const cluster = addField(onset, 'extra', 'cluster_name', faceted(optional(text('Name of the cluster.'))))
const steps: { name: string; value: string; dataset: Dataset; before: Dataset }[] = [
  { name: 'outbreak_phase', value: 'late', dataset: onset, before: hedOutbreaks },
  { name: 'cluster_name', value: 'Market', dataset: cluster, before: onset },
]

for (const [i, { name, value, dataset, before }] of steps.entries()) {
  /** The latest release before the field was added, and its rows. */
  const last = 4 + i * 2
  const rows = i === 0 ? secondRows : thirdRows

  test(`${name}: the column index gets the column, and every earlier release reads as before`, async () => {
    assert.deepEqual(await renewIndexes(operator, [dataset]), [dataset.name])
    await assertUnchanged(dataset)
  })

  test(`${name}: publishing the same records with a null field publishes nothing`, async () => {
    const summary = await publishRelease(
      operator,
      dataset,
      await writeNdjson(rows.map((row) => ({ ...row, [name]: null }))),
      { confirmedWithdrawn: 200 },
    )
    assert.deepEqual([summary.release, summary.unchanged], [last, true])
  })

  test(`${name}: one value corrects one record, and the field is null in all others`, async () => {
    const changed = await writeChanges(last, [{ ...(rows[0] as Row), [name]: value }], [])
    const preview = await previewRelease(operator, dataset, changed)
    assert.deepEqual([preview.added, preview.corrected, preview.withdrawn], [0, 1, 0])
    assert.deepEqual(preview.corrections, [
      { id: 1, event: 'Cholera_Testland_2020', field: name, before: 'null', after: `"${value}"` },
    ])
    const { release, corrected } = await publishRelease(operator, dataset, changed)
    assert.deepEqual([release, corrected], [last + 1, 1])
    const routes = await openRoutes({ dataset, url })
    const records = await routes.walk(OUTBREAKS, { num: 50 })
    const names = dataset.fields.map((field) => field.name)
    for (const record of records) assert.deepEqual(Object.keys(record), names)
    assert.deepEqual(
      records.map((record) => record[name]),
      [value, ...records.slice(1).map(() => null)],
    )
    assert.equal(digestOf(records), routes.releases().at(-1)?.digest)
    // Chunks, single versions and files have the same records.
    const { text: whole } = await routes.get('/v1/hed-outbreaks/outbreaks', { num: 1000 })
    const { text: filtered } = await routes.get('/v1/hed-outbreaks/outbreaks', {
      num: 1000,
      date_to: '9999-01-01',
      release,
    })
    assert.deepEqual(JSON.parse(whole), records)
    assert.deepEqual(
      JSON.parse(filtered),
      records.filter((record) => record['date_high'] !== null || record['date_low'] !== null),
    )
    assert.deepEqual(JSON.parse((await routes.get(`${OUTBREAKS}/4`)).text), records[3])
    await exportRelease(operator, openDirectoryStore(files), dataset, release)
    const read = async (extension: string) =>
      gunzipSync(await readFile(path.join(files, `hed-outbreaks-${release}.${extension}`))).toString()
    const lines = (await read('ndjson.gz')).trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      records,
    )
    const [head = ''] = (await read('csv.gz')).split('\r\n')
    assert.deepEqual(head.split(','), names)
    // Only the one record changed; it has the field only after the change.
    const [change, ...more] = await routes.walk(`${HOME}/changes`, { from: last })
    assert.deepEqual([change?.['id'], more.length], [1, 0])
    assert.equal(Object.hasOwn(change?.['before'] as object, name), false)
    assert.equal(Reflect.get(change?.['after'] as object, name), value)
    // The lines of NDJSON would not bring a copy up to date: the text of every record changed.
    const refused = await routes.inject(`${HOME}/changes`, { from: last }, { accept: 'application/x-ndjson' })
    assert.deepEqual([refused.statusCode, refused.json<{ code: string }>().code], [400, 'fields_changed'])
    assert.equal(refused.headers['content-disposition'], undefined)
  })

  test(`${name}: a release without the field gives 400 and names the first release that has it`, async () => {
    const routes = await openRoutes({ dataset, url })
    const since = `Release 3 does not have the field ${name}. It was added in release ${last + 1}.`
    for (const [address, query, parameter] of [
      [OUTBREAKS, { fields: `id,${name}` }, 'fields'],
      ['/v1/hed-outbreaks/outbreaks', { fields: name }, 'fields'],
      [OUTBREAKS, { [name]: value }, name],
      [`${HOME}/coverage`, { by: name, interval: 'year' }, 'by'],
      [`${HOME}/facets`, { [name]: value }, name],
      [`${HOME}/citation`, { [name]: value }, name],
    ] as const) {
      const { detail } = await routes.assertProblem(
        address,
        { ...query, release: 3 },
        400,
        'invalid_parameter',
        parameter,
      )
      assert.equal(detail, since)
      assert.equal((await routes.inject(address, { ...query })).statusCode, 200)
    }
    const schemaOf = async (release: number) =>
      (JSON.parse((await routes.get(`${HOME}/schema`, { release })).text) as { required: string[] }).required
    assert.deepEqual([(await schemaOf(3)).includes(name), (await schemaOf(last + 1)).includes(name)], [false, true])
    const facetsOf = async (release: number) =>
      Object.keys(JSON.parse((await routes.get(`${HOME}/facets`, { release })).text) as object)
    assert.deepEqual([(await facetsOf(3)).includes(name), (await facetsOf(last + 1)).includes(name)], [false, true])
  })

  test(`${name}: the earlier program cannot publish, and a rollback uses the contract of its target`, async () => {
    const older = publishRelease(operator, before, await writeNdjson(rows))
    await assert.rejects(older, new RegExp(`not compatible with release ${last + 1}: ${name} was \\w+ and is removed`))
    const target = i === 0 ? 3 : 2
    const { release } = await rollbackTo(operator, dataset, target, 'Back to before the field.', {
      confirmedWithdrawn: 2,
    })
    assert.equal(release, last + 2)
    const routes = await openRoutes({ dataset, url })
    const contents = async (of: number) =>
      (await routes.walk(OUTBREAKS, { release: of })).map(({ revision: _r, last_release: _l, ...content }) => content)
    const expected = await contents(target)
    const hasTargetField = ([key]: [string, unknown]) => Object.hasOwn(expected[0] ?? {}, key)
    const restored = (await contents(release)).map((content) => {
      assert.equal(content[name], null)
      return Object.fromEntries(Object.entries(content).filter(hasTargetField))
    })
    assert.deepEqual(restored, expected)
  })

  test(`${name}: every earlier release still reads as before`, () => assertUnchanged(dataset))
}
