// How publishing changes the tables of a dataset, in the operator's role.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { inputFields } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { type Row, writeCsv, writeDangling, writeNdjson, writeText } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'

async function openStore() {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  after(() => database.close())
  return {
    database,
    /** Small releases withdraw large shares. Without a number, this confirms whatever the release withdraws. */
    publish: async (rows: readonly Row[], write = writeNdjson, confirmedWithdrawn?: number) => {
      const directory = await write(rows)
      const attempt = publishRelease(
        database,
        hedOutbreaks,
        directory,
        confirmedWithdrawn === undefined ? {} : { confirmedWithdrawn },
      )
      if (confirmedWithdrawn !== undefined) return attempt
      return attempt.catch((error: unknown) => {
        const count = /--confirm-withdrawn (\d+)/.exec(String(error))?.[1]
        if (count === undefined) throw error
        return publishRelease(database, hedOutbreaks, directory, { confirmedWithdrawn: Number(count) })
      })
    },
    read: (release: number) => readStoredRecords(database, release),
    count: async (table: 'release' | 'hed_outbreak_version' | 'hed_outbreak_key') =>
      Number((await database.query<{ n: string }>(sql`select count(*) as n from ${sql([`"${table}"`])}`))[0]?.n),
  }
}
const parse = (bodies: string[]) => bodies.map((body) => JSON.parse(body) as Record<string, unknown>)
const counts = ({
  release,
  records,
  added,
  corrected,
  withdrawn,
  unchanged,
}: Awaited<ReturnType<typeof publishRelease>>) => ({ release, records, added, corrected, withdrawn, unchanged })

test('added, corrected, withdrawn and unchanged records are distinguished, and earlier releases do not change', async () => {
  const { publish, read } = await openStore()
  const first = await publish([
    { key: 'a', cases: 1 },
    { key: 'b', cases: 2 },
    { key: 'c', cases: 3 },
  ])
  assert.deepEqual(counts(first), { release: 1, records: 3, added: 3, corrected: 0, withdrawn: 0, unchanged: false })
  const before = await read(1)

  const second = await publish([
    { key: 'a', cases: 1 },
    { key: 'b', cases: 20 },
    { key: 'd', cases: 4 },
  ])
  assert.deepEqual(counts(second), { release: 2, records: 3, added: 1, corrected: 1, withdrawn: 1, unchanged: false })
  assert.deepEqual(await read(1), before)
  assert.deepEqual(
    parse(await read(2)).map(({ id, cases, revision, first_release, last_release }) => ({
      id,
      cases,
      revision,
      first_release,
      last_release,
    })),
    [
      { id: 1, cases: 1, revision: 0, first_release: 1, last_release: 1 },
      { id: 2, cases: 20, revision: 1, first_release: 1, last_release: 2 },
      { id: 4, cases: 4, revision: 0, first_release: 2, last_release: 2 },
    ],
  )
})

test('a record that returns keeps its id and first release; an id is never assigned to another key', async () => {
  const { publish, read } = await openStore()
  await publish([{ key: 'a' }, { key: 'b' }])
  await publish([{ key: 'a' }])
  await publish([{ key: 'a' }, { key: 'c' }])
  const back = await publish([{ key: 'c' }, { key: 'b' }, { key: 'a' }])
  assert.deepEqual(counts(back), { release: 4, records: 3, added: 1, corrected: 0, withdrawn: 0, unchanged: false })
  assert.deepEqual(
    parse(await read(4)).map(({ id, revision, first_release, last_release }) => [
      id,
      revision,
      first_release,
      last_release,
    ]),
    [
      [1, 0, 1, 1],
      [2, 1, 1, 4],
      [3, 0, 3, 3],
    ],
  )
})

test('publishing the same records again publishes nothing', async () => {
  const { publish, count } = await openStore()
  await publish([{ key: 'a' }, { key: 'b' }])
  const again = await publish([{ key: 'b' }, { key: 'a' }])
  assert.deepEqual(counts(again), { release: 1, records: 2, added: 0, corrected: 0, withdrawn: 0, unchanged: true })
  assert.equal(await count('release'), 1)
  assert.equal(await count('hed_outbreak_version'), 2)
})

test('CSV and NDJSON of the same records give the same bytes', async () => {
  const rows: Row[] = [
    {
      key: 'a',
      note: 'with "quotes", commas and \\ a backslash',
      cases: 0,
      latitude: -12.5,
      longitude: 0,
      extra: { x: [1, 'é'] },
    },
    {
      key: 'b',
      location_granularity: 'locality',
      locality: '武汉',
      date_low: '2020-02-29',
      source_url: 'https://example.org/a?b=c',
      host: 'human',
    },
  ]
  const [csv, ndjson] = [await openStore(), await openStore()]
  await csv.publish(rows, writeCsv)
  await ndjson.publish(rows)
  assert.deepEqual(await csv.read(1), await ndjson.read(1))
  const [a] = parse(await csv.read(1))
  assert.equal(a?.['note'], rows[0]?.['note'])
  assert.deepEqual(a?.['extra'], rows[0]?.['extra'])
})

test('rows may have ids instead of keys, and new keys get ids after the highest id', async () => {
  const { publish, read } = await openStore()
  await publish([{ id: 7, cases: 1 }, { id: 8 }])
  await publish([{ key: 'b' }, { id: 7, cases: 2 }, { id: 8 }])
  assert.deepEqual(
    parse(await read(2)).map(({ id, revision }) => [id, revision]),
    [
      [7, 1],
      [8, 0],
      [9, 0],
    ],
  )
})

test('an input with errors publishes nothing and names file, line and column of each error', async () => {
  const { publish, count } = await openStore()
  await publish([{ key: 'a' }])
  await assert.rejects(
    publish(
      [{ key: 'b' }, { key: 'c', cases: -1 }, { key: 'd', date_low: '2021-02-29', country_code: 'QQ' }],
      writeCsv,
    ),
    (error) => {
      assert(error instanceof OperatorError)
      assert.match(error.message, /records\.csv:3 cases: is below 0/)
      assert.match(error.message, /records\.csv:4 date_low: must be a date that exists/)
      assert.match(error.message, /records\.csv:4 country_code: must be a code of ISO 3166-1/)
      return true
    },
  )
  assert.equal(await count('release'), 1)
  assert.equal(await count('hed_outbreak_key'), 1)
})

const header = ['key', ...inputFields(hedOutbreaks).map((field) => field.name)].join(',')
const invalidInputs: [title: string, write: () => Promise<string>, message: RegExp][] = [
  [
    'a key that occurs twice',
    () => writeNdjson([{ key: 'a' }, { key: 'b' }, { key: 'a', cases: 2 }]),
    /records\.ndjson:3 key: is the same record as records\.ndjson:1$/,
  ],
  [
    'an id that occurs twice',
    () => writeNdjson([{ id: 5 }, { id: 6 }, { id: 5, cases: 2 }]),
    /records\.ndjson:3: is record 5, which an earlier row already contains$/,
  ],
  [
    'new records named by id and by key',
    () => writeNdjson([{ id: 5 }, { key: 'a' }]),
    /Some new records have an id and others have a key/,
  ],
  ['a file that cannot be opened', () => writeDangling('records.csv'), /records\.csv:0: cannot be read \(ENOENT\)/],
  [
    'an error in a file called timeout',
    () => writeText('timeout.ndjson', '{'),
    /timeout\.ndjson:1: is not a JSON object/,
  ],
  ['an empty input', () => writeCsv([]), /no records/],
  ['a line that is not JSON', () => writeText('records.ndjson', '{"key":'), /records\.ndjson:1: is not a JSON object/],
  ['a ragged CSV', () => writeText('records.csv', `${header}\n${'x,'.repeat(3)}\n`), /records\.csv:2: has 4 cells/],
  ['a column that is missing', () => writeText('records.csv', 'key,event\n'), /records\.csv:1 pathogen: is missing/],
  ['an unknown column', () => writeText('records.csv', `${header},colour\n`), /records\.csv:1 colour: is not a field/],
  ['a column that occurs twice', () => writeText('records.csv', `${header},event\n`), /records\.csv:1 event: .* twice/],
  [
    'bytes that are not UTF-8',
    () => writeText('records.csv', Buffer.from([0x6b, 0xff, 0x0a])),
    /records\.csv:0: is not valid UTF-8/,
  ],
  ['an unclosed quote', () => writeText('records.csv', `${header}\na,"b\n`), /records\.csv:/],
  ['a directory without records', () => writeText('notes.txt', ''), /contains no \.csv/],
  ['a directory that does not exist', async () => '/nowhere/at/all', /cannot|not a directory/],
]
for (const [title, write, message] of invalidInputs) {
  test(`${title} is rejected with an operator error`, async () => {
    const { database } = await openStore()
    await assert.rejects(publishRelease(database, hedOutbreaks, await write()), (error) => {
      assert(error instanceof OperatorError, String(error))
      assert.match(error.message, message)
      return true
    })
  })
}

test('while one command publishes, another is rejected', async () => {
  const { database, count } = await openStore()
  const [first, second] = await Promise.all([writeNdjson([{ key: 'a' }]), writeNdjson([{ key: 'b' }])])
  await database.transaction(async (client) => {
    // The first statement of a publisher.
    await client.query(sql`select lock_dataset(${hedOutbreaks.name})`)
    await assert.rejects(publishRelease(database, hedOutbreaks, first), /Another command is publishing/)
  })
  assert.equal((await publishRelease(database, hedOutbreaks, second)).release, 1)
  assert.equal(await count('release'), 1)
})

test('event names are distinct and sorted by code point', async () => {
  const { database, publish } = await openStore()
  await publish(['b', 'B', 'a', 'é', 'z', 'b'].map((event, i) => ({ key: String(i), event })))
  const events = await database.query<{ event: string; body: string }>(sql`
    select event, body from hed_outbreak_event order by event`)
  assert.deepEqual(
    events.map(({ event, body }) => [event, (JSON.parse(body) as { records: number }).records]),
    [
      ['B', 1],
      ['a', 1],
      ['b', 2],
      ['z', 1],
      ['é', 1],
    ],
  )
})

test('a release that withdraws more than 5 % of the records is rejected until their number is confirmed', async () => {
  const { publish, count } = await openStore()
  const rows = Array.from({ length: 100 }, (_, i) => ({ key: `k${i}` }))
  await publish(rows)
  assert.equal((await publish(rows.slice(5), writeNdjson, 0)).withdrawn, 5)
  for (const confirmedWithdrawn of [0, 5, 7]) {
    await assert.rejects(
      publish(rows.slice(11), writeNdjson, confirmedWithdrawn),
      /withdraw 6 of 95 .* --confirm-withdrawn 6\.$/,
    )
  }
  assert.equal(await count('release'), 2)
  assert.equal((await publish(rows.slice(11), writeNdjson, 6)).withdrawn, 6)
})

test('as_of is the day of publication by default, never falls, and no record is later', async () => {
  const { database } = await openStore()
  const publish = async (row: Row, as_of?: string) =>
    publishRelease(database, hedOutbreaks, await writeNdjson([row], as_of === undefined ? {} : { as_of }))
  await publish({ key: 'a', cases: 1 }, '2025-06-01')
  await assert.rejects(
    publish({ key: 'a', cases: 2 }, '2025-05-31'),
    /as_of is 2025-05-31, but release 1 is already as of 2025-06-01\. Give that day or a later one, or leave as_of out/,
  )
  await assert.rejects(
    publish({ key: 'a', cases: 2, date_report: '2025-06-02' }, '2025-06-01'),
    /date_report: is after 2025-06-01, the day of the data/,
  )
  await publish({ key: 'a', cases: 2 }, '2025-06-01')
  await publish({ key: 'a', cases: 3 })
  const rows = await database.query<{ as_of: string; day: string }>(
    sql`select as_of::text, (published_at at time zone 'UTC')::date::text as day from release order by number`,
  )
  assert.deepEqual(
    rows.map((row) => row.as_of),
    ['2025-06-01', '2025-06-01', rows[2]?.day],
  )
})
