// The files of a release have every record in every format and always the same bytes. Damaged files are written again.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, truncate, unlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import pg from 'pg'
import sql from 'sql-template-tag'
import type { FieldValue } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createParquetEncoder } from '../../../src/formats/parquet-encoder.ts'
import { createCsvEncoder } from '../../../src/formats/text-encoders.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { exportRelease } from '../../../src/publish/export/export-files.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { declaredFields } from '../../../src/storage/contract.ts'
import { openDirectoryStore } from '../../../src/storage/files/directory-store.ts'
import { createTestDatabase } from '../../database.ts'
import { readCsvFile, readNdjsonFile, readParquetFile, toAsyncBuffer } from '../../fixtures/read-files.ts'
import { type Row, writeNdjson } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

const NAMES = ['hed-outbreaks-1.csv.gz', 'hed-outbreaks-1.ndjson.gz', 'hed-outbreaks-1.parquet']
const rows: Row[] = [
  { key: 'plain' },
  {
    key: 'full',
    ...{ pathogen_taxon_id: 666, disease: 'Cholera', host: 'human', latitude: -12.5, longitude: 179.999999 },
    ...{ date_low: '1854-08-31', date_high: '1970-01-01', date_report: '2024-02-29', cases: 2_147_483_647, deaths: 0 },
    extra: { list: [1, 'two', null], text: 'a "b", c\r\nd', deep: { e: 1.5 } },
  },
  { key: 'quoted', note: 'She said "stop", twice.\r\nThen\nleft.' },
  { key: 'formula', note: '=1+1', location_granularity: 'locality', locality: '+x', admin_l1: '-y', admin_l2: '@z' },
  { key: 'foreign', note: 'Ünïcödé 北京 🦠 \u00a0', location_as_reported: ' with spaces ' },
  {
    key: 'number-like',
    note: '007',
    location_granularity: 'locality',
    locality: 'NA',
    admin_l1: 'null',
    admin_l2: 'true',
  },
]

async function openStore() {
  const url = await createTestDatabase()
  const operator = openDatabase({ url, role: 'outbreaks_operator', connections: 2 })
  const superuser = new pg.Client(url)
  await superuser.connect()
  const directory = await newDirectory()
  after(() => Promise.all([operator.close(), superuser.end()]))
  const exportTo = (target: string, release = 1) =>
    exportRelease(operator, openDirectoryStore(target), hedOutbreaks, release)
  return {
    operator,
    superuser,
    directory,
    exportTo,
    export: (release = 1) => exportTo(directory, release),
    publish: async (input: readonly Row[]) =>
      publishRelease(operator, hedOutbreaks, await writeNdjson(input), { confirmedWithdrawn: 1 }),
    read: (name: string) => readFile(path.join(directory, name)),
    readText: async (name: string) => gunzipSync(await readFile(path.join(directory, name))),
    recorded: () =>
      operator.query<{ name: string; release: number }>(
        sql`select name, release, media_type, records::integer, bytes::integer, encode(sha256, 'hex') as sha256
          from release_file order by release, name`,
      ),
  }
}

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
  after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

describe('the files of a release with difficult values', async () => {
  const store = await openStore()
  let bodies: string[]
  before(async () => {
    await store.publish(rows)
    await store.export()
    bodies = await readStoredRecords(store.operator, 1)
  })
  const records = () => bodies.map((body) => JSON.parse(body) as Record<string, unknown>)

  test('have the same values, types and nulls in every format as the API', async () => {
    const [csv, ndjson] = await Promise.all(NAMES.slice(0, 2).map(store.readText))
    assert.equal(String(ndjson), bodies.map((body) => `${body}\n`).join(''))
    assert.deepEqual(readNdjsonFile(ndjson as Buffer), records())
    assert.deepEqual(readCsvFile(hedOutbreaks, csv as Buffer), records())
    assert.deepEqual(await readParquetFile(hedOutbreaks, await store.read(NAMES[2] as string)), records())
  })

  test('are recorded with their size and SHA-256', async () => {
    const recorded = await store.recorded()
    const expected = await Promise.all(
      NAMES.map(async (name, i) => {
        const bytes = await store.read(name)
        const media_type = ['application/gzip', 'application/gzip', 'application/vnd.apache.parquet'][i]
        const fingerprint = { bytes: bytes.length, sha256: hash('sha256', bytes) }
        return { name, release: 1, media_type, records: rows.length, ...fingerprint }
      }),
    )
    assert.deepEqual(recorded, expected)
    assert.deepEqual((await readdir(store.directory)).sort(), NAMES)
  })

  test('CSV has a header of all fields in order, CRLF, quotes only where needed, and unchanged formulas', async () => {
    const lines = String(await store.readText(NAMES[0] as string)).split('\r\n')
    assert.equal(lines[0], hedOutbreaks.fields.map(({ name }) => name).join(','))
    assert.equal(lines.at(-1), '')
    assert.match(lines.find((line) => line.includes('=1+1')) ?? '', /,-y,@z,,\+x,.*,=1\+1,\{\},/)
    assert.ok(String(await store.readText(NAMES[0] as string)).includes(',"She said ""stop"", twice. Then left.",'))
  })

  test('Parquet has columns of the declared types, and null only where the declaration allows it', async () => {
    const { schema } = await parquetMetadataAsync(toAsyncBuffer(await store.read(NAMES[2] as string)))
    const described = Object.fromEntries(
      schema
        .slice(1)
        .map(({ name, type, converted_type, repetition_type }) => [
          name,
          [type, converted_type, repetition_type].filter(Boolean).join(' '),
        ]),
    )
    assert.deepEqual(
      Object.keys(described),
      hedOutbreaks.fields.map(({ name }) => name),
    )
    const expected = {
      ...{ id: 'INT64 REQUIRED', event: 'BYTE_ARRAY UTF8 REQUIRED', pathogen_taxon_id: 'INT32 OPTIONAL' },
      ...{ latitude: 'DOUBLE OPTIONAL', date_low: 'INT32 DATE OPTIONAL', composite: 'BOOLEAN REQUIRED' },
      ...{ cases: 'INT32 OPTIONAL', note: 'BYTE_ARRAY UTF8 OPTIONAL', extra: 'BYTE_ARRAY UTF8 REQUIRED' },
    }
    assert.deepEqual({ ...described, ...expected }, described)
  })

  test('have the same bytes in another directory', async () => {
    const elsewhere = await newDirectory()
    for (const { written } of await store.exportTo(elsewhere)) assert.ok(written)
    for (const name of NAMES) assert.deepEqual(await readFile(path.join(elsewhere, name)), await store.read(name))
    assert.equal((await store.recorded()).length, 3)
  })

  test('are not written again by a second export', async () => {
    const stored = await store.recorded()
    for (const { written } of await store.export()) assert.equal(written, false)
    assert.deepEqual(await store.recorded(), stored)
  })

  const damages: [title: string, damage: (file: string) => Promise<void>][] = [
    ['a file with a changed byte', async (file) => writeFile(file, (await readFile(file)).fill(0x20, 20, 21))],
    ['a truncated file', (file) => truncate(file, 100)],
    ['a deleted file', unlink],
    ['an empty file', (file) => truncate(file, 0)],
  ]
  for (const [title, damage] of damages) {
    for (const name of NAMES) {
      test(`${title} is written again, byte for byte: ${name}`, async () => {
        const original = await store.read(name)
        await damage(path.join(store.directory, name))
        const exported = await store.export()
        assert.deepEqual(
          exported.filter(({ written }) => written).map((file) => file.name),
          [name],
        )
        assert.deepEqual(await store.read(name), original)
      })
    }
  }

  test('a file whose bytes would differ from the recorded digest is rejected, and the existing file stays', async () => {
    const name = NAMES[0] as string
    const original = await store.read(name)
    await store.superuser.query(`update release_file set sha256 = sha256('x') where name = $1`, [name])
    await assert.rejects(
      store.export(),
      /other bytes than the published hed-outbreaks-1\.csv\.gz \(SHA-256 2d71.*Restore the file from a backup/,
    )
    assert.deepEqual(await store.read(name), original)
    assert.deepEqual((await readdir(store.directory)).sort(), NAMES)
    await store.superuser.query('update release_file set sha256 = $2 where name = $1', [
      name,
      Buffer.from(hash('sha256', original), 'hex'),
    ])
  })

  test('a second export at the same time is rejected', async () => {
    await store.superuser.query('begin')
    await store.superuser.query(`select pg_advisory_xact_lock(hashtextextended('export hed-outbreaks 1', 0))`)
    await assert.rejects(
      store.export(),
      new OperatorError('Another command is exporting release 1. Run this one again when it has finished.'),
    )
    await store.superuser.query('rollback')
  })

  test('an unknown release and a missing directory are operator errors', async () => {
    await assert.rejects(
      store.export(9),
      new OperatorError('Release 9 does not exist. Run outbreakctl release list to see all of them.'),
    )
    const nowhere = store.exportTo(path.join(store.directory, 'nowhere'))
    await assert.rejects(
      nowhere,
      (error) => error instanceof OperatorError && /could not be written: ENOENT/.test(error.message),
    )
  })
})

test('a release with a missing record is not exported, and no file remains', async () => {
  const store = await openStore()
  await store.publish(rows)
  await store.superuser.query('update release set records = records + 1')
  await assert.rejects(store.export(), /release 1 has 7 records, but 6 were read/)
  assert.deepEqual(await readdir(store.directory), [])
  assert.deepEqual(await store.recorded(), [])
})

test('a pruned release is not exported', async () => {
  const store = await openStore()
  await store.publish(rows)
  await store.superuser.query('update release set pruned_at = now()')
  await assert.rejects(
    store.export(),
    new OperatorError('Release 1 has been pruned: its records are deleted, so it cannot be exported.'),
  )
})

test('a release that is pruned during its export gives an error and leaves no file', async () => {
  const store = await openStore()
  await store.publish(rows)
  await store.publish(rows.slice(1))
  const files = openDirectoryStore(store.directory)
  let pruned: Promise<unknown> | undefined
  const exported = exportRelease(
    store.operator,
    {
      ...files,
      async create(name) {
        const draft = await files.create(name)
        const write: typeof draft.write = async (bytes) => {
          pruned ??= pruneReleases(store.operator, hedOutbreaks, 2)
          await pruned
          return draft.write(bytes)
        }
        return { ...draft, write }
      },
    },
    hedOutbreaks,
    1,
  )
  await assert.rejects(exported, /The records of release 1 have been deleted\. The oldest release you can read is 2/)
  assert.deepEqual(await readdir(store.directory), [])
  assert.deepEqual(await store.recorded(), [])
})

test('an earlier release is exported as it was published, and the nodes are notified', async () => {
  const store = await openStore()
  await store.publish([{ key: 'a', cases: 1 }, { key: 'b' }])
  await store.publish([{ key: 'a', cases: 2 }, { key: 'b' }, { key: 'c' }])
  const version = async () =>
    (await store.operator.query<{ version: string }>(sql`select version from watched_topic where topic = 'release'`))[0]
  const versionBefore = await version()
  await store.export(2)
  await store.export(1)
  assert.notDeepEqual(await version(), versionBefore)
  assert.deepEqual((await store.recorded()).map(({ release, name }) => [release, name]).slice(0, 2), [
    [1, 'hed-outbreaks-1.csv.gz'],
    [1, 'hed-outbreaks-1.ndjson.gz'],
  ])
  const cases = readNdjsonFile(await store.readText('hed-outbreaks-1.ndjson.gz')).map((record) => record['cases'])
  assert.deepEqual(cases, [1, null])
  assert.equal(readNdjsonFile(await store.readText('hed-outbreaks-2.ndjson.gz')).length, 3)
})

test('a release copies the blocks of ids in which nothing changed, and has the bytes of an export without earlier files', async () => {
  const store = await openStore()
  const publish = async (notes: Record<number, string>) => {
    const input = Object.entries(notes).map(([id, note]) => ({ id: Number(id), note }))
    await publishRelease(store.operator, hedOutbreaks, await writeNdjson(input), { confirmedWithdrawn: 2 })
  }
  const first = { 1: 'a', 2: 'b', 10_001: 'c', 10_002: 'd', 20_001: 'e', 30_001: 'f' }
  await publish(first)
  await publish({ ...first, 10_002: 'A longer text: later blocks move' })
  // One block loses a record, one ends and one begins.
  const third = { 1: 'a', 10_001: 'c', 10_002: 'A longer text: later blocks move', 20_001: 'e', 40_001: 'g' }
  await publish(third)
  await store.export(1)
  const elsewhere = await newDirectory()
  for (const release of [2, 3]) await store.exportTo(elsewhere, release)
  // Fails if a block is read in which nothing changed.
  await store.superuser.query(`set session_replication_role = replica`)
  await store.superuser.query(`update hed_outbreak_chunk set deflated = '\\x00' where slot >= 400 and slot < 800`)
  for (const release of [2, 3]) {
    await store.export(release)
    for (const format of ['csv.gz', 'ndjson.gz', 'parquet']) {
      const name = `hed-outbreaks-${release}.${format}`
      assert.ok((await store.read(name)).equals(await readFile(path.join(elsewhere, name))), name)
    }
  }
  const ids = (await readParquetFile(hedOutbreaks, await store.read('hed-outbreaks-3.parquet'))).map(({ id }) => id)
  assert.deepEqual(ids, [1, 10_001, 10_002, 20_001, 40_001])

  // Copied damage would get a valid digest.
  await publish({ ...third, 1: 'x' })
  const damaged = path.join(store.directory, 'hed-outbreaks-3.ndjson.gz')
  await writeFile(damaged, (await readFile(damaged)).fill(0, 40, 41))
  await assert.rejects(store.export(4), /a chunk is damaged/)
})

const fields = declaredFields(hedOutbreaks)

test('a file without records has a header (CSV) or a schema (Parquet)', async () => {
  const csv = createCsvEncoder(fields)
  assert.equal(String(csv.add([])) + String(csv.end()), `${hedOutbreaks.fields.map(({ name }) => name).join(',')}\r\n`)
  const parquet = createParquetEncoder(fields, hedOutbreaks.name)
  const bytes = Buffer.concat([parquet.add([]), parquet.end()])
  assert.deepEqual(await parquetReadObjects({ file: toAsyncBuffer(bytes) }), [])
  assert.equal((await parquetMetadataAsync(toAsyncBuffer(bytes))).schema.length, hedOutbreaks.fields.length + 1)
})

test('Parquet has row groups of a fixed size for any batch size, and the encoder gives the bytes of each group', async () => {
  const records = Array.from({ length: 21_000 }, (_, i) => ({
    body: '',
    record: {},
    values: hedOutbreaks.fields.map(({ kind, nullable }): FieldValue => {
      if (nullable && i % 3 === 0) return null
      const values: Partial<Record<typeof kind, FieldValue>> = { identifier: i + 1, integer: i, number: i / 8 }
      return (
        values[kind] ?? { boolean: i % 2 === 0, date: '2001-02-03', object: {} }[kind as 'date'] ?? `text ${i % 50}`
      )
    }),
  }))
  const encode = (batch: number) => {
    const encoder = createParquetEncoder(fields, hedOutbreaks.name)
    const parts: Uint8Array[] = []
    for (let i = 0; i < records.length; i += batch) parts.push(encoder.add(records.slice(i, i + batch)))
    return { parts, bytes: Buffer.concat([...parts, encoder.end()]) }
  }
  const { parts, bytes } = encode(2000)
  const metadata = await parquetMetadataAsync(toAsyncBuffer(bytes))
  assert.deepEqual(
    metadata.row_groups.map((group) => group.num_rows),
    [10_000n, 10_000n, 1000n],
  )
  assert.equal(parts.filter((part) => part.length > 1000).length, 2)
  assert.ok(encode(21_000).bytes.equals(bytes))
  const read = await parquetReadObjects({ file: toAsyncBuffer(bytes), columns: ['id', 'cases', 'date_low'] })
  assert.equal(read.length, 21_000)
  for (const [i, { id, cases, date_low }] of read.entries()) {
    assert.equal(id, BigInt(i + 1))
    assert.equal(cases ?? null, i % 3 === 0 ? null : i)
    assert.deepEqual(date_low ?? null, i % 3 === 0 ? null : new Date('2001-02-03'))
  }
})

test('a file in the directory that was never recorded is replaced', async () => {
  const store = await openStore()
  await store.publish(rows)
  await writeFile(path.join(store.directory, NAMES[0] as string), 'left by an export that was killed')
  const exported = await store.export()
  assert.deepEqual(
    exported.map(({ written }) => written),
    [true, true, true],
  )
  assert.equal(hash('sha256', await store.read(NAMES[0] as string)), exported[0]?.sha256)
})
