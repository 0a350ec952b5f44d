// Two nodes behind HAProxy and behind nginx, with the configurations of deploy/: kill -9, draining and a frozen node while clients
// read. No client sees an error or a wrong byte.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import { type Credentials, newSettings, prepareDatabase, type Service, startService } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { createDirectory, startProgram, waitUntil, withoutPrograms, writeIn } from '../fixtures/operate/program.ts'

const deploy = path.resolve(import.meta.dirname, '../../deploy')
const sample = path.resolve(import.meta.dirname, '../../sample/releases/1')
const DRAIN_SECONDS = 2
/** A request waits at most this long for a node that hangs. */
const FROZEN_MS = 8000
const READERS = 8

interface Balancer {
  readonly name: string
  readonly program: string
  /** nginx does since version 1.27.2. */
  readonly passesTrailers: boolean
  /** The file in deploy/ with the ports of this test; returns the arguments of the program. */
  configure(directory: string, port: number, nodes: readonly number[], pem: { crt: string; key: string }): string[]
}

const BALANCERS: Balancer[] = [
  {
    ...{ name: 'HAProxy', program: 'haproxy', passesTrailers: true },
    configure(directory, port, [first, second], { crt, key }) {
      const certificate = writeIn(directory, 'outbreaks.pem', readFileSync(crt, 'utf8') + readFileSync(key, 'utf8'))
      const text = readFileSync(path.join(deploy, 'haproxy.cfg'), 'utf8')
        .replace('    bind :80\n', '')
        .replace('bind :443', `bind 127.0.0.1:${port}`)
        .replace('/etc/haproxy/outbreaks.pem', certificate)
        .replace('node1:8080', `127.0.0.1:${first}`)
        .replace('node2:8080', `127.0.0.1:${second}`)
      return ['-W', '-db', '-f', writeIn(directory, 'haproxy.cfg', text)]
    },
  },
  {
    ...{ name: 'nginx', program: 'nginx', passesTrailers: false },
    configure(directory, port, [first, second], { crt, key }) {
      const text = readFileSync(path.join(deploy, 'nginx.conf'), 'utf8')
        .replace('listen 80;', `listen unix:${directory}/http;`)
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replace('/etc/nginx/outbreaks.crt', crt)
        .replace('/etc/nginx/outbreaks.key', key)
        .replace('node1:8080', `127.0.0.1:${first}`)
        .replace('node2:8080', `127.0.0.1:${second}`)
        .replace('http {', `http { access_log off;`)
      const file = writeIn(
        directory,
        'nginx.conf',
        `daemon off; pid ${directory}/pid; error_log ${directory}/error.log;\n${text}`,
      )
      return ['-c', file, '-p', directory, '-e', path.join(directory, 'error.log')]
    },
  },
]

for (const { name, program, passesTrailers, configure } of BALANCERS)
  describe(`two nodes behind ${name}`, { skip: withoutPrograms(program, 'openssl'), concurrency: false }, async () => {
    if (withoutPrograms(program, 'openssl') !== false) return
    const directory = createDirectory()
    const [crt, key] = [path.join(directory, 'crt'), path.join(directory, 'key')]
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
        ...[
          '-subj',
          '/CN=localhost',
          '-addext',
          'subjectAltName=DNS:localhost,IP:127.0.0.1',
          '-keyout',
          key,
          '-out',
          crt,
        ],
      ],
      { stdio: 'pipe' },
    )
    const [port, ...nodePorts] = [await findFreePort(), await findFreePort(), await findFreePort()]
    const baseUrl = `https://localhost:${port}`
    const settings = newSettings(await createEmptyDatabase())
    const credentials = await prepareDatabase(settings, sample)
    const start = (number: number): Promise<Service> =>
      startService(settings, {
        OUTBREAKS_PORT: String(nodePorts[number]),
        OUTBREAKS_BASE_URL: baseUrl,
        OUTBREAKS_DRAIN_SECONDS: String(DRAIN_SECONDS),
      })
    const nodes = [await start(0), await start(1)]
    after(async () => {
      for (const node of nodes) {
        node.process.kill('SIGCONT')
        node.process.kill('SIGKILL')
      }
    })
    await startProgram(program, configure(directory, port, nodePorts, { crt, key }), { port })
    const client = createClient(baseUrl, readFileSync(crt, 'utf8'))
    after(client.close)
    await waitUntil('the balancer answers', async () => (await client.send('GET', '/ready')).status === 200)
    const token = await client.obtainToken(credentials)

    /** Reads pages, and compares each with the first answer, until `work` has ended. */
    async function readWhile(work: () => Promise<void>) {
      const expected = new Map<string, string>()
      const reading = { isRunning: true }
      let [requests, slowestMs] = [0, 0]
      const bad: string[] = []
      const readers = Array.from({ length: READERS }, async (_, reader) => {
        for (let i = 0; reading.isRunning; i++) {
          const address = `/v2/hed-outbreaks/outbreaks?num=${1 + ((i + reader) % 40)}&release=1`
          const startedAt = performance.now()
          const { status, body } = await client
            .send('GET', address, { authorization: `Bearer ${token}` })
            .catch((error: Error) => ({ status: 0, body: error.message }))
          slowestMs = Math.max(slowestMs, performance.now() - startedAt)
          requests += 1
          if (status !== 200) bad.push(`${status} ${body.slice(0, 100)}`)
          else if ((expected.get(address) ?? body) !== body) bad.push(`other bytes: ${address}`)
          else expected.set(address, body)
        }
      })
      await work()
      reading.isRunning = false
      await Promise.all(readers)
      assert.deepEqual(bad.slice(0, 5), [], `${bad.length} of ${requests}`)
      assert.ok(requests > 100, `only ${requests} requests`)
      return slowestMs
    }

    test('kill -9 of a node, and its restart', async (t) => {
      const slowest = await readWhile(async () => {
        await wait(500)
        nodes[0]?.process.kill('SIGKILL')
        await wait(1500)
        nodes[0] = await start(0)
        await wait(1500)
      })
      t.diagnostic(`slowest request ${Math.round(slowest)} ms`)
    })

    test('a rolling restart: each node drains and starts again', async (t) => {
      const slowest = await readWhile(async () => {
        for (const number of [0, 1]) {
          await nodes[number]?.stop()
          nodes[number] = await start(number)
          await wait(2500)
        }
      })
      t.diagnostic(`slowest request ${Math.round(slowest)} ms`)
    })

    test('a node that hangs gets no more requests', async (t) => {
      const slowest = await readWhile(async () => {
        await wait(500)
        nodes[1]?.process.kill('SIGSTOP')
        await wait(6000)
        nodes[1]?.process.kill('SIGCONT')
        await wait(1000)
      })
      t.diagnostic(`slowest request ${Math.round(slowest)} ms`)
      assert.ok(slowest < FROZEN_MS, `${slowest} ms`)
    })

    test('with no node left the balancer answers with an error, and with 200 when one is back', async () => {
      for (const node of nodes) node.process.kill('SIGKILL')
      await wait(2500)
      const { status } = await client.send('GET', '/ready')
      assert.ok(status >= 500, String(status))
      nodes[0] = await start(0)
      nodes[1] = await start(1)
      await waitUntil('it answers again', async () => (await client.send('GET', '/ready')).status === 200)
    })

    test('a query as one file arrives complete, with its trailers', { skip: !passesTrailers }, async () => {
      const { status, trailers, body } = await client.send('GET', '/v2/hed-outbreaks/outbreaks', {
        ...{ authorization: `Bearer ${token}`, accept: 'application/x-ndjson', te: 'trailers' },
      })
      assert.equal(status, 200, body.slice(0, 200))
      assert.equal(trailers['outbreaks-records'], String(body.trim().split('\n').length))
    })

    test('every response has Strict-Transport-Security', async () => {
      for (const address of ['/ready', '/nothing', '/v2/hed-outbreaks/outbreaks'])
        assert.match(String((await client.send('GET', address)).headers['strict-transport-security']), /max-age/)
    })
  })

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  trailers: NodeJS.Dict<string>
  body: string
}

function createClient(baseUrl: string, ca: string) {
  const agent = new Agent({ keepAlive: true, ca, maxSockets: READERS })
  const send = (
    method: string,
    address: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const outgoing = request(baseUrl + address, { agent, method, headers, timeout: 20_000 }, (incoming) => {
        let text = ''
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        incoming.on('end', () =>
          resolve({
            ...{ status: incoming.statusCode ?? 0, headers: incoming.headers, trailers: incoming.trailers, body: text },
          }),
        )
        incoming.on('error', reject)
      })
      outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error('no response')))
      outgoing.end(body)
    })
  return {
    send,
    async obtainToken({ client_id, client_secret }: Credentials): Promise<string> {
      const body = JSON.stringify({ client_id, client_secret, audience: baseUrl, grant_type: 'client_credentials' })
      const { body: text } = await send('POST', '/oauth/token', { 'content-type': 'application/json' }, body)
      return (JSON.parse(text) as { access_token: string }).access_token
    },
    close: () => agent.destroy(),
  }
}
