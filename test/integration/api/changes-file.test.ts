// The changes between two releases as NDJSON: they bring a copy of one release up to date with another, byte for byte.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { before, test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { HOME, openRoutes, type Query, type Row } from '../../fixtures/routes.ts'
import { readResponse, startRequest } from '../../fixtures/streamed-response.ts'
import { wrapQueries } from '../../fixtures/wrap-queries.ts'
import { skipWithoutPython } from '../../oracle/python.ts'

const NDJSON = 'application/x-ndjson'
const CHANGES = `${HOME}/changes`
const RECORDS = 1500
const RELEASES = 5

/** Texts that a JSON library may write in another way than the service. */
const NOTES = ['Côte d’Ivoire', 'a "quoted" \\ text', ',"after":{"id":1}', '\u{1f9a0} / <b>', 'null}', '1.0']
const createRows = (release: number): Row[] =>
  Array.from({ length: RECORDS }, (_, i) => i)
    .filter((i) => (i + release) % 11 > 0)
    .map((i) => ({
      key: `k${i}`,
      event: i % 2 === 0 ? 'Even' : 'Odd',
      cases: i % 3 === 0 ? release : 1,
      note: NOTES[(i + (i % 7 === 0 ? release : 0)) % NOTES.length] ?? null,
      ...(i % 5 === 0 ? { latitude: 1e-7 * i, longitude: -17.25 } : {}),
      extra: i % 4 === 0 ? { small: 1e-9, large: 1e21, '': [release] } : {},
    }))
const reasons = { added: 'late_report', corrected: 'source_revised', events: { Even: { withdrawn: 'duplicate' } } }

const { control, wrapDatabase } = wrapQueries()
const routes = await openRoutes({ wrapDatabase })
let base: string
before(async () => {
  for (let release = 1; release < RELEASES; release++) await routes.publish(createRows(release), { reasons })
  const restored = new Set(createRows(2).map(({ key }) => key))
  const confirmedWithdrawn = createRows(RELEASES - 1).filter(({ key }) => !restored.has(key)).length
  await rollbackTo(routes.operator, hedOutbreaks, 2, 'Release 3 was wrong.', { confirmedWithdrawn })
  await routes.refresh()
  base = await routes.listen()
})

const urlOf = (query: Query) =>
  `${base}${CHANGES}?${new URLSearchParams(Object.entries(query).map(([k, v]): [string, string] => [k, String(v)]))}`
const read = (query: Query) => readResponse(urlOf(query), { accept: NDJSON })

/** As a client in any language does it: the text of a record by its id, from the bytes of the response. */
type Copy = Map<number, string>
const splitLines = (body: Buffer) => String(body).split('\n').slice(0, -1)
const readCopy = async (release: number): Promise<Copy> => {
  const { body } = await readResponse(`${base}${HOME}/outbreaks?release=${release}`, { accept: NDJSON })
  return new Map(splitLines(body).map((line) => [(JSON.parse(line) as { id: number }).id, line]))
}
const AFTER = ',"after":'
function applyLine(copy: Copy, line: string): void {
  const { id, change } = JSON.parse(line) as { id: number; change: string }
  if (change === 'withdrawn') copy.delete(id)
  else copy.set(id, line.slice(line.indexOf(AFTER) + AFTER.length, -1))
}

/** docs/verify-a-download.md */
function digestOf(copy: Copy): string {
  const records = [...copy].sort(([a], [b]) => a - b)
  const groups = Map.groupBy(records, ([id]) => Math.floor((id - 1) / 100))
  const digests = [...groups.values()].map((group) =>
    hash('sha256', group.map(([, text]) => `${text}\n`).join(''), 'buffer'),
  )
  return hash('sha256', Buffer.concat(digests))
}

test('the lines turn a copy of any release into any later one, whose digest agrees', async () => {
  for (let from = 1; from <= RELEASES; from++)
    for (let to = from; to <= RELEASES; to++) {
      const copy = await readCopy(from)
      assert.equal(digestOf(copy), routes.releases()[from - 1]?.digest)
      const { status, body } = await read({ from, to })
      assert.equal(status, 200)
      for (const line of splitLines(body)) applyLine(copy, line)
      assert.equal(digestOf(copy), routes.releases()[to - 1]?.digest, `${from} to ${to}`)
      assert.equal(copy.size, routes.releases()[to - 1]?.records)
    }
})

test('the programs in docs/verify-a-download.md do the same', { skip: skipWithoutPython }, async (t) => {
  const page = await readFile(path.resolve(import.meta.dirname, '../../../docs/verify-a-download.md'), 'utf8')
  const program = [...page.matchAll(/```python\n(.*?)```/gs)].map(([, code]) => code).join('')
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-copy-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  // The names of the page, with releases 1 and 4 of this test.
  const { body } = await readResponse(`${base}${HOME}/outbreaks?release=1`, { accept: NDJSON })
  await writeFile(path.join(directory, 'release-5.ndjson'), body)
  await writeFile(path.join(directory, 'changes.ndjson'), (await read({ from: 1, to: 4 })).body)
  const printed = execFileSync('python3', ['-c', program], { cwd: directory, encoding: 'utf8' })
  assert.deepEqual(
    printed.trim().split('\n'),
    [0, 3].map((index) => routes.releases()[index]?.digest),
  )
})

for (const [title, query] of [
  ['all changes', { from: 1, to: 4 }],
  ['to the newest release', { from: 2 }],
  ['no changes', { from: 3, to: 3 }],
  ['with a filter', { from: 1, to: 2, event: 'Even', cases_min: 2 }],
] as [string, Query][]) {
  test(`${title}: the changes of the JSON pages without before, and trailers that prove it`, async () => {
    const pages = await routes.walk(CHANGES, { ...query, num: 1000 })
    const expected = pages.map(({ before: _before, ...change }) => change)
    const { status, headers, trailers, body } = await read(query)
    assert.equal(status, 200, String(body))
    const lines = splitLines(body)
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      expected,
    )
    for (const line of lines)
      assert.match(line, /^\{"id":\d+,"change":"(added|corrected|withdrawn)","release":\d,"reason":"\w+","after":/)
    assert.equal(headers['content-type'], NDJSON)
    assert.equal(headers.vary, 'accept, accept-encoding')
    assert.equal(headers['outbreaks-release'], String(query['to'] ?? RELEASES))
    const name = `hed-outbreaks-${query['from']}-${query['to'] ?? RELEASES}-changes.ndjson`
    assert.equal(headers['content-disposition'], `attachment; filename="${name}"`)
    assert.deepEqual(trailers, {
      'outbreaks-records': String(expected.length),
      'content-digest': `sha-256=:${hash('sha256', body, 'base64')}:`,
    })
  })
}

test('JSON names Accept in Vary and stays the default', async () => {
  const { headers } = await routes.inject(CHANGES, { from: 1 }, { accept: '*/*' })
  assert.deepEqual(
    [headers['content-type'], headers['vary']],
    ['application/json; charset=utf-8', 'accept, accept-encoding'],
  )
})

for (const [query, parameter] of [
  [{ num: 10 }, 'num'],
  [{ page: 'x' }, 'page'],
  [{ bodies: 'false' }, 'bodies'],
  [{ changed_fields: 'true' }, 'changed_fields'],
  [{ to: 9 }, 'to'],
  [{ from: 3, to: 2 }, 'from'],
] as [Query, string][]) {
  test(`400 for ${JSON.stringify(query)}`, async () => {
    const { status, body } = await read({ from: 1, ...query })
    assert.deepEqual([status, (JSON.parse(String(body)) as { parameter: string }).parameter], [400, parameter])
  })
}

test('400 over HTTP/1.0', async () => {
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  socket.end(`GET ${CHANGES}?from=1 HTTP/1.0\r\naccept: ${NDJSON}\r\n\r\n`)
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  assert.match(String(Buffer.concat(parts)), /^HTTP\/1\.1 400 .*This format needs HTTP\/1\.1/s)
})

test('HEAD has the headers and no body', async () => {
  const { status, headers, body } = await readResponse(urlOf({ from: 1 }), { accept: NDJSON }, 'HEAD')
  assert.deepEqual([status, headers['content-type'], body.length], [200, NDJSON, 0])
})

test('an error after the headers breaks the response; an error that passes does not', async (t) => {
  t.after(() => void Object.assign(control, { queries: 0, fail: () => undefined }))
  Object.assign(control, { queries: 0, fail: (query: number) => (query > 4 ? new Error('planted') : undefined) })
  await assert.rejects(read({ from: 1, to: 4 }), /aborted/)
  const fail = (query: number) => (query === 5 ? new Problem('overloaded', 'planted') : undefined)
  Object.assign(control, { queries: 0, fail })
  assert.equal((await read({ from: 1, to: 4 })).status, 200)
  assert.ok(control.queries > 5)
})

test('another number of changes than the release states breaks the response', async () => {
  await routes.superuser.query('update release set added = added + 1 where number = 2')
  await routes.refresh()
  await assert.rejects(read({ from: 1, to: 2 }), /aborted/)
  await routes.superuser.query('update release set added = added - 1 where number = 2')
  await routes.refresh()
  assert.equal((await read({ from: 1, to: 2 })).status, 200)
})

test('records and changes share the limit of two files at a time', async (t) => {
  t.after(() => void (control.delayMs = 0))
  control.delayMs = 1000
  const running = await Promise.all([
    startRequest(urlOf({ from: 1, to: 4 }), { accept: NDJSON }),
    startRequest(`${base}${HOME}/outbreaks`, { accept: NDJSON }),
  ])
  const ended = Promise.all(running.map((response) => once(response.resume(), 'end')))
  const third = await read({ from: 1, to: 4 })
  assert.equal(third.status, 429)
  control.delayMs = 0
  await ended
})

// This test is the last because it prunes a release.
test('410 for a pruned release', async () => {
  await pruneReleases(routes.operator, hedOutbreaks, 3)
  await routes.refresh()
  const { status, body } = await read({ from: 1, to: 4 })
  assert.deepEqual([status, (JSON.parse(String(body)) as { code: string }).code], [410, 'release_pruned'])
})
