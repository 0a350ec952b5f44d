// Parsing of the binary COPY format of a real server, and errors for other input.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { readBinaryRows } from '../../../src/platform/postgres/copy-out.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'

const database = openApiDatabase(await createTestDatabase())
after(() => database.close())

test('2000 rows with arbitrary bytes are parsed into columns', async () => {
  const messages = await database.copyOut(sql`
    copy (select n::bigint, -n, decode(repeat('00ff0d0a', n), 'hex'), '' from generate_series(1, 2000) n order by n)
    to stdout (format binary)`)
  const rows = readBinaryRows(messages)
  assert.equal(rows.length, 2000)
  for (const [i, [big, small, raw, empty]] of rows.entries()) {
    assert.deepEqual([big?.readBigInt64BE(), small?.readInt32BE(), empty?.length], [BigInt(i + 1), -i - 1, 0])
    assert.ok(raw?.equals(Buffer.alloc(4 * (i + 1), Buffer.from('00ff0d0a', 'hex'))))
  }
})

test('an empty COPY gives no rows', async () => {
  assert.deepEqual(
    readBinaryRows(await database.copyOut(sql`copy (select 1 where false) to stdout (format binary)`)),
    [],
  )
})

test('text, a null and truncated input are errors', async () => {
  const copy = (query: ReturnType<typeof sql>) => database.copyOut(sql`copy (${query}) to stdout (format binary)`)
  const messages = await copy(sql`select 1, 'abc'`)
  const complete = Buffer.concat(messages)
  assert.deepEqual(readBinaryRows([complete]), readBinaryRows(messages))
  for (let length = 0; length < complete.length; length++)
    assert.throws(() => readBinaryRows([complete.subarray(0, length)]), Error, `${length} of ${complete.length} bytes`)
  assert.throws(() => readBinaryRows(messages.slice(0, -1)), /truncated/)
  assert.throws(() => readBinaryRows([...messages, ...messages]), /after its trailer/)
  assert.throws(() => readBinaryRows([]), /truncated/)
  assert.throws(() => readBinaryRows([Buffer.from('1\tabc\n')]), /not a binary COPY/)
  assert.throws(
    () => readBinaryRows([Buffer.from('a long line of text that is no copy of anything\n')]),
    /not a binary/,
  )
  const withNull = await copy(sql`select 1, null::text`)
  assert.throws(() => readBinaryRows(withNull), /is null/)
})
