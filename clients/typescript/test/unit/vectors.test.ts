// The cases in clients/vectors: pure ones, and exchanges with the scripted server.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  type Answered,
  applyChanges,
  digest,
  NotComparable,
  Outbreaks,
  OutbreaksError,
  Walk,
} from '../../src/client.ts'
import type { ChangeCounts } from '../../src/copy.ts'
import { toError } from '../../src/errors.ts'
import { saveFile, updateCopy } from '../../src/node.ts'
import { decide } from '../../src/transport.ts'
import { bodyOf, readVectors, valueAt, vectors } from '../vectors.ts'

interface LineCase {
  about: string
  lines: string[]
  digest: string
  changes: string[]
  after: string[]
  error?: true
}

for (const { about, lines, digest: expected, error } of (readVectors('digest.json') as { cases: LineCase[] }).cases) {
  test(`digest: ${about}`, async () => {
    if (error) await assert.rejects(digest(lines), { name: 'Damaged' })
    else assert.equal(await digest(lines), expected)
  })
}

for (const { about, lines, changes, after: expected, digest: sum, error } of (
  readVectors('changes.json') as { cases: LineCase[] }
).cases) {
  test(`changes: ${about}`, async () => {
    const applied = Array.fromAsync(applyChanges(lines, changes))
    if (error) return assert.rejects(applied, { name: 'Damaged' })
    assert.deepEqual(await applied, expected)
    assert.equal(await digest(await applied), sum)
  })
}

interface RetryCase {
  status: number
  attempt: number
  renewed: boolean
  once?: boolean
  retry_after: string | null
  decision: 'stop' | 'renew' | { wait: number | [number, number] }
}

test('retry: every decision', () => {
  const { now, cases } = readVectors('retry.json') as { now: string; cases: RetryCase[] }
  for (const { decision, retry_after: retryAfter, ...outcome } of cases) {
    for (const random of [0, 0.5, 1]) {
      const decided = decide({ ...outcome, retryAfter }, random, Date.parse(now))
      const title = JSON.stringify({ ...outcome, retryAfter, random, decided })
      if (typeof decision === 'string') assert.equal(decided, decision, title)
      else if (typeof decision.wait === 'number') assert.equal(decided, decision.wait, title)
      else {
        const [low, high] = decision.wait
        assert.ok(typeof decided === 'number' && decided === low + random * (high - low), title)
      }
    }
  }
})

interface ExpectedError {
  class: string
  status?: number
  code: string
  parameter?: string
  request_id?: string
  retry_after?: number
  mixed?: string[]
  choices?: string[]
  message_has?: string[]
}

function assertError(error: unknown, expected: ExpectedError): void {
  assert.ok(error instanceof OutbreaksError, String(error))
  assert.equal(error.name, expected.class)
  assert.equal(error.code, expected.code)
  if (expected.status !== undefined) assert.equal(error.status, expected.status)
  if (expected.parameter !== undefined) assert.equal(error.parameter, expected.parameter)
  if (expected.request_id !== undefined) assert.equal(error.requestId, expected.request_id)
  if (expected.retry_after !== undefined)
    assert.equal((error as { retryAfter?: unknown }).retryAfter, expected.retry_after)
  for (const text of expected.message_has ?? []) assert.ok(error.message.includes(text), error.message)
  if (expected.mixed === undefined) return
  assert.ok(error instanceof NotComparable)
  assert.deepEqual(error.mixed, expected.mixed)
  assert.deepEqual(
    error.choices.map(({ query }) => query),
    expected.choices,
  )
}

test('errors: every status and body', () => {
  const { cases } = readVectors('errors.json') as {
    cases: { from: string; status: number; body: string | null; error: ExpectedError }[]
  }
  for (const { from, status, body, error } of cases)
    assertError(toError({ status, body, isTokenRequest: from === 'token' }), error)
})

interface Call {
  verb: string
  filters?: Record<string, unknown>
  release?: number
  cursor?: string
  as_of?: string
  id: number
  from: number
  to: number
  q: string
  format: string
  number: number | string
  have?: { answer: string; bytes?: number; extra?: string }
  copy: { answer: string; release: number }
  when: string
  name: string
  releases: number
  watch: string
  change: { state: 'paused' }
  after: number
  wait?: number
}
interface Expectation {
  ids?: number[]
  items?: Record<string, unknown>[]
  release?: number
  cursor?: string | null
  warnings?: string[]
  values?: Record<string, unknown>
  text?: string
  file?: string | null
  part_bytes?: number
  copy?: ({ answer: string; digest: string } & ChangeCounts) | null
  error?: ExpectedError
  ids_before_error?: number[]
}

let server: ChildProcess
let address = ''
let directory = ''
before(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-client-'))
  server = spawn(process.execPath, [path.join(vectors, 'server.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  address = line.toString().trim()
})
after(async () => {
  server.kill()
  await rm(directory, { recursive: true, force: true })
})

type Items = AsyncIterable<Record<string, unknown>>

/** The result of a call: items, an object, a text or a file. */
function callClient(client: Outbreaks, call: Call, target: string): { items?: Items; value?: Promise<unknown> } {
  // The cases have parameters that the types reject on purpose.
  const parameters = { ...call.filters, ...(call.release === undefined ? {} : { release: call.release }) } as never
  const { cursor } = call
  switch (call.verb) {
    case 'records':
      return { items: client.records(parameters, { cursor }) as unknown as Items }
    case 'events':
      return { items: client.events(parameters) as unknown as Items }
    case 'releases':
      return { items: client.releases() as unknown as Items }
    case 'changes':
      return { items: client.changes({ from: call.from, to: call.to }) as unknown as Items }
    case 'history':
      return { items: client.history(call.id) as unknown as Items }
    case 'records_file':
      return { items: parseLines(client.recordLines(parameters)) }
    case 'series':
    case 'sums':
    case 'vintages':
    case 'facets':
    case 'coverage':
      return { value: client[call.verb](parameters) }
    case 'search':
      return { value: client.search(call.q, parameters) }
    case 'release':
      return { value: client.release(call.number) }
    case 'cite':
      return { value: client.cite({ ...(parameters as object), format: call.format as 'bibtex' }) }
    case 'download':
      return { value: saveFile(client, call.format, target, parameters) }
    case 'verify':
      return { value: client.verify(call.release) }
    case 'update':
      return { value: updateCopy(client, target, { from: call.copy.release, to: call.to }) }
    case 'watch':
      return { value: client.watch(call.when, parameters, { name: call.name }) }
    case 'preview_watch':
      return { value: client.previewWatch(call.when, parameters, { releases: call.releases }) }
    case 'watches':
      return { items: readItems(client.watches()) }
    case 'change_watch':
      return { value: client.changeWatch(call.watch, call.change) }
    case 'delete_watch':
      return { value: client.deleteWatch(call.watch) }
    case 'notices':
      return { value: client.notices({ watch: call.watch, after: call.after, waitMs: (call.wait ?? 0) * 1000 }) }
    default:
      return assert.fail(`unknown verb ${call.verb}`)
  }
}

async function* readItems(items: Promise<readonly object[]>): AsyncGenerator<Record<string, unknown>> {
  for (const item of await items) yield { ...item }
}

async function* parseLines(lines: AsyncIterable<string>): AsyncGenerator<Record<string, unknown>> {
  for await (const line of lines) yield JSON.parse(line) as Record<string, unknown>
}

async function prepare({ verb, have, copy }: Call, target: string): Promise<void> {
  if (have !== undefined)
    await writeFile(`${target}.part`, [bodyOf(have.answer).subarray(0, have.bytes), have.extra ?? ''])
  if (verb === 'update') await writeFile(target, bodyOf(copy.answer))
}

function assertItems(items: readonly Record<string, unknown>[], expect: Expectation): void {
  if (expect.ids !== undefined)
    assert.deepEqual(
      items.map(({ id }) => id),
      expect.ids,
    )
  if (expect.items === undefined) return
  assert.equal(items.length, expect.items.length)
  for (const [index, item] of expect.items.entries()) assert.deepEqual({ ...items[index], ...item }, items[index])
}

function assertWalk(walk: unknown, expect: Expectation): void {
  if (!(walk instanceof Walk)) return
  if (expect.cursor !== undefined) assert.equal(walk.cursor, expect.cursor)
  if (expect.release !== undefined) assert.equal(walk.release, expect.release)
  if (expect.warnings !== undefined) assert.deepEqual(walk.warnings, expect.warnings)
  assert.equal(walk.done, expect.error === undefined)
}

async function assertFiles(call: Call, expect: Expectation, target: string): Promise<void> {
  if (expect.part_bytes !== undefined) assert.equal((await stat(`${target}.part`)).size, expect.part_bytes)
  if (expect.file === null) assert.ok(!existsSync(target), 'no file has its final name')
  else if (expect.file !== undefined) {
    assert.deepEqual(await readFile(target), bodyOf(expect.file))
    assert.ok(!existsSync(`${target}.part`))
  }
  if (expect.copy === undefined) return
  const copy = await readFile(target)
  assert.deepEqual(copy, bodyOf((expect.copy ?? call.copy).answer))
  if (expect.copy !== null) assert.equal(await digest(copy.toString().split('\n').slice(0, -1)), expect.copy.digest)
  assert.ok(!existsSync(`${target}.new`))
}

const { cases: exchanges } = readVectors('exchanges.json') as {
  cases: { name: string; needs?: 'trailers' | 'optional_by'; call: Call; expect: Expectation }[]
}
/** How requests are sent in Node, and elsewhere. */
const SENDERS = { 'node:http': undefined, fetch }

for (const [sender, send] of Object.entries(SENDERS)) {
  // At the same time, because most of them wait.
  describe(`exchanges by ${sender}`, { concurrency: 8 }, () => {
    for (const { name, needs, call, expect } of exchanges) {
      const skip = needs === 'trailers' && sender === 'fetch' ? 'fetch has no trailers' : false
      test(`exchange by ${sender}: ${name}`, { skip }, () => playCase(send, name, call, expect))
    }
  })
}

async function playCase(send: typeof fetch | undefined, name: string, call: Call, expect: Expectation): Promise<void> {
  const baseUrl = `${address}/cases/${name}`
  await fetch(baseUrl, { method: 'DELETE' })
  const root = new Outbreaks({ baseUrl, clientId: 'client', clientSecret: 'secret', fetch: send })
  const client = call.as_of === undefined ? root : root.asOf(call.as_of)
  const target = await mkdtemp(path.join(directory, 'case-')).then((folder) =>
    path.join(folder, call.verb === 'download' ? 'file.gz' : 'file'),
  )
  await prepare(call, target)
  const { items, value } = callClient(client, call, target)
  const received: Record<string, unknown>[] = []
  try {
    if (items !== undefined) for await (const item of items) received.push(item)
    const result = await value
    assert.equal(expect.error, undefined, 'the call must fail')
    assertItems(received, expect)
    if (expect.text !== undefined) assert.equal(result, expect.text)
    if (items === undefined && expect.release !== undefined)
      assert.equal((result as Answered<object>).release, expect.release)
    if (items === undefined && (expect.release !== undefined || expect.warnings !== undefined))
      assert.deepEqual((result as Answered<object>).warnings, expect.warnings ?? [])
    for (const [pointer, expected] of Object.entries(expect.values ?? {}))
      assert.equal(valueAt(result, pointer), expected)
    if (expect.copy) {
      const { added, corrected, withdrawn } = expect.copy
      assert.deepEqual(result, { added, corrected, withdrawn })
    }
  } catch (error) {
    if (expect.error === undefined || !(error instanceof OutbreaksError)) throw error
    assertError(error, expect.error)
    if (expect.ids_before_error !== undefined)
      assert.deepEqual(
        received.map(({ id }) => id),
        expect.ids_before_error,
      )
  }
  assertWalk(items, expect)
  await assertFiles(call, expect, target)
  const report = (await (await fetch(baseUrl)).json()) as { passed: boolean }
  assert.ok(report.passed, JSON.stringify(report, null, 1))
}
