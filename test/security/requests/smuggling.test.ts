// Request smuggling: each payload hides a second request, and a canary follows on the same connection. No one answers the hidden
// request, each answer goes to its own request, and the canary gets its own answer or the connection is closed. Direct, and
// behind nginx and HAProxy with the configurations of deploy/, where other clients send requests at the same time.
import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { type Front, startFronts } from '../../fixtures/security/fronts.ts'
import { PAYLOADS } from '../../fixtures/security/smuggling-payloads.ts'

const LANES = 24
/** A connection on which nothing arrives for this long has nothing more to say: the client closes its side. */
const IDLE_MS = 400
const CLOSE_MS = 8000
const MINIMUM = 345

/** Stands for the id of an answer that has none. */
const PROXY = 'proxy'

type Open = () => Socket

interface Exchange {
  /** The request ids of the responses, in order. An answer that a proxy made itself has none. */
  readonly ids: string[]
  /** Whether the server closed the connection, if need be after the client closed its side. */
  readonly closed: boolean
}

/** Sends bytes, and reads until `last` is answered or the connection is closed. */
async function exchange(open: Open, bytes: string, last: string, idleMs: number): Promise<Exchange> {
  const socket = open()
  let [text, lastByteAt, sentEnd] = ['', performance.now(), false]
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    lastByteAt = performance.now()
  })
  socket.write(bytes, 'latin1')
  const deadline = performance.now() + CLOSE_MS
  while (!socket.destroyed && performance.now() < deadline && !text.includes(`x-request-id: ${last}\r\n`)) {
    await wait(10)
    if (sentEnd || performance.now() - lastByteAt < idleMs) continue
    sentEnd = true
    socket.end()
  }
  const closed = socket.destroyed
  socket.destroy()
  const heads = [...text.matchAll(/HTTP\/1\.[01] (?!100)\d{3} [^]*?\r\n\r\n/g)].map(([head]) => head)
  return { ids: heads.map((head) => /^x-request-id: (.*)\r$/im.exec(head)?.[1] ?? PROXY), closed }
}

interface Marks {
  readonly outer: string
  readonly hidden: string
  readonly canary: string
}

const ANSWERED = { direct: /^(outer )?canary$/, proxied: /^((outer|unnamed|proxy) )?(hidden )?canary$/ }
const CLOSED = {
  direct: /^(outer|unnamed|outer unnamed)?$/,
  proxied: /^((outer|unnamed|proxy)|(outer|unnamed)( hidden)? (unnamed|proxy))?$/,
}

/**
 * What is wrong with the answers on the connection, as sentences. The node has an id of its own for a message that is not a
 * request. A proxy may read the hidden request as one more request of the same client, for instance because it ends lines at LF:
 * that is in order if the answer comes in its place, and what follows gets its own: the canary, or what is left of the payload.
 */
function findFaults({ ids, closed }: Exchange, marks: Marks, isProxied: boolean): string[] {
  const names = new Map(Object.entries(marks).map(([name, id]) => [String(id), name] as const))
  const answers = ids.map((id) => names.get(id) ?? (id === PROXY ? PROXY : 'unnamed')).join(' ')
  const way = isProxied ? 'proxied' : 'direct'
  if (ANSWERED[way].test(answers) || (closed && CLOSED[way].test(answers))) return []
  if (!isProxied && answers.includes('hidden')) return ['the hidden request was answered']
  return [`the answers are: ${answers || 'none'}; the connection is ${closed ? 'closed' : 'open'}`]
}

const formatCanary = (id: string) => `GET /problems/not_found HTTP/1.1\r\nhost: api.test\r\nx-request-id: ${id}\r\n\r\n`

let sent = 0
async function attack(
  open: Open,
  payload: (marks: Marks) => string,
  isProxied = false,
): Promise<{ faults: string[]; hidden: string; canary: boolean }> {
  const number = String(sent++).padStart(6, '0')
  const marks = { outer: `outer-${number}`, hidden: `hidden-${number}`, canary: `canary-${number}` }
  const result = await exchange(open, payload(marks) + formatCanary(marks.canary), marks.canary, IDLE_MS)
  return {
    faults: findFaults(result, marks, isProxied),
    hidden: marks.hidden,
    canary: result.ids.includes(marks.canary),
  }
}

/** Another client of the same proxy: its request gets its own answer. */
async function askAsBystander(open: Open): Promise<string[]> {
  const id = `bystander-${sent++}`
  const { ids } = await exchange(open, formatCanary(id), id, CLOSE_MS)
  return ids.join() === id ? [] : [`another client got the answers ${ids.join() || 'none'}`]
}

interface Outcome {
  readonly title: string
  readonly faults: string[]
  readonly hidden: string
  readonly canary: boolean
}

/** Sends all payloads, several at a time. Behind a proxy another client sends a request after each of them. */
async function sendAll(open: Open, isProxied: boolean): Promise<Outcome[]> {
  const queue = Object.entries(PAYLOADS).flatMap(([title, payloads]) =>
    payloads.map((payload, i) => ({ title, payload, i })),
  )
  const outcomes: Outcome[] = []
  const runLane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { title, payload, i } = next
      const { faults, hidden, canary } = await attack(open, payload, isProxied)
      if (isProxied) faults.push(...(await askAsBystander(open)))
      outcomes.push({ title, hidden, canary, faults: faults.map((fault) => `payload ${i}: ${fault}`) })
    }
  }
  await Promise.all(Array.from({ length: LANES }, runLane))
  return outcomes
}

const settings = newSettings(await createTestDatabase())
await prepareDatabase(settings, path.resolve(import.meta.dirname, '../../../sample/releases/1'))
const service = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'info' })
after(() => service.process.kill('SIGKILL'))
const fronts = await startFronts(Number(new URL(service.baseUrl).port))

test(`there are at least ${MINIMUM} payloads, and no two are the same`, () => {
  const marks = { outer: 'outer-00', hidden: 'hidden-00' }
  const texts = Object.values(PAYLOADS).flatMap((payloads) => payloads.map((payload) => payload(marks)))
  assert.ok(texts.length >= MINIMUM, `${texts.length}`)
  assert.equal(new Set(texts).size, texts.length)
})

const wasProcessed = ({ hidden }: Outcome) => service.output().includes(hidden)

for (const front of fronts)
  describe(front.name, { skip: front.skip }, () => {
    if (front.skip !== false) return
    let outcomes: Promise<Outcome[]> | undefined
    for (const [title, payloads] of Object.entries(PAYLOADS))
      test(`${front.name}: ${payloads.length} payloads, 0 desynchronised: ${title}`, async (t) => {
        outcomes ??= sendFront(front)
        const own = (await outcomes).filter((outcome) => outcome.title === title)
        assert.equal(own.length, payloads.length)
        assert.deepEqual(
          own.flatMap(({ faults }) => faults),
          [],
        )
        if (front.name === 'direct')
          assert.deepEqual(
            own.filter(wasProcessed).map(({ hidden }) => hidden),
            [],
            'the node processed hidden requests',
          )
        const answered = own.filter(({ canary }) => canary).length
        t.diagnostic(`${answered} canaries answered, ${own.length - answered} connections closed`)
      })

    test(`${front.name}: two ordinary requests on one connection are both answered, and are in the log`, async () => {
      const { faults, canary, hidden } = await attack(front.open, (marks) => formatCanary(marks.hidden))
      assert.deepEqual([faults, canary], [['the hidden request was answered'], true])
      const deadline = Date.now() + CLOSE_MS
      while (!service.output().includes(hidden) && Date.now() < deadline) await wait(20)
      assert.ok(service.output().includes(hidden))
    })
  })

async function sendFront(front: Front): Promise<Outcome[]> {
  const outcomes = await sendAll(front.open, front.name !== 'direct')
  // The log is written with a delay.
  await wait(300)
  return outcomes
}

// The control: a server that finds requests by their first line and ignores how long a body is.
const naive = createServer((socket) => {
  let text = ''
  socket.setEncoding('latin1').on('error', () => {})
  socket.on('data', (chunk: string) => {
    text += chunk
    for (;;) {
      const request = /^(GET|POST) [^]*?x-request-id: ([\w-]+)\r\n/m.exec(text)
      if (request === null) return
      text = text.slice(request.index + request[0].length)
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-request-id: ${request[2]}\r\n\r\n`)
    }
  })
}).listen(0, '127.0.0.1')
after(() => naive.close())

test('control: the same judge finds a server desynchronised that ignores the length of bodies, with every class', async (t) => {
  const { port } = naive.address() as AddressInfo
  const outcomes = await sendAll(() => connect(port, '127.0.0.1').on('error', () => {}), false)
  const found = outcomes.filter(({ faults }) => faults.length > 0)
  t.diagnostic(`${found.length} of ${outcomes.length}`)
  assert.ok(found.length > outcomes.length * 0.9, `${found.length} of ${outcomes.length}`)
  assert.deepEqual(new Set(found.map(({ title }) => title)), new Set(Object.keys(PAYLOADS)))
})

test('control: the judge behind a proxy accepts one more request of the same client, and nothing else', () => {
  const marks = { outer: 'o', hidden: 'h', canary: 'c' }
  const judge = (closed: boolean, ...ids: string[]) => findFaults({ ids, closed }, marks, true).length === 0
  for (const ids of [['o', 'c'], ['o', 'h', 'c'], ['400', 'c'], ['c']]) assert.ok(judge(false, ...ids), ids.join())
  for (const ids of [[], ['o'], ['400'], ['o', '400'], ['o', 'h', PROXY]])
    assert.ok(judge(true, ...ids) && !judge(false, ...ids), ids.join())
  // The canary gets the answer of the hidden request, an answer comes too late, or twice.
  for (const ids of [
    ['o', 'h'],
    ['h'],
    ['h', 'o', 'c'],
    ['o', 'c', 'h'],
    ['o', '400', 'c'],
    ['o', 'o', 'c'],
    ['c', 'o'],
  ])
    assert.ok(!judge(false, ...ids) && !judge(true, ...ids), ids.join())
})
