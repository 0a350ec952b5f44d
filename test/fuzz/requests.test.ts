// Thousands of bad requests of twelve classes against a spawned service on a real database: no crash, no hang, no 5xx, every
// response as documented, and no memory that stays. FUZZ_INPUTS sets their number; npm run verify:fuzz sends 500,000.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, startService } from '../../dev/service.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { LIVENESS_MS } from '../liveness.ts'
import { type Outcome, openRawConnection } from './requests/connection.ts'
import { createInputs, type FuzzContext, type FuzzInput } from './requests/inputs.ts'
import { createJudge, type Description } from './requests/judge.ts'

const INPUTS = Number(process.env['FUZZ_INPUTS'] ?? 20_000)
/** In flight at once, each on its own connection: more would measure the load shedding and not the parsing. */
const CONNECTIONS = 8
/** 700 MB. docs/performance.md states 633 MB as the highest figure of a node that answers; this has a margin for garbage. */
const MAX_RSS_MIB = 668
/** What Retry-After says. */
const RETRY_MS = 1000
/** Requests that were sent again because they took too long. None on a machine with free processors. */
const MAX_REPEATED_SHARE = 0.001
const CLASSES = 12

const description = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../docs/openapi.json'), 'utf8'),
) as Description & { paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>> }
const judge = createJudge(description)

interface Fault {
  fault: string
  input: string
}

/** Sends inputs over all connections and gives the faults, and the counts by class and status. */
async function attack(port: number, sequence: Iterator<FuzzInput>, inputs: number, hangMs = LIVENESS_MS) {
  const faults: Fault[] = []
  const counts: Record<string, Record<string, number>> = {}
  let [sent, repeated] = [0, 0]
  let slowest = { ms: 0, input: '' }
  const work = async () => {
    // An outcome later than this is a hang, whatever the machine does.
    const connection = openRawConnection(port, 2 * hangMs)
    while (sent < inputs && faults.length < 20) {
      sent += 1
      const input = sequence.next().value as FuzzInput
      let [outcome, ms] = await measure(connection, input)
      if (isUnavailable(outcome) || (outcome !== 'timeout' && ms > hangMs)) {
        // A late response or a documented 503 of a machine that stalls. Of a fault it is the answer again.
        repeated += 1
        if (isUnavailable(outcome)) await wait(RETRY_MS)
        ;[outcome, ms] = await measure(connection, input)
      }
      if (ms > slowest.ms) slowest = { ms: Math.round(ms), input: describe(input, outcome) }
      const status = outcome === null ? 'closed' : outcome === 'timeout' ? outcome : String(outcome.status)
      const byStatus = (counts[input.class] ??= {})
      byStatus[status] = (byStatus[status] ?? 0) + 1
      const fault = ms > hangMs ? 'hang' : judge(input, outcome)
      if (fault !== null) faults.push({ fault, input: describe(input, outcome) })
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  return { faults, counts, slowest, repeated }
}

async function measure(
  connection: ReturnType<typeof openRawConnection>,
  input: FuzzInput,
): Promise<[outcome: Outcome, ms: number]> {
  const started = performance.now()
  return [await connection.send(input), performance.now() - started]
}

const isUnavailable = (outcome: Outcome): boolean =>
  outcome !== null &&
  outcome !== 'timeout' &&
  outcome.status === 503 &&
  /"code":"(unavailable|overloaded)"/.test(outcome.body.toString('latin1'))

const describe = ({ class: name, method, target, headers, body }: FuzzInput, outcome: Outcome): string =>
  JSON.stringify([
    ...[name, method, target.slice(0, 300)],
    ...headers.filter(([header]) => !['authorization', 'host'].includes(header)).map(String),
    ...[name === 'token bodies' ? body?.length : body?.toString('latin1').slice(0, 300)],
    ...(outcome !== null && outcome !== 'timeout'
      ? [outcome.status, outcome.body.toString('latin1').slice(0, 200)]
      : []),
  ])

test(`${INPUTS} bad requests: no crash, no hang, no 5xx, every response as documented`, {
  timeout: 120_000 + INPUTS * 40,
}, async (t) => {
  const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-fuzz-'))
  after(() => rm(files, { recursive: true, force: true }))
  process.env['OUTBREAKS_FILES'] = files
  const settings = newSettings(await createTestDatabase())
  const credentials = await prepareDatabase(settings, path.resolve(import.meta.dirname, '../../sample/releases/1'))
  // The recipes of deploy/ set MALLOC_ARENA_MAX too.
  const service = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'error', MALLOC_ARENA_MAX: '2' })
  after(() => service.process.kill('SIGKILL'))
  const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  const read = async (target: string) => {
    const response = await fetch(service.baseUrl + target, { headers: { authorization: `Bearer ${token}` } })
    return (await response.json()) as { next_page: string }
  }
  const cursors = await Promise.all(
    ['outbreaks', 'events'].map(async (name) => (await read(`/v2/hed-outbreaks/${name}?num=1`)).next_page),
  )
  const context: FuzzContext = {
    host: new URL(service.baseUrl).host,
    token,
    clientId: credentials.client_id,
    clientSecret: credentials.client_secret,
    cursors,
    operations: listOperations(),
    file: '/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.csv.gz',
  }
  const port = Number(new URL(service.baseUrl).port)
  const sequence = createInputs(context)
  await attack(port, sequence, Math.min(INPUTS, 2000))
  const before = readRss(service.process.pid ?? 0)
  const started = performance.now()
  const { faults, counts, slowest, repeated } = await attack(port, sequence, INPUTS)
  const seconds = Math.round((performance.now() - started) / 100) / 10
  const rss = readRss(service.process.pid ?? 0)
  for (const [name, byStatus] of Object.entries(counts)) t.diagnostic(`${name}: ${JSON.stringify(byStatus)}`)
  t.diagnostic(
    `${seconds} s, slowest ${slowest.ms} ms (${slowest.input.slice(0, 150)}), memory ${before} MiB before and ${rss} MiB after`,
  )
  assert.deepEqual(faults, [])
  assert.ok(repeated <= MAX_REPEATED_SHARE * INPUTS, `${repeated} requests took too long`)
  assert.equal(Object.keys(counts).length, CLASSES)
  assert.equal(service.process.exitCode, null, service.output().slice(-2000))
  assert.doesNotMatch(service.output(), /uncaught|unhandled|internal_error/i)
  assert.equal((await read('/v2/hed-outbreaks/outbreaks?num=1')).next_page, cursors[0])
  assert.ok(rss < MAX_RSS_MIB, `${rss} MiB`)
})

function listOperations(): FuzzContext['operations'] {
  const examples: Record<string, string> = { id: '1', number: '1', name: 'hed-outbreaks-1.csv.gz' }
  return Object.entries(description.paths).flatMap(([template, { get }]) =>
    get === undefined
      ? []
      : [
          {
            path: template.replace(/\{(\w+)\}/g, (_, name: string) => examples[name] ?? '1'),
            parameters: (get.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name),
          },
        ],
  )
}

const readRss = (pid: number): number =>
  Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)

const problem = { type: '/problems/not_found', title: 'x', status: 404, detail: 'x', code: 'not_found' }
const sendProblem = (response: ServerResponse, body: object) =>
  response.writeHead(404, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body))

/** Servers with one fault each, which the judge must find. */
const planted: [title: string, fault: RegExp | null, answer: (response: ServerResponse) => unknown][] = [
  ['no fault', null, (response) => sendProblem(response, problem)],
  ['status 500', /^status 500$/, (response) => response.writeHead(500).end()],
  ['no response in time', /^hang$/, () => undefined],
  ['a closed connection', /^no response$/, (response) => response.destroy()],
  ['an error in HTML', /is not problem\+json/, (response) => response.writeHead(404).end('<h1>404</h1>')],
  ['another status in the body', /not well-formed/, (response) => sendProblem(response, { ...problem, status: 400 })],
  ['an unknown code', /not well-formed/, (response) => sendProblem(response, { ...problem, code: 'other' })],
]
for (const [title, expected, answer] of planted) {
  test(`control: a server with the fault "${title}" is judged by it`, async () => {
    const server = createServer((_, response) => answer(response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const headers: [string, string][] = [['host', `127.0.0.1:${port}`]]
    const input: FuzzInput = { class: 'paths', method: 'GET', target: '/v2/hed-outbreaks/outbreaks/0', headers }
    const { faults } = await attack(port, [input, input][Symbol.iterator](), 2, 1000)
    server.closeAllConnections()
    server.close()
    if (expected === null) assert.deepEqual(faults, [])
    else
      assert.ok(
        faults.some(({ fault }) => expected.test(fault)),
        JSON.stringify(faults),
      )
  })
}
