// Answers are kept within their bound, made once for all who ask at the same time, and never kept when they failed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createResponseCache, type EncodedBody } from '../../../src/api/response/response-cache.ts'
import { currentSignal, runWithSignal } from '../../../src/platform/cancellation.ts'
import { Problem } from '../../../src/platform/problem.ts'

const bodyOf = (bytes: number): EncodedBody => ({ bytes: Buffer.alloc(bytes), encoding: 'identity', next: null })

function countingCache(megabytes: number) {
  const cache = createResponseCache(megabytes)
  const made: string[] = []
  const ask = (key: string, bytes: number) =>
    cache(key, async () => {
      made.push(key)
      await wait(5)
      return bodyOf(bytes)
    })
  return { cache, ask, made }
}

test('what was made is given again without being made again', async () => {
  const { ask, made } = countingCache(1)
  const first = await ask('a', 1000)
  assert.equal(await ask('a', 1000), first)
  assert.deepEqual(made, ['a'])
})

test('what a hundred ask for at the same time is made once', async () => {
  const { ask, made } = countingCache(1)
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask('a', 1000)))
  assert.equal(new Set(answers).size, 1)
  assert.deepEqual(made, ['a'])
})

test('the bound of bytes holds: what was asked for longest ago goes first', async () => {
  const { ask, made } = countingCache(1)
  for (const key of ['a', 'b', 'c']) await ask(key, 300_000)
  await ask('a', 300_000)
  await ask('d', 300_000)
  for (const key of ['a', 'c', 'd', 'b']) await ask(key, 300_000)
  assert.deepEqual(made, ['a', 'b', 'c', 'd', 'b'])
})

test('many small answers are bounded too', async () => {
  const { ask, made } = countingCache(1)
  const keys = Array.from({ length: 1100 }, (_, i) => `key ${i}`)
  await Promise.all(keys.map((key) => ask(key, 1)))
  await ask('key 0', 1)
  assert.equal(made.length, 1101)
})

test('an answer larger than the bound is given and not kept, and with no bound at all nothing is', async () => {
  for (const [megabytes, bytes] of [
    [1, 2_000_000],
    [0, 10],
  ] as const) {
    const { ask, made } = countingCache(megabytes)
    assert.equal((await ask('a', bytes)).bytes.length, bytes)
    await ask('a', bytes)
    assert.deepEqual(made, ['a', 'a'])
  }
})

test('a failure reaches everybody who waited, and the next one to ask is answered', async () => {
  const { cache, ask } = countingCache(1)
  const fail = () =>
    cache('a', async () => {
      await wait(5)
      throw new Error('no')
    })
  const answers = await Promise.allSettled([fail(), fail(), ask('a', 10)])
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.equal((await ask('a', 10)).bytes.length, 10)
})

/** A body that is made when the test says so, and the signal it is made under. */
function heldBody() {
  const begun: (AbortSignal | undefined)[] = []
  const body = Promise.withResolvers<EncodedBody>()
  const make = () => {
    begun.push(currentSignal())
    return body.promise
  }
  return { begun, make, body }
}

const isAbandoned = (error: unknown) => error instanceof Problem && error.code === 'client_closed_request'

test('one of several that leaves gets no body, the others do, and nothing is cancelled', async () => {
  const cache = createResponseCache(1)
  const { begun, make, body } = heldBody()
  const [first, second] = [new AbortController(), new AbortController()]
  const leaving = runWithSignal(first, () => cache('a', make))
  const staying = runWithSignal(second, () => cache('a', make))
  first.abort()
  await assert.rejects(leaving, isAbandoned)
  assert.deepEqual([begun.length, begun[0]?.aborted], [1, false])
  body.resolve(bodyOf(10))
  assert.equal((await staying).bytes.length, 10)
})

test('when the last one leaves the work is cancelled, and the next to ask begins anew', async () => {
  const cache = createResponseCache(1)
  const { begun, make, body } = heldBody()
  const controllers = [new AbortController(), new AbortController(), new AbortController()]
  const leaving = controllers.map((controller) => runWithSignal(controller, () => cache('a', make)))
  for (const controller of controllers) controller.abort()
  for (const one of leaving) await assert.rejects(one, isAbandoned)
  assert.deepEqual([begun.length, begun[0]?.aborted], [1, true])
  const next = runWithSignal(new AbortController(), () => cache('a', make))
  assert.deepEqual([begun.length, begun[1]?.aborted], [2, false])
  body.resolve(bodyOf(10))
  assert.equal((await next).bytes.length, 10)
})

test('work that somebody without a signal waits for is never cancelled', async () => {
  const cache = createResponseCache(1)
  const { begun, make, body } = heldBody()
  const controller = new AbortController()
  const leaving = runWithSignal(controller, () => cache('a', make))
  const staying = cache('a', make)
  controller.abort()
  await assert.rejects(leaving, isAbandoned)
  assert.equal(begun[0]?.aborted, false)
  body.resolve(bodyOf(10))
  assert.equal((await staying).bytes.length, 10)
})

test('who has left before the work begins gets nothing, and it is cancelled at once', async () => {
  const cache = createResponseCache(1)
  const { begun, make } = heldBody()
  await assert.rejects(
    runWithSignal({ signal: AbortSignal.abort() }, () => cache('a', make)),
    isAbandoned,
  )
  assert.equal(begun[0]?.aborted, true)
})
