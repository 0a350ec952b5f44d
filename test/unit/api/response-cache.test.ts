// The response cache: its size limit, one rendering for concurrent requests, cancellation, and errors, which are not cached.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createResponseCache, type EncodedBody } from '../../../src/api/response/response-cache.ts'
import { currentSignal, runWithSignal } from '../../../src/platform/cancellation.ts'
import { Problem } from '../../../src/platform/problem.ts'

const bodyOf = (bytes: number): EncodedBody => ({ bytes: Buffer.alloc(bytes), encoding: 'identity', next: null })

function countingCache(megabytes: number) {
  const cache = createResponseCache(megabytes)
  const rendered: string[] = []
  const get = (key: string, bytes: number) =>
    cache(key, async () => {
      rendered.push(key)
      await wait(5)
      return bodyOf(bytes)
    })
  return { cache, get, rendered }
}

test('a cached body is not rendered again', async () => {
  const { get, rendered } = countingCache(1)
  const first = await get('a', 1000)
  assert.equal(await get('a', 1000), first)
  assert.deepEqual(rendered, ['a'])
})

test('a hundred concurrent requests for one body cause one rendering', async () => {
  const { get, rendered } = countingCache(1)
  const results = await Promise.all(Array.from({ length: 100 }, () => get('a', 1000)))
  assert.equal(new Set(results).size, 1)
  assert.deepEqual(rendered, ['a'])
})

test('a cached body keeps no memory beside its bytes', async () => {
  const cache = createResponseCache(1)
  const bytes = gzipSync('short')
  assert.ok(bytes.buffer.byteLength > 10 * bytes.length, 'zlib gives exact buffers: the copy is no longer needed')
  const cached = await cache('a', async () => ({ bytes, encoding: 'gzip', next: null }))
  assert.equal(await cache('a', () => assert.fail('rendered again')), cached)
  assert.deepEqual(cached.bytes, bytes)
  assert.equal(cached.bytes.buffer.byteLength, bytes.length)
})

test('when the size limit is reached, the least recently used body is removed', async () => {
  const { get, rendered } = countingCache(1)
  for (const key of ['a', 'b', 'c']) await get(key, 300_000)
  await get('a', 300_000)
  await get('d', 300_000)
  for (const key of ['a', 'c', 'd', 'b']) await get(key, 300_000)
  assert.deepEqual(rendered, ['a', 'b', 'c', 'd', 'b'])
})

test('the size limit also applies to long keys', async () => {
  const { get, rendered } = countingCache(1)
  const keys = Array.from({ length: 10 }, (_, i) => `${i}${'x'.repeat(100_000)}`)
  for (const key of keys) await get(key, 1)
  await get(keys[0] ?? '', 1)
  assert.equal(rendered.length, keys.length + 1)
})

test('the size limit also applies to many small bodies', async () => {
  const { get, rendered } = countingCache(1)
  const keys = Array.from({ length: 1100 }, (_, i) => `key ${i}`)
  await Promise.all(keys.map((key) => get(key, 1)))
  await get('key 0', 1)
  assert.equal(rendered.length, 1101)
})

test('a body larger than the size limit is returned but not cached; with a limit of 0 nothing is cached', async () => {
  for (const [megabytes, bytes] of [
    [1, 2_000_000],
    [0, 10],
  ] as const) {
    const { get, rendered } = countingCache(megabytes)
    assert.equal((await get('a', bytes)).bytes.length, bytes)
    await get('a', bytes)
    assert.deepEqual(rendered, ['a', 'a'])
  }
})

test('an error reaches every waiting request, and the next request succeeds', async () => {
  const { cache, get } = countingCache(1)
  const fail = () =>
    cache('a', async () => {
      await wait(5)
      throw new Error('no')
    })
  const results = await Promise.allSettled([fail(), fail(), get('a', 10)])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.equal((await get('a', 10)).bytes.length, 10)
})

/** A body that the test resolves, and the signals of its renderings. */
function deferredBody() {
  const signals: (AbortSignal | undefined)[] = []
  const body = Promise.withResolvers<EncodedBody>()
  const render = () => {
    signals.push(currentSignal())
    return body.promise
  }
  return { signals, render, body }
}

const isClientClosed = (error: unknown) => error instanceof Problem && error.code === 'client_closed_request'

test('when one of two waiting requests is closed, the other gets the body and nothing is cancelled', async () => {
  const cache = createResponseCache(1)
  const { signals, render, body } = deferredBody()
  const [first, second] = [new AbortController(), new AbortController()]
  const cancelled = runWithSignal(first, () => cache('a', render))
  const waiting = runWithSignal(second, () => cache('a', render))
  first.abort()
  await assert.rejects(cancelled, isClientClosed)
  assert.deepEqual([signals.length, signals[0]?.aborted], [1, false])
  body.resolve(bodyOf(10))
  assert.equal((await waiting).bytes.length, 10)
})

test('when all waiting requests are closed, the rendering is cancelled, and the next request starts a new one', async () => {
  const cache = createResponseCache(1)
  const { signals, render, body } = deferredBody()
  const controllers = [new AbortController(), new AbortController(), new AbortController()]
  const cancelled = controllers.map((controller) => runWithSignal(controller, () => cache('a', render)))
  for (const controller of controllers) controller.abort()
  for (const request of cancelled) await assert.rejects(request, isClientClosed)
  assert.deepEqual([signals.length, signals[0]?.aborted], [1, true])
  const next = runWithSignal(new AbortController(), () => cache('a', render))
  assert.deepEqual([signals.length, signals[1]?.aborted], [2, false])
  body.resolve(bodyOf(10))
  assert.equal((await next).bytes.length, 10)
})

test('a rendering is not cancelled while a request without a signal waits for it', async () => {
  const cache = createResponseCache(1)
  const { signals, render, body } = deferredBody()
  const controller = new AbortController()
  const cancelled = runWithSignal(controller, () => cache('a', render))
  const waiting = cache('a', render)
  controller.abort()
  await assert.rejects(cancelled, isClientClosed)
  assert.equal(signals[0]?.aborted, false)
  body.resolve(bodyOf(10))
  assert.equal((await waiting).bytes.length, 10)
})

test('a request that is closed before the rendering starts is rejected, and the rendering is cancelled', async () => {
  const cache = createResponseCache(1)
  const { signals, render } = deferredBody()
  await assert.rejects(
    runWithSignal({ signal: AbortSignal.abort() }, () => cache('a', render)),
    isClientClosed,
  )
  assert.equal(signals[0]?.aborted, true)
})
