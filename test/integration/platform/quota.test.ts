// The quota of a client: exact, shared through Redis, and counted in the process while Redis does not respond.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createQuota } from '../../../src/platform/http/quota.ts'
import { startRedis, withoutRedis } from '../../fixtures/redis-server.ts'
import { LIVENESS_MS } from '../../liveness.ts'

async function openQuota({ limit = 3, seconds = 60, redisUrl = null as string | null }) {
  const lines: string[] = []
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) })
  const quota = createQuota({ limit, seconds, redisUrl, log })
  await quota.open()
  after(quota.close)
  const grants = async (clientId: string) => (await quota.consume(clientId)).granted
  /** The longest of ten requests, in milliseconds. */
  async function measureSlowest(): Promise<number> {
    let longest = 0
    for (let i = 0; i < 10; i++) {
      const began = performance.now()
      await quota.consume('patient')
      longest = Math.max(longest, performance.now() - began)
    }
    return longest
  }
  return {
    ...quota,
    grants,
    measureSlowest,
    lines,
    logged: () => lines.map((line) => JSON.parse(line) as { msg: string; reason?: string }),
  }
}

/** Fails after five seconds. */
async function until(happened: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIVENESS_MS
  while (!(await happened())) {
    assert.ok(Date.now() < deadline, 'it does not happen')
    await wait(20)
  }
}

test('a client gets exactly its quota; another client has its own', async () => {
  const quota = await openQuota({})
  const statuses = await Promise.all([1, 2, 3, 4, 5].map(() => quota.consume('one')))
  assert.deepEqual(
    statuses.map(({ granted, remaining }) => [granted, remaining]),
    [
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ],
  )
  assert.deepEqual(await quota.consume('two'), { granted: true, remaining: 2, resetsIn: 60 })
  assert.deepEqual(quota.lines, [])
})

test('peek does not count', async () => {
  const quota = await openQuota({})
  for (let i = 0; i < 5; i++) assert.deepEqual(await quota.peek('one'), { remaining: 3, resetsIn: 60 })
  await quota.consume('one')
  for (let i = 0; i < 5; i++) assert.equal((await quota.peek('one')).remaining, 2)
})

for (const way of ['in process', 'in Redis']) {
  test(`the window ends after its time, and rejected requests do not extend it, ${way}`, {
    skip: way === 'in Redis' && withoutRedis,
  }, async () => {
    const redisUrl = way === 'in Redis' ? (await startRedis()).url : null
    const quota = await openQuota({ limit: 1, seconds: 2, redisUrl })
    const began = performance.now()
    assert.ok(await quota.grants('one'))
    assert.ok(!(await quota.grants('one')))
    // Each of these requests is rejected.
    await until(() => quota.grants('one'))
    const ms = performance.now() - began
    assert.ok(ms > 1900, `it opened after ${Math.round(ms)} ms`)
  })
}

test('two nodes share one exact quota through Redis', {
  skip: withoutRedis,
}, async () => {
  const { url: redisUrl } = await startRedis()
  const nodes = [await openQuota({ limit: 20, redisUrl }), await openQuota({ limit: 20, redisUrl })]
  const granted = await Promise.all(Array.from({ length: 15 }, () => nodes.map((node) => node.grants('one'))).flat())
  assert.equal(granted.filter(Boolean).length, 20)
  for (const node of nodes) {
    assert.equal((await node.peek('one')).remaining, 0)
    assert.equal((await node.peek('two')).remaining, 20)
    assert.deepEqual(node.lines, [])
  }
})

test('prices of three nodes add up exactly in Redis, also beyond the limit', { skip: withoutRedis }, async () => {
  const { url: redisUrl } = await startRedis()
  const open = () => openQuota({ limit: 1000, redisUrl })
  const [first, second, third] = [await open(), await open(), await open()]
  const nodes = [first, second, third]
  const prices = Array.from({ length: 60 }, (_, i) => 1 + (i % 7))
  const total = prices.reduce((sum, price) => sum + price, 0)
  await Promise.all(prices.map((price, i) => (nodes[i % 3] ?? first).consume('one', price)))
  for (const node of nodes) assert.equal((await node.peek('one')).remaining, 1000 - total)
  const debt = await first.consume('one', 5000)
  assert.deepEqual([debt.granted, debt.remaining], [false, 0])
  for (const node of nodes) assert.ok(!(await node.grants('one')))
  assert.ok(await second.grants('two'))
})

test('without Redis a node counts alone and logs it once, and shares the quota again when Redis returns', {
  skip: withoutRedis,
}, async () => {
  const redis = await startRedis()
  const nodes = [await openQuota({ redisUrl: redis.url }), await openQuota({ redisUrl: redis.url })]
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  await redis.kill()
  assert.deepEqual([await first.grants('a'), await first.grants('a'), await first.grants('a')], [true, true, true])
  assert.equal(await first.grants('a'), false, 'never unlimited')
  assert.equal(await second.grants('a'), true, 'each node counts alone')
  assert.equal((await first.peek('a')).remaining, 0)

  await redis.start()
  await until(async () => {
    await Promise.all(nodes.map((node) => node.peek('b')))
    return nodes.every((node) => node.lines.length === 2)
  })
  assert.deepEqual([await first.grants('b'), await second.grants('b'), await first.grants('b')], [true, true, true])
  assert.equal(await second.grants('b'), false)
  for (const node of nodes) {
    assert.deepEqual(
      node.logged().map(({ msg }) => msg.split(':')[0]),
      ['Redis does not respond', 'Redis responds again'],
    )
    assert.match(node.logged()[0]?.reason ?? '', /^[A-Z][^(]+\. \(.+\)$/)
  }
})

test('a stopped Redis does not stop requests, and delays them only at first', { skip: withoutRedis }, async (t) => {
  const redis = await startRedis()
  const quota = await openQuota({ limit: 1000, redisUrl: redis.url })
  redis.signal('SIGSTOP')
  const longest = await quota.measureSlowest()
  // The client closes the connection without responses after half a second, later on a busy machine.
  let later = Number.POSITIVE_INFINITY
  await until(async () => {
    later = await quota.measureSlowest()
    return later < 50
  })
  redis.signal('SIGCONT')
  t.diagnostic(`longest request at first ${Math.round(longest)} ms, later ${Math.round(later)} ms`)
  assert.ok(longest < LIVENESS_MS)
  await until(async () => {
    await quota.consume('one')
    return quota.lines.length === 2
  })
})

test('a node starts without Redis, and uses it when it is available', {
  skip: withoutRedis,
}, async () => {
  const redis = await startRedis()
  await redis.kill()
  const quota = await openQuota({ redisUrl: redis.url })
  assert.equal(quota.lines.length, 1)
  await redis.start()
  await until(async () => {
    await quota.consume('one')
    return quota.lines.length === 2
  })
})

test('a node starts with a stopped Redis', { skip: withoutRedis }, async (t) => {
  const redis = await startRedis()
  redis.signal('SIGSTOP')
  const began = performance.now()
  const quota = await openQuota({ redisUrl: redis.url })
  t.diagnostic(`started after ${Math.round(performance.now() - began)} ms`)
  assert.ok(performance.now() - began < LIVENESS_MS)
  assert.ok(await quota.grants('one'))
  redis.signal('SIGCONT')
})

test('with a wrong Redis password a node counts alone, and the password is not logged', {
  skip: withoutRedis,
}, async () => {
  const redis = await startRedis('--requirepass', 'the0real0one')
  const wrong = await openQuota({ redisUrl: redis.url.replace('//', '//:canary0password@') })
  assert.deepEqual([await wrong.grants('a'), (await wrong.peek('a')).remaining], [true, 2])
  assert.equal(wrong.lines.length, 1)
  assert.ok(!wrong.lines.join('').includes('canary0password'))
  assert.match(wrong.logged()[0]?.reason ?? '', /^Redis rejects the user or the password\. \(.*WRONGPASS/)
  const right = await openQuota({ redisUrl: redis.url.replace('//', '//:the0real0one@') })
  assert.ok(await right.grants('a'))
  assert.deepEqual(right.lines, [])
})

test('with a read-only Redis a node counts alone', { skip: withoutRedis }, async () => {
  const redis = await startRedis('--replicaof', '127.0.0.1', '1')
  const quota = await openQuota({ redisUrl: redis.url })
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => quota.grants('a'))), [true, true, true, false])
  assert.equal(quota.lines.length, 1)
})
