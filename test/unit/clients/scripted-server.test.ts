// The scripted server of the client tests plays every case as written, notices a request that differs from the script, and
// its answers have the shapes of docs/openapi.json.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Compile } from 'typebox/schema'
import type { Answer, Step } from '../../../clients/vectors/server.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as unknown

interface Case {
  name: string
  call: { verb: string }
  script: Step[]
  expect: { error?: { class: string; status: number; code: string } }
}

const { cases } = read('clients/vectors/exchanges.json') as { cases: Case[] }
const answers = read('clients/vectors/answers.json') as Record<string, Answer>
const findAnswer = ({ answer }: Step): Answer => {
  const found = typeof answer === 'string' ? answers[answer] : answer
  assert.ok(found, `${String(answer)} is in answers.json`)
  return found
}

let server: ChildProcess
let address = ''
before(async () => {
  server = spawn(process.execPath, [path.join(root, 'clients/vectors/server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  address = line.toString().trim()
})
after(() => server.kill())

interface Received {
  status: number
  headers: Record<string, unknown>
  trailers: Record<string, unknown>
  body: Buffer
}

/** Null if no complete response arrived. */
function send(method: string, url: string, headers: Record<string, string>, body?: string): Promise<Received | null> {
  return new Promise((resolve) => {
    const outgoing = request(url, { method, headers, agent: false, timeout: 5000 }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => resolve(null))
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          trailers: incoming.trailers,
          body: Buffer.concat(chunks),
        }),
      )
    })
    outgoing.on('error', () => resolve(null)).on('timeout', () => outgoing.destroy())
    outgoing.end(body)
  })
}

/** Sends what the step expects. */
function sendStep(step: Step, base: string): Promise<Received | null> {
  const [method = '', target = ''] = step.request.split(' ')
  if (method === 'POST') {
    const body = { client_id: 'client', client_secret: 'secret', audience: base, grant_type: 'client_credentials' }
    return send(method, base + target, { 'content-type': 'application/json' }, JSON.stringify(body))
  }
  const begin = step.resume_at ?? step.resume_at_most ?? 0
  const tag = findAnswer(step).headers['etag']
  const range = begin === 0 ? {} : { range: `bytes=${begin}-`, ...(tag === undefined ? {} : { 'if-range': tag }) }
  return send(method, base + target, { authorization: `Bearer ${step.token ?? 'token-1'}`, ...step.headers, ...range })
}

const getReport = async (name: string, method = 'GET') => {
  const response = await fetch(`${address}/cases/${name}`, { method })
  return (await response.json()) as { mismatches: string[]; remaining: number; passed: boolean }
}

for (const { name, script } of cases) {
  test(`the server plays ${name}`, async () => {
    const base = `${address}/cases/${name}`
    for (const step of script) {
      if (step.not_before !== undefined) await wait(step.not_before * 1000)
      const received = await sendStep(step, base)
      const expected = findAnswer(step)
      assert.equal(received === null, step.fault?.cut !== undefined, `${step.request} is complete or cut as written`)
      if (received === null) continue
      const isPartial =
        step.ranges !== false && expected.status === 200 && (step.resume_at ?? step.resume_at_most ?? 0) > 0
      assert.equal(received.status, isPartial ? 206 : expected.status)
      assert.equal(received.headers['content-type'], expected.headers['content-type'])
      assert.deepEqual({ ...received.trailers }, expected.trailers ?? {})
      if (isPartial) assert.match(String(received.headers['content-range']), /^bytes \d+-\d+\/\d+$/)
    }
    const report = await getReport(name)
    assert.deepEqual(report, { ...report, mismatches: [], remaining: 0, passed: true })
    assert.equal((await getReport(name, 'DELETE')).remaining, script.length)
  })
}

test('a request that differs from the script is answered with 418 and reported', async () => {
  const base = `${address}/cases/download-resume-middle`
  const [token, release, file] = cases.find(({ name }) => name === 'download-resume-middle')?.script ?? []
  assert.ok(token && release && file)
  const differing: [string, Step][] = [
    ['query', { ...release, request: `${release.request}?page=x` }],
    ['path', { ...release, request: 'GET /v2/hed-outbreaks/releases/5' }],
    ['authorization', { ...release, token: 'token-2' }],
    ['method', { ...release, request: release.request.replace('GET', 'DELETE') }],
  ]
  for (const [word, step] of differing) {
    await getReport('download-resume-middle', 'DELETE')
    await sendStep(token, base)
    assert.equal((await sendStep(step, base))?.status, 418)
    const report = await getReport('download-resume-middle')
    assert.equal(report.passed, false)
    assert.match(report.mismatches.join(), new RegExp(word))
  }
  await getReport('download-resume-middle', 'DELETE')
  await sendStep(token, base)
  await sendStep(release, base)
  assert.equal((await sendStep({ ...file, resume_at: 999 }, base))?.status, 418)
  assert.match((await getReport('download-resume-middle')).mismatches.join(), /byte 1000 was expected/)
  assert.equal((await sendStep(file, base))?.status, 418, 'the script has ended')
})

test('a request before its time is reported', async () => {
  const [token, limited, again] = cases.find(({ name }) => name === 'retry-429-with-retry-after')?.script ?? []
  assert.ok(token && limited && again)
  const base = `${address}/cases/retry-429-with-retry-after`
  for (const step of [token, limited, again]) await sendStep(step, base)
  assert.match((await getReport('retry-429-with-retry-after')).mismatches.join(), /waited/)
})

type Schema = Record<string, unknown>
interface Document {
  components: Schema
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }>>
}
const document = read('docs/openapi.json') as Document

function findSchema(method: string, target: string, status: number, mediaType: string): Schema {
  const [pathname = ''] = target.split('?')
  const template = Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .find((candidate) => new RegExp(`^${candidate.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname))
  const content = document.paths[template ?? '']?.[method.toLowerCase()]?.responses[String(status)]?.content
  const found = content?.[mediaType] ?? content?.['*/*']
  assert.ok(found, `${method} ${target} has an answer ${status} with ${mediaType} in docs/openapi.json`)
  return found.schema
}

/** Answers that a proxy gives, or that are more general than one operation. */
const NOT_OF_THE_SERVICE = new Set(['text/html'])

test('the answers have the shapes of docs/openapi.json', () => {
  let checked = 0
  for (const { name, script } of cases) {
    for (const step of script) {
      const [method = '', target = ''] = step.request.split(' ')
      const answer = findAnswer(step)
      const mediaType = answer.headers['content-type']?.split(';')[0] ?? ''
      if (NOT_OF_THE_SERVICE.has(mediaType)) continue
      const schema = findSchema(method, target, answer.status, mediaType)
      if (!/[+/]json$/.test(mediaType)) continue
      const body = { ...(JSON.parse(answer.body) as object), ...step.answer_members }
      const validator = Compile({ ...schema, components: document.components })
      assert.ok(
        validator.Check(body),
        `${name}: ${step.request} ${JSON.stringify(validator.Errors(body)).slice(0, 500)}`,
      )
      checked += 1
    }
  }
  assert.ok(checked > 200)
})

test('an answer of another shape fails the check', () => {
  const schema = findSchema('GET', '/v2/hed-outbreaks/outbreaks', 200, 'application/json')
  const validator = Compile({ ...schema, components: document.components })
  const page = JSON.parse(answers['records-page-1']?.body ?? '') as { data: Record<string, unknown>[] }
  assert.ok(validator.Check(page))
  const [{ event: _, ...record } = {}] = page.data
  assert.ok(!validator.Check({ ...page, data: [record] }))
  assert.ok(!validator.Check({ ...page, has_more: 'yes' }))
})

test('the expected errors have the code and status of the last answer', () => {
  const { classes } = read('clients/vectors/errors.json') as { classes: string[] }
  for (const { name, script, expect } of cases) {
    const last = script.at(-1)
    assert.ok(last)
    if (expect.error === undefined) continue
    assert.ok(classes.includes(expect.error.class), name)
    const answer = findAnswer(last)
    if (answer.status < 400 || expect.error.status === 0) continue
    assert.equal(expect.error.status, answer.status, name)
    if (answer.headers['content-type'] !== 'text/html') assert.ok(answer.body.includes(`"${expect.error.code}"`), name)
  }
})
