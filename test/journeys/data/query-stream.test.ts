// A large query as one file from a spawned service: all records in every format, other requests are served at the same time, clients that
// read slowly keep no one from it, and a shutdown breaks the response instead of ending it early.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  startService,
} from '../../../dev/service.ts'
import { writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { readResponse, startRequest } from '../../fixtures/streamed-response.ts'

/** About 12 MB of NDJSON, more than the buffers of a connection. */
const RECORDS = 10_000
const QUERY = '?count_kind=new&count_kind=cumulative'
const TYPES = [
  'text/csv',
  'application/x-ndjson',
  'application/geo+json',
  'application/vnd.apache.parquet',
  'application/vnd.apache.arrow.stream',
]

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-stream-'))
after(() => rm(directory, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())
let credentials: Credentials
const slowClients: Credentials[] = []
let service: Service
before(async () => {
  await writeSynthRelease({ records: RECORDS, seed: 1, release: 1 }, path.join(directory, 'release'))
  credentials = await prepareDatabase(settings, path.join(directory, 'release'))
  for (const name of ['Slow 1', 'Slow 2'])
    slowClients.push(await outbreakctl<Credentials>(settings, 'client', 'create', '--name', name))
  service = await startService(settings)
})
after(() => service.process.kill('SIGKILL'))

const authorize = async (client = credentials) => ({
  authorization: `Bearer ${await obtainToken(client, `${service.baseUrl}/oauth/token`, service.baseUrl)}`,
})
const url = (query = '') => `${service.baseUrl}/v2/hed-outbreaks/outbreaks${query}`

for (const accept of TYPES) {
  test(`${accept}: all matching records, while other requests are served`, async (t) => {
    const headers = await authorize()
    const { headers: counted } = await readResponse(url(`${QUERY}&num=1&count=exact`), headers)
    const startedAt = performance.now()
    const ended = new AbortController()
    let [served, slowest] = [0, 0]
    const others = (async () => {
      while (!ended.signal.aborted) {
        const sentAt = performance.now()
        const { status } = await readResponse(url('?num=10'), headers)
        assert.equal(status, 200)
        slowest = Math.max(slowest, performance.now() - sentAt)
        served++
        await wait(20)
      }
    })()
    const { status, trailers, body } = await readResponse(url(QUERY), { ...headers, accept })
    const ms = Math.round(performance.now() - startedAt)
    ended.abort()
    await others
    assert.deepEqual([status, trailers['outbreaks-records']], [200, counted['outbreaks-count']])
    assert.ok(served > 0)
    t.diagnostic(`${trailers['outbreaks-records']} records, ${body.length} bytes, ${ms} ms`)
    t.diagnostic(`${served} other requests, the slowest ${Math.round(slowest)} ms`)
  })
}

/** A connection that reads 4 KB every 100 ms of a query as a file. Resolves with the status when it has begun. */
async function readSlowly(client: Credentials) {
  const { authorization } = await authorize(client)
  const { hostname, port, pathname, search } = new URL(url(QUERY))
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: ${authorization}\r\naccept: text/csv\r\n\r\n`,
  )
  const begun = Promise.withResolvers<string>()
  socket.once('readable', () => {
    const timer = setInterval(() => {
      const part: Buffer | null = socket.read(4096) ?? socket.read()
      begun.resolve(String(part).split('\r\n', 1)[0] ?? '')
    }, 100)
    socket.once('close', () => clearInterval(timer))
  })
  socket.once('error', begun.reject)
  return { socket, statusLine: await begun.promise }
}

test('clients that read four files slowly do not keep another client from its file', async () => {
  const readers = await Promise.all([...slowClients, ...slowClients].map(readSlowly))
  assert.deepEqual(new Set(readers.map(({ statusLine }) => statusLine)), new Set(['HTTP/1.1 200 OK']))
  const [first] = slowClients
  assert.ok(first)
  assert.equal((await readResponse(url(QUERY), { ...(await authorize(first)), accept: 'text/csv' })).status, 429)
  const other = await readResponse(url(QUERY), { ...(await authorize()), accept: 'text/csv' })
  assert.equal(other.status, 200)
  assert.ok(Number(other.trailers['outbreaks-records']) > 0)
  for (const { socket } of readers) {
    assert.equal(socket.readyState, 'open', 'a slow reader keeps its response')
    socket.destroy()
  }
})

test('a shutdown during the response waits for its end', async () => {
  const response = await startRequest(url(), { ...(await authorize()), accept: 'application/x-ndjson' })
  assert.equal(response.statusCode, 200)
  response.pause()
  service.process.kill('SIGTERM')
  let lines = 0
  for await (const part of response) {
    lines += String(part).split('\n').length - 1
    // Slower than the service, so that the shutdown comes first.
    await wait(10)
  }
  assert.equal(response.trailers['outbreaks-records'], String(lines))
  assert.equal(await service.exited, 0)
})
