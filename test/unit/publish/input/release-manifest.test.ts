// Limits of release.json at their boundaries.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { OperatorError } from '../../../../src/platform/operator-error.ts'
import { readManifest } from '../../../../src/publish/input/release-manifest.ts'

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-manifest-'))
after(() => rm(directory, { recursive: true, force: true }))

async function read(events: readonly string[], more: object = {}) {
  const file = path.join(directory, 'release.json')
  const reasons = { events: Object.fromEntries(events.map((event) => [event, { added: 'new_report' }])) }
  await writeFile(file, JSON.stringify({ title: 'A test', licence: 'CC0-1.0', reasons, ...more }))
  return readManifest(file)
}
const manyEvents = (count: number) => Array.from({ length: count }, (_, i) => `event ${i}`)

test('10,000 events with reasons are accepted, 10,001 are not', async () => {
  assert.ok(await read(manyEvents(10_000)))
  await assert.rejects(read(manyEvents(10_001)), OperatorError)
})

test('an event name of 200 characters is accepted, one of 201 is not', async () => {
  assert.ok(await read(['\u{1f9a0}'.repeat(200)]))
  await assert.rejects(read(['x'.repeat(201)]), OperatorError)
})

test('a note may have line ends, but no other control character and no NUL', async () => {
  assert.ok(await read([], { note: 'one\ntwo' }))
  for (const note of ['a\0b', 'a\tb', 'a\u001b[2J']) await assert.rejects(read([], { note }), OperatorError)
})

test('as_of is a day that exists and has begun', async () => {
  const today = new Date().toISOString().slice(0, 10)
  for (const as_of of ['2024-02-29', '0001-01-01', today]) assert.equal((await read([], { as_of })).as_of, as_of)
  for (const as_of of ['2025-02-29', '2025-2-1', '0000-01-01', '2025-01-01T00:00:00Z', ''])
    await assert.rejects(read([], { as_of }), /as_of must be a date that exists, as YYYY-MM-DD\.$/)
  await assert.rejects(
    read([], { as_of: '9999-12-31' }),
    /as_of 9999-12-31 is in the future; today is .*leave as_of out/,
  )
})

test('a key that is there twice is rejected', async () => {
  const file = path.join(directory, 'repeated.json')
  await writeFile(file, '{"title":"One","licence":"CC0-1.0","title":"Two"}')
  await assert.rejects(readManifest(file), /repeated\.json contains the key "title" twice/)
})
