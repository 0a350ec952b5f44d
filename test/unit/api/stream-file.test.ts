// A streamed response: it waits for the client, has a timeout, counts against the limits until its end, and is broken or complete.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, afterEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { streamFile } from '../../../src/api/response/stream-file.ts'
import { createStreamLimit } from '../../../src/api/response/stream-limit.ts'
import type { EncodableRecord } from '../../../src/formats/file-encoder.ts'
import { createNdjsonEncoder } from '../../../src/formats/text-encoders.ts'
import { createSlots, limitConcurrency } from '../../../src/platform/http/concurrency-limit.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { readResponse, startRequest } from '../../fixtures/streamed-response.ts'

const BATCH: EncodableRecord[] = Array.from({ length: 100 }, () => ({
  body: JSON.stringify('x'.repeat(10_000)),
  values: [],
  record: {},
}))
const { app, lines } = createObservedServer()
let state = { batches: 0, ended: 0, returned: false }
afterEach(() => {
  state = { batches: 0, ended: 0, returned: false }
})

async function* countedBatches(limit: number) {
  try {
    for (let i = 0; i < limit; i++, state.batches++) yield BATCH
  } finally {
    state.returned = true
  }
}

const streamLimit = createStreamLimit()
const spec = (limit: number) => ({
  encoder: createNdjsonEncoder(),
  batches: countedBatches(limit),
  expectedRecords: undefined,
  streamLimit,
  onEnd: () => void state.ended++,
})
void app.register(async (scope) => {
  scope.addHook('onRequest', async (request) => {
    request.clientId = String(request.headers['client'])
  })
  limitConcurrency(scope, createSlots(1, 'requests'))
  scope.get('/endless', (request, reply) => streamFile(request, reply, spec(Number.POSITIVE_INFINITY)))
  scope.get('/timeout', (request, reply) =>
    streamFile(request, reply, { ...spec(Number.POSITIVE_INFINITY), timeoutMs: 300 }),
  )
  scope.get('/short', (request, reply) => streamFile(request, reply, { ...spec(1), expectedRecords: BATCH.length + 1 }))
  scope.get('/complete', (request, reply) => streamFile(request, reply, spec(3)))
})
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
after(() => {
  app.server.closeAllConnections()
  return app.close()
})
const start = (path: string, client: string) => startRequest(`http://127.0.0.1:${port}${path}`, { client })

async function waitFor(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 250 && !condition(); i++) await wait(20)
  assert.ok(condition())
}

async function assertBroken(response: Awaited<ReturnType<typeof start>>): Promise<void> {
  await assert.rejects(async () => {
    for await (const part of response) void part
  }, /aborted|ECONNRESET/)
  assert.deepEqual(response.trailers, {})
}

test('a client that does not read stops the walk; when it goes away, the walk ends', async () => {
  const response = await start('/endless', 'a')
  response.pause()
  await wait(500)
  const { batches } = state
  // A batch has 1 MB. The sockets of both sides buffer a few.
  assert.ok(batches > 0 && batches < 30, `${batches} batches`)
  await wait(300)
  assert.equal(state.batches, batches)
  response.destroy()
  await waitFor(() => state.returned && state.ended === 1)
})

test('a response that takes too long is broken, and the log names the reason', async () => {
  const response = await start('/timeout', 'b')
  await assertBroken(response)
  await waitFor(() => state.returned && state.ended === 1)
  await waitFor(() => lines.some((line) => /"route":"\/timeout".*"problem":"unavailable"/.test(line)))
  assert.match(lines.join(''), /a streamed response failed/)
})

test('a response with too few records is broken', async () => {
  await assertBroken(await start('/short', 'c'))
  await waitFor(() => state.ended === 1)
})

test('a stream counts against the concurrent requests of its client until its end', async () => {
  const first = await start('/endless', 'd')
  const url = `http://127.0.0.1:${port}/complete`
  assert.equal((await readResponse(url, { client: 'd' })).status, 429)
  const other = await readResponse(url, { client: 'e' })
  assert.deepEqual([other.status, other.trailers['outbreaks-records']], [200, '300'])
  first.destroy()
  for (let i = 0; i < 100; i++) {
    if ((await readResponse(url, { client: 'd' })).status === 200) return
    await wait(20)
  }
  assert.fail('the client is still limited')
})

test('a client has two streams at a time; an ended stream frees one place, once', () => {
  const { open } = createStreamLimit()
  const endFirst = open('a')
  open('a')
  assert.throws(() => open('a'), { code: 'concurrency_exceeded', headers: { 'retry-after': '5' } })
  open('b')
  endFirst()
  endFirst()
  open('a')
  assert.throws(() => open('a'), { code: 'concurrency_exceeded' })
})
