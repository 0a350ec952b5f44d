// While the event loop is late and many requests run, the server refuses requests that need much work before it parses them.
import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createHttpServer } from '../../../src/platform/http/http-server.ts'

const MANY = 40
const lines: string[] = []
const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) })
const app = createHttpServer({ baseUrl: 'https://api.test', log, mayRefuse: (url) => url.startsWith('/data') })
let finish = Promise.withResolvers<void>()
const seen = { arrived: 0 }
app.get('/data/slow', async () => {
  seen.arrived += 1
  await finish.promise
  return {}
})
app.get('/data/quick', async () => ({}))
app.get('/token', async () => ({}))
await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())
const { port } = app.server.address() as AddressInfo
const agent = new Agent()

const send = (path: string) =>
  new Promise<{ status: number; retryAfter: string | undefined; body: string }>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent, timeout: 20_000 }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body }),
      )
    }).on('error', reject)
  })

/** Blocks the event loop for most of the time. */
async function whileLate<Result>(work: () => Promise<Result>): Promise<Result> {
  const timer = setInterval(() => {
    for (const end = performance.now() + 100; performance.now() < end; );
  }, 1)
  try {
    await wait(500)
    return await work()
  } finally {
    clearInterval(timer)
    await wait(100)
  }
}

test('503 with Retry-After for what needs work; everything else is served, and all of it when the event loop is free', async () => {
  finish = Promise.withResolvers()
  const running = Array.from({ length: MANY }, () => send('/data/slow'))
  while (seen.arrived < MANY) await wait(10)
  lines.length = 0
  const [refused, served] = await whileLate(() => Promise.all([send('/data/quick'), send('/token')]))
  assert.deepEqual([refused.status, refused.retryAfter], [503, '1'])
  assert.equal((JSON.parse(refused.body) as { code: string }).code, 'overloaded')
  assert.equal(served.status, 200)
  assert.equal(lines.filter((line) => line.includes('"problem":"overloaded"')).length, 1)
  assert.equal((await send('/data/quick')).status, 200)
  finish.resolve()
  for (const { status } of await Promise.all(running)) assert.equal(status, 200)
})

test('control: with few requests a late event loop refuses nothing, because other programs make it late', async () => {
  assert.equal((await whileLate(() => send('/data/quick'))).status, 200)
})
