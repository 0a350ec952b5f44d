// The secret of the service changes while two nodes serve: walks, sessions, sign-ins and tokens continue, and no request fails.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import {
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  type Settings,
  startService,
} from '../../dev/service.ts'
import { buildExplorer } from '../../explorer/build.ts'
import { createSealedCookie } from '../../src/explorer/sealed-cookie.ts'
import { deriveKeys } from '../../src/platform/derive-key.ts'
import { createTestDatabase } from '../database.ts'
import { assertTokenAccepted, obtainToken, readRecord } from '../fixtures/api-client.ts'
import { openSession, readWithCookie, statusOf } from '../journeys/explorer/browser-session.ts'

await buildExplorer()
const PUBLIC_URL = 'http://outbreaks.example'
const WALK = '/v2/hed-outbreaks/outbreaks?num=1'
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const [oldSecret, newSecret] = [settings.secret, randomBytes(32).toString('base64url')]

/** The environment of each step of docs/operating/change-the-secret.md. */
const steps = {
  start: { secret: oldSecret },
  announce: { secret: oldSecret, variables: { OUTBREAKS_SECRET_NEXT: newSecret } },
  change: { secret: newSecret, variables: { OUTBREAKS_SECRET_PREVIOUS: oldSecret } },
  end: { secret: newSecret },
} as const
const inStep = (step: keyof typeof steps): Settings => ({ ...settings, ...steps[step] })

const ports = [await findFreePort(), await findFreePort()]
const start = (step: keyof typeof steps, port: number) =>
  startService(inStep(step), { OUTBREAKS_BASE_URL: PUBLIC_URL, OUTBREAKS_PORT: String(port) }).then((service) => ({
    ...service,
    baseUrl: `http://127.0.0.1:${port}`,
  }))
const nodes: Service[] = await Promise.all(ports.map((port) => start('start', port)))
after(() => Promise.all(nodes.map((node) => node.stop())))

/** Nodes that serve; a load balancer sends no request to one that restarts. */
let serving = [...nodes]
const obtain = (node: Service) => obtainToken(credentials, `${node.baseUrl}/oauth/token`, PUBLIC_URL)

/** A walk of one record a page over both nodes. */
async function readPage(node: Service, token: string, page: string | null): Promise<string | null> {
  const response = await fetch(`${node.baseUrl}${WALK}${page === null ? '' : `&page=${page}`}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })
  const body = (await response.json()) as { next_page: string | null; detail?: string }
  assert.equal(response.status, 200, body.detail)
  return body.next_page
}

const [first, second] = nodes as [Service, Service]
const token = await obtain(first)
const session = await openSession(first, credentials)
/** A cursor from before the change, which no one uses until it is over. */
const earlyCursor = await readPage(first, token, null)
assert.ok(earlyCursor)
let lateCursor: string | null = null

/** Replaces the nodes one after the other, as an orchestrator does. */
async function restartAll(step: keyof typeof steps): Promise<void> {
  for (const [i, port] of ports.entries()) {
    const old = nodes[i] as Service
    serving = nodes.filter((node) => node !== old)
    await finishRounds()
    await old.stop()
    nodes[i] = await start(step, port)
    serving = [...nodes]
    await finishRounds()
  }
}

/** Rounds of requests that have ended; null while no one reads. */
const reading: { rounds: number | null } = { rounds: null }

/** After two rounds no request is under way to a node that no longer serves, and the new one has had some. */
async function finishRounds(): Promise<void> {
  const target = (reading.rounds ?? 0) + 2
  const isUnderWay = () => reading.rounds !== null && reading.rounds < target
  while (isUnderWay()) await wait(20)
}

/** Reads without a pause, each request at another node, until `work` ends. */
async function readDuring(work: () => Promise<void>): Promise<{ requests: number; failures: string[] }> {
  const failures: string[] = []
  let [requests, cursor, isDone]: [number, string | null, boolean] = [0, null, false]
  let freshToken = token
  let freshSession = session
  reading.rounds = 0
  const working = work().finally(() => {
    isDone = true
  })
  const isWorking = () => !isDone
  while (isWorking()) {
    const node = serving[requests % serving.length] as Service
    const other = serving[(requests + 1) % serving.length] as Service
    const actions: [string, () => Promise<unknown>][] = [
      ['token', () => assertTokenAccepted(node.baseUrl, token)],
      ['new token', async () => assertTokenAccepted(other.baseUrl, (freshToken = await obtain(node)))],
      ['earlier token', () => assertTokenAccepted(other.baseUrl, freshToken)],
      ['session', async () => assert.equal(await statusOf(readWithCookie(node, session)), 200)],
      ['new session', async () => (freshSession = await openSession(node, credentials))],
      ['session of another node', async () => assert.equal(await statusOf(readWithCookie(other, freshSession)), 200)],
      ['walk', async () => (cursor = await readPage(node, token, cursor))],
      ['walk at another node', async () => (cursor = await readPage(other, token, cursor))],
      ['cursor from before', () => readPage(node, token, earlyCursor)],
    ]
    for (const [name, act] of actions) {
      requests += 1
      await act().catch((error: Error) => failures.push(`${name}: ${error.message}`))
    }
    if (cursor !== null) lateCursor = cursor
    reading.rounds += 1
    // Two cores also start the nodes.
    await wait(50)
  }
  reading.rounds = null
  await working
  return { requests, failures }
}

describe('a change of the secret over two nodes', { concurrency: false }, () => {
  test('no request fails while all nodes learn the next secret, and then use it', async (t) => {
    const { requests, failures } = await readDuring(async () => {
      await restartAll('announce')
      await restartAll('change')
    })
    t.diagnostic(`${requests} requests, ${failures.length} failed`)
    assert.deepEqual(failures, [])
    assert.ok(requests > 50, `only ${requests} requests`)
  })

  test('control: without key reseal, doctor names the key that the new secret alone does not read', async () => {
    const [{ kid }] = (await outbreakctl<{ kid: string }[]>(settings, 'key', 'list')) as [{ kid: string }]
    const end = { ...inStep('end'), variables: { OUTBREAKS_BASE_URL: first.baseUrl } }
    const output = await outbreakctl(end, 'doctor').then(
      () => '',
      (error: Error & { cause?: { stdout?: string } }) => error.cause?.stdout ?? '',
    )
    assert.match(output, new RegExp(`no signing key can be decrypted \\(${kid}\\)`))
  })

  test('control: a node with the new secret alone logs the key that it cannot read, and is not ready', async () => {
    const port = await findFreePort()
    const started = startService(inStep('end'), { OUTBREAKS_BASE_URL: PUBLIC_URL, OUTBREAKS_PORT: String(port) })
    const state = { settled: false }
    started.then(
      () => (state.settled = true),
      () => (state.settled = true),
    )
    // The node becomes ready after the keys are resealed, below.
    pending = started
    const deadline = Date.now() + 45_000
    let reasons: string[] = []
    while (reasons.length === 0 && !state.settled && Date.now() < deadline) {
      await wait(100)
      const response = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null)
      if (response?.status === 503) reasons = ((await response.json()) as { reasons: string[] }).reasons
    }
    // It may still build its index.
    assert.equal(reasons[0], 'keys')
  })
  let pending: Promise<Service> | undefined

  test('key reseal encrypts the keys with the new secret, once, and no request fails', async () => {
    const { failures } = await readDuring(async () => {
      assert.deepEqual(await outbreakctl(inStep('change'), 'key', 'reseal'), {
        resealed: 1,
        unchanged: 0,
        unreadable: [],
      })
      assert.deepEqual(await outbreakctl(inStep('change'), 'key', 'reseal'), {
        resealed: 0,
        unchanged: 1,
        unreadable: [],
      })
    })
    assert.deepEqual(failures, [])
  })

  test('a node that could not read the key becomes ready after the keys were resealed', async () => {
    const node = await pending
    assert.ok(node)
    await assertTokenAccepted(node.baseUrl, token)
    await node.stop()
  })

  test('without the old secret tokens are valid, and walks and sessions that began after the change continue', async () => {
    await restartAll('end')
    for (const node of nodes) {
      await assertTokenAccepted(node.baseUrl, token)
      await assertTokenAccepted(node.baseUrl, await obtain(node))
      await readPage(node, token, lateCursor ?? assert.fail('there is no cursor'))
      assert.equal(await statusOf(readWithCookie(node, await openSession(node, credentials))), 200)
    }
  })

  test('control: without the old secret its cursors give 400 and its sessions 401', async () => {
    for (const node of nodes) {
      await assert.rejects(readPage(node, token, earlyCursor), /not a cursor for this query/)
      assert.equal(await statusOf(readWithCookie(node, session)), 401)
    }
  })
})

describe('control: a change without the next secret', () => {
  test('fails at the node that still has only the old one', async () => {
    const [stale, changed] = await Promise.all([
      startService(inStep('end'), { OUTBREAKS_BASE_URL: PUBLIC_URL }),
      startService(
        { ...settings, secret: oldSecret, variables: { OUTBREAKS_SECRET_PREVIOUS: newSecret } },
        { OUTBREAKS_BASE_URL: PUBLIC_URL },
      ),
    ])
    try {
      const node = { ...changed, baseUrl: portOf(changed) }
      const cursor = await readPage(node, token, null)
      await assert.rejects(readPage({ ...stale, baseUrl: portOf(stale) }, token, cursor), /not a cursor/)
    } finally {
      await Promise.all([stale.stop(), changed.stop()])
    }
  })
  const portOf = (service: Service) => service.baseUrl
})

describe('a sign-in with a provider', () => {
  const options = { name: 'outbreaks-sign-in', sameSite: 'Lax', isSecure: false } as const
  const [before, current] = [Buffer.from(oldSecret, 'base64url'), Buffer.from(newSecret, 'base64url')]
  const open = (cookie: string, ...secrets: [Buffer, ...Buffer[]]) =>
    createSealedCookie({ ...options, keys: deriveKeys(secrets, 'sign-in') }).open({
      rawHeaders: ['cookie', cookie],
    } as never)

  test('that began before the change ends after it', async () => {
    const begun = await createSealedCookie({ ...options, keys: deriveKeys([before], 'sign-in') }).seal(
      { state: 's' },
      60,
    )
    const cookie = begun.split(';')[0] ?? ''
    assert.equal((await open(cookie, current, before))?.['state'], 's')
    assert.equal(await open(cookie, current), null)
  })

  test('is sealed with the first secret only', async () => {
    const begun = await createSealedCookie({ ...options, keys: deriveKeys([current, before], 'sign-in') }).seal({}, 60)
    const cookie = begun.split(';')[0] ?? ''
    assert.ok(await open(cookie, current))
    assert.equal(await open(cookie, before), null)
  })
})

test('no node logs one of the secrets', async () => {
  for (const node of nodes) for (const secret of [oldSecret, newSecret]) assert.ok(!node.output().includes(secret))
  assert.equal((await readRecord(second.baseUrl, 'x')).status, 401)
})
