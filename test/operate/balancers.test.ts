// Two nodes behind HAProxy, nginx and Caddy, with the configurations of deploy/: kill -9, rolling restarts, a frozen node, a noisy
// client and a lost database while clients read. No client sees an error of the proxy, or a wrong byte. For whole runs:
// BALANCER_RECORDS=100000 NOISY_SECONDS=60 RESTART_ROUNDS=20 RESTART_REQUESTS=50000.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Agent, request } from 'node:https'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import type { Credentials, Service } from '../../dev/service.ts'
import {
  createDirectory,
  launchProgram,
  type Program,
  waitUntil,
  withoutPrograms,
} from '../fixtures/operate/program.ts'
import { openSlowLink } from '../fixtures/operate/slow-link.ts'
import { createLocalCertificate, TLS_PROXIES } from '../fixtures/operate/tls-proxies.ts'
import { dearQuestions, publishSyntheticData, type SyntheticData } from '../fixtures/security/synthetic-node.ts'

const RECORDS = Number(process.env['BALANCER_RECORDS'] || 10_000)
const NOISY_SECONDS = Number(process.env['NOISY_SECONDS'] || 5)
const RESTART_ROUNDS = Number(process.env['RESTART_ROUNDS'] || 1)
const RESTART_REQUESTS = Number(process.env['RESTART_REQUESTS'] || 500)
const DRAIN_SECONDS = 2
/** Concurrent requests of a client on a node. */
const CONCURRENCY = 8
const FROZEN_MS = 6000
/** Less than one node allows, because the other one may be gone. */
const READERS = 6
const DATASET = '/v2/hed-outbreaks'

let data: SyntheticData
before(async () => {
  data = await publishSyntheticData(RECORDS)
})
after(() => data.stop())

for (const { name, program, passesTrailers, repeatsTokens, asksReady, configure } of TLS_PROXIES)
  describe(`two nodes behind ${name}`, { skip: withoutPrograms(program, 'openssl'), concurrency: false }, () => {
    const directory = createDirectory()
    const nodes: Service[] = []
    let nodePorts: [number, number] = [0, 0]
    let baseUrl = ''
    let proxy: Program | undefined
    let client: Client
    let others: Credentials
    let token = ''

    const start = async (number: number, overrides: Record<string, string> = {}) => {
      nodes[number] = await data.startNode({
        OUTBREAKS_PORT: String(nodePorts[number]),
        OUTBREAKS_BASE_URL: baseUrl,
        OUTBREAKS_DRAIN_SECONDS: String(DRAIN_SECONDS),
        OUTBREAKS_CLIENT_CONCURRENCY: String(CONCURRENCY),
        OUTBREAKS_INDEX: directory,
        ...overrides,
      })
    }
    const ready = async () => (await client.send('GET', '/ready')).status === 200

    before(async () => {
      const pem = createLocalCertificate(directory)
      const https = await findFreePort()
      nodePorts = [await findFreePort(), await findFreePort()]
      baseUrl = `https://localhost:${https}`
      await Promise.all([start(0), start(1)])
      const { args, env = {} } = configure(directory, { https, http: await findFreePort(), nodes: nodePorts }, pem)
      proxy = await launchProgram(program, args, { port: https, env })
      client = createClient(baseUrl, readFileSync(pem.crt, 'utf8'))
      await waitUntil('the balancer answers', ready)
      others = await data.createClient(name)
      token = await client.obtainToken(others)
    })
    after(async () => {
      client.close()
      for (const { process } of nodes) process.kill('SIGKILL')
      await proxy?.stop()
    })

    /** Without filters, and with. Each address is answered with the same bytes every time. */
    const addressOf = (i: number) =>
      `${DATASET}/outbreaks?release=1&num=${1 + (i % 40)}${asksReady && i % 2 === 0 ? '&count_kind=new' : ''}`

    /** Reads pages, and compares each with the first answer, until `work` has ended. */
    async function readWhile(work: (count: () => number) => Promise<void>) {
      const expected = new Map<string, string>()
      const reading = { isRunning: true }
      let [requests, slowestMs] = [0, 0]
      const bad: string[] = []
      const readers = Array.from({ length: READERS }, async (_, reader) => {
        for (let i = reader; reading.isRunning; i++) {
          const address = addressOf(i)
          const startedAt = performance.now()
          const { status, body } = await client.read(address, token)
          slowestMs = Math.max(slowestMs, performance.now() - startedAt)
          requests += 1
          if (status !== 200) bad.push(`${status} ${body.slice(0, 200)}`)
          else if ((expected.get(address) ?? body) !== body) bad.push(`other bytes: ${address}`)
          else expected.set(address, body)
        }
      })
      try {
        await work(() => requests)
      } finally {
        reading.isRunning = false
        await Promise.all(readers)
      }
      assert.deepEqual(bad.slice(0, 5), [], `${bad.length} of ${requests}`)
      assert.ok(requests > 100, `only ${requests} requests`)
      return { requests, slowestMs }
    }

    test('kill -9 of a node, and its restart', async (t) => {
      const { requests, slowestMs } = await readWhile(async () => {
        await wait(500)
        nodes[0]?.process.kill('SIGKILL')
        await wait(1500)
        await start(0)
        await wait(1500)
      })
      t.diagnostic(`${requests} requests, the slowest ${Math.round(slowestMs)} ms`)
    })

    test('rolling restarts: each node drains, starts and is ready before the next one drains', async (t) => {
      const { requests, slowestMs } = await readWhile(async (count) => {
        for (let round = 0; round < RESTART_ROUNDS || count() < RESTART_REQUESTS; round++)
          for (const number of [0, 1]) {
            await nodes[number]?.stop()
            await start(number)
          }
      })
      t.diagnostic(`0 of ${requests} requests failed, the slowest took ${Math.round(slowestMs)} ms`)
    })

    test('a download that takes longer than draining is not cut off', async () => {
      const download = client.send('GET', `${DATASET}/outbreaks`, {
        headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
        pauseMs: (DRAIN_SECONDS + 3) * 1000,
      })
      await wait(500)
      // Both, so that the node that sends it is one of them. One lives at any time.
      for (const number of [0, 1]) {
        await nodes[number]?.stop()
        await start(number)
      }
      const { status, body } = await download
      assert.equal(status, 200)
      assert.equal(body.trim().split('\n').length, RECORDS)
    })

    test('a client with the dearest requests, at its allowed concurrency, takes nothing from others', async (t) => {
      const noisy = createClient(baseUrl, client.ca, 2 * CONCURRENCY)
      after(noisy.close)
      const noisyToken = await noisy.obtainToken(await data.createClient('Noisy'))
      const kinds = Object.values(dearQuestions)
      const statuses = new Map<number, number>()
      const until = performance.now() + NOISY_SECONDS * 1000
      const probes = new Map<string, number>()
      let i = Math.floor(Math.random() * 1000)
      const noise = Array.from({ length: 2 * CONCURRENCY }, async () => {
        while (performance.now() < until) {
          i += 1
          const question = kinds[i % kinds.length]?.(i)
          const { status } = await noisy.read(question?.path ?? '/', noisyToken, question?.headers)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      })
      const probe = async (address: string) => {
        while (performance.now() < until) {
          const { status, body } = await client.read(address, token)
          const key = `${address} ${status}${status === 200 ? '' : ` ${body.slice(0, 200)}`}`
          probes.set(key, (probes.get(key) ?? 0) + 1)
          await wait(50)
        }
      }
      const addresses = ['/ready', `${DATASET}/outbreaks?release=1&num=100`, '/v2/whoami']
      await Promise.all([...noise, ...addresses.map(probe)])
      t.diagnostic(`noisy: ${JSON.stringify(Object.fromEntries(statuses))}`)
      t.diagnostic(`others: ${JSON.stringify(Object.fromEntries(probes))}`)
      assert.deepEqual([...probes.keys()].sort(), addresses.map((address) => `${address} 200`).sort())
      for (const status of [0, 500, 502, 504]) assert.ok(!statuses.has(status), `the noisy client got ${status}`)
    })

    test('a node that hangs until it is killed', async (t) => {
      const { requests, slowestMs } = await readWhile(async () => {
        await wait(500)
        nodes[1]?.process.kill('SIGSTOP')
        await wait(FROZEN_MS)
        nodes[1]?.process.kill('SIGKILL')
        await start(1)
      })
      t.diagnostic(`${requests} requests, the slowest ${Math.round(slowestMs)} ms`)
    })

    test('a query as one file arrives complete, with its trailers', { skip: !passesTrailers }, async () => {
      const { status, trailers, body } = await client.read(`${DATASET}/outbreaks?count_kind=new`, token, {
        ...{ accept: 'application/x-ndjson', te: 'trailers' },
      })
      assert.equal(status, 200, body.slice(0, 200))
      assert.equal(trailers['outbreaks-records'], String(body.trim().split('\n').length))
    })

    test('every response has Strict-Transport-Security', async () => {
      for (const address of ['/ready', '/nothing', `${DATASET}/outbreaks`])
        assert.match(String((await client.send('GET', address)).headers['strict-transport-security']), /max-age/)
    })

    test('without the database, nodes still answer what they can', async () => {
      const link = await openSlowLink(data.databaseUrl, Number.POSITIVE_INFINITY)
      for (const number of [0, 1]) {
        await nodes[number]?.stop()
        await start(number, { DATABASE_URL: link.url })
      }
      await waitUntil('the balancer answers', ready)
      await link.close()
      const reasons = await waitUntil('no node is ready', async () => {
        const { status, body } = await client.send('GET', '/ready')
        return status === 503 && (JSON.parse(body) as { reasons?: string[] }).reasons
      })
      assert.ok(reasons.includes('database'))
      // Long enough for a balancer to notice it too.
      await wait(3000)
      assert.equal((await client.read('/v2/whoami', token)).status, 200)
      assert.notEqual(await client.obtainToken(others), '')
      const page = await client.read(`${DATASET}/outbreaks?num=777`, token)
      const { request_id } = assertUnavailable(page) as { request_id?: string }
      assert.ok(request_id, 'the response of a node has an id')
    })

    test('with no node left the balancer answers with a problem, and with 200 when one is back', async () => {
      for (const node of nodes) {
        node.process.kill('SIGKILL')
        await node.exited
        // Before the balancer has noticed. A client that wants a token sends a body, which not every balancer can send again.
        for (const response of await Promise.all(Array.from({ length: READERS }, () => client.requestToken(others))))
          if (response.status !== 200) assertUnavailable(response)
      }
      for (const seconds of [0, 3]) {
        await wait(seconds * 1000)
        const answers = [client.read(`${DATASET}/outbreaks`, token), client.requestToken(others)]
        for (const response of await Promise.all(answers)) {
          assertUnavailable(response)
          assert.match(String(response.headers['strict-transport-security']), /max-age/)
        }
      }
      await start(0)
      await waitUntil('it answers again', ready)
    })

    test('a request that could change something twice is sent once', async () => {
      for (const node of nodes) {
        node.process.kill('SIGKILL')
        await node.exited
      }
      // As a node that is killed when it has read a request.
      const sent: string[] = []
      const killed = nodePorts.map((port) =>
        createServer((incoming, response) => {
          if (incoming.method === 'GET') return response.end('{}')
          sent.push(incoming.url ?? '')
          incoming.socket.destroy()
        }).listen(port, '127.0.0.1'),
      )
      // HAProxy closes the connection, if it used that to the node before.
      const post = (address: string) =>
        client
          .send('POST', address, { headers: { 'content-type': 'application/json' }, body: '{}' })
          .then(assertUnavailable, (error: NodeJS.ErrnoException) => assert.equal(error.code, 'ECONNRESET'))
      try {
        await waitUntil('the balancer uses them', ready)
        await post(`${DATASET}/watches`)
        assert.deepEqual(sent, [`${DATASET}/watches`])
        await post('/oauth/token')
        assert.ok(repeatsTokens ? sent.length > 2 : sent.length === 2, String(sent))
      } finally {
        for (const server of killed) {
          server.close()
          server.closeAllConnections()
        }
      }
    })
  })

function assertUnavailable({ status, headers, body }: Answer): unknown {
  assert.ok([502, 503, 504].includes(status), `${status} ${body.slice(0, 200)}`)
  assert.match(String(headers['content-type']), /^application\/problem\+json/)
  assert.match(String(headers['retry-after']), /^\d+$/)
  const problem = JSON.parse(body) as { code: string; status: number }
  assert.equal(problem.code, 'unavailable')
  assert.equal(problem.status, status)
  return problem
}

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  trailers: NodeJS.Dict<string>
  body: string
}

interface SendOptions {
  headers?: Record<string, string>
  body?: string
  /** Reads nothing for so long after the headers. */
  pauseMs?: number
}

type Client = ReturnType<typeof createClient>

function createClient(baseUrl: string, ca: string, maxSockets = READERS + 3) {
  const agent = new Agent({ keepAlive: true, ca, maxSockets })
  const send = (method: string, address: string, { headers = {}, body, pauseMs = 0 }: SendOptions = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const outgoing = request(baseUrl + address, { agent, method, headers, timeout: 30_000 }, async (incoming) => {
        try {
          await wait(pauseMs)
          const chunks = await Array.fromAsync(incoming.setEncoding('utf8') as AsyncIterable<string>)
          const { statusCode: status = 0, headers: received, trailers } = incoming
          resolve({ status, headers: received, trailers, body: chunks.join('') })
        } catch (error) {
          reject(error)
        }
      })
      outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error('no response')))
      outgoing.end(body)
    })
  const requestToken = ({ client_id, client_secret }: Credentials) =>
    send('POST', '/oauth/token', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id, client_secret, audience: baseUrl, grant_type: 'client_credentials' }),
    })
  return {
    ca,
    send,
    /** Status 0 for a connection that was lost. */
    read: (address: string, token: string, headers: Record<string, string> = {}): Promise<Answer> =>
      send('GET', address, { headers: { authorization: `Bearer ${token}`, ...headers } }).catch((error: Error) => ({
        ...{ status: 0, headers: {}, trailers: {}, body: error.message },
      })),
    requestToken,
    /** Waits until the nodes know a new client. */
    obtainToken: (credentials: Credentials): Promise<string> =>
      waitUntil('a token', async () => {
        const { body } = await requestToken(credentials)
        return (JSON.parse(body) as { access_token?: string }).access_token
      }),
    close: () => agent.destroy(),
  }
}
