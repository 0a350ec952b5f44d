// What a link key must not do, on two nodes: the key of one question opens no other; keys that are forged, widened, expired,
// revoked or replayed open nothing; and no log, trace, metric, audit row or Referer of the run has one.
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import { type Credentials, newSettings, outbreakctl, type Service, startService } from '../../dev/service.ts'
import { canonicaliseAddress, createLinkKey } from '../../src/auth/links/link-key.ts'
import { deriveKeys, toKeyObjects } from '../../src/platform/derive-key.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { prepareInProcess } from '../fixtures/operate/prepared-database.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { LIVENESS_MS } from '../liveness.ts'
import { runSql } from './run-sql.ts'

const HOME = '/v2/hed-outbreaks'
const REFERRER = 'https://workbook.example/?'
const settings = newSettings(await createTestDatabase())
const metricsPort = await findFreePort()
const keys = toKeyObjects(deriveKeys([Buffer.from(settings.secret, 'base64url')], 'link keys'))

/** What a collector of traces received. */
let traces = ''
const collector = createServer((request, response) => {
  request.setEncoding('utf8').on('data', (text: string) => {
    traces += text
  })
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
})
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
after(() => collector.close())

const nodes: Service[] = []
after(async () => {
  for (const node of nodes) await node.stop()
})
let credentials: Credentials
let token = ''
before(async () => {
  credentials = await prepareInProcess(
    settings,
    await writeNdjson([
      { key: 'a', country_code: 'NA', country: 'Namibia', cases: 3, date_low: '2024-01-01', date_high: '2024-01-07' },
      { key: 'b' },
    ]),
  )
  const everywhere = {
    OUTBREAKS_LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  }
  nodes.push(
    await startService(settings, { ...everywhere, OUTBREAKS_METRICS_PORT: String(metricsPort) }),
    await startService(settings, everywhere),
  )
  token = await obtainToken(credentials, `${nodes[0]?.baseUrl}/oauth/token`, nodes[0]?.baseUrl ?? '')
})

/** Every key of the run, to look for in what the nodes wrote. */
const tried = new Set<string>()
let refusals = 0

interface Opening {
  readonly headers?: Record<string, string>
  readonly node?: Service | undefined
  readonly method?: string
}

async function statusOf(address: string, { headers = {}, node = nodes[0], method = 'GET' }: Opening = {}) {
  const url = `${node?.baseUrl}${address}`
  const signal = AbortSignal.timeout(LIVENESS_MS)
  const response = await fetch(url, { method, headers: { referer: REFERRER + address, ...headers }, signal })
  await response.body?.cancel()
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer', address)
  for (const value of response.headers.values()) assert.equal(value.includes('obk1.'), false, address)
  return response.status
}

/** With a key in the address, and as a password. Both count as tried. */
async function assertRefused(address: string, key: string, node = nodes[0]) {
  tried.add(key)
  const statuses = [
    await statusOf(withKey(address, key), { node }),
    await statusOf(address, { node, headers: basic(key) }),
  ]
  for (const status of statuses) {
    assert.ok([401, 404, 405].includes(status), `${address} with ${key}: ${status}`)
    refusals += 1
  }
}

const withKey = (address: string, key: string) =>
  `${address}${address.includes('?') ? '&' : '?'}key=${encodeURIComponent(key)}`
const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`sheet:${key}`).toString('base64')}` })

async function makeKey(address: string, credential = token): Promise<string> {
  const response = await fetch(`${nodes[0]?.baseUrl}${HOME}/link?${new URLSearchParams({ url: address })}`, {
    headers: { authorization: `Bearer ${credential}` },
  })
  const { key, opens } = (await response.json()) as Record<'key' | 'opens', string>
  assert.equal(response.status, 200, address)
  assert.equal(opens, canonicaliseAddress(address))
  tried.add(key)
  return key
}

/** A key as the service makes it, with parts that it would not sign. */
const sign = (address: string, { generation = 1, expiry = 4_000_000_000, clientId = credentials.client_id } = {}) =>
  createLinkKey(keys, {
    client: { clientId, generation, scopes: [], disabled: false, secrets: [] },
    address,
    expiry,
  })

const QUESTIONS = {
  'series as CSV': '/series?country_code=NA&format=csv&interval=month',
  'series as JSON': '/series?country_code=NA&interval=month',
  'another interval of the series': '/series?country_code=NA&format=csv&interval=year',
  'sums as CSV': '/sums?format=csv&group_by=country_code',
  'two columns of the sums': '/sums?columns=country_code%2Ccases&format=csv&group_by=country_code',
  'sums of release 1': '/sums?format=csv&group_by=country_code&release=1',
  'sums of the latest release': '/sums?format=csv&group_by=country_code&release=latest',
  'records as CSV': '/outbreaks?country_code=NA&format=csv',
  'records as Parquet': '/outbreaks?country_code=NA&format=parquet',
  'records as Arrow': '/outbreaks?country_code=NA&format=arrow',
  'records as GeoJSON': '/outbreaks?country_code=NA&format=geojson',
  'records as NDJSON': '/outbreaks?country_code=NA&format=ndjson',
  'records of everywhere': '/outbreaks?format=csv',
  'one record': '/outbreaks/1',
  'the values of fields': '/facets?format=csv',
  'records by period': '/coverage?by=country_code&format=csv&interval=year',
  'a number in every release': '/vintages?country_code=NA&format=csv&interval=year',
  'the list of releases': '/releases?format=csv',
  'one release': '/releases/1',
  'a citation': '/citation?release=1',
} as const
const keysOf = new Map<string, string>()

for (const [name, path] of Object.entries(QUESTIONS))
  test(`the key of ${name} opens it on both nodes`, async () => {
    const address = HOME + path
    const key = await makeKey(address)
    keysOf.set(address, key)
    for (const node of nodes) {
      assert.equal(await statusOf(withKey(address, key), { node }), 200)
      assert.equal(await statusOf(address, { node, headers: basic(key) }), 200)
    }
  })

for (const [name, path] of Object.entries(QUESTIONS))
  test(`replayed: the key of ${name} opens none of the other questions`, async () => {
    const key = keysOf.get(HOME + path) ?? ''
    for (const other of keysOf.keys()) if (other !== HOME + path) await assertRefused(other, key)
  })

const SUMS = `${HOME}/sums?format=csv&group_by=country_code`
const WIDER = {
  'a further parameter': `${SUMS}&counts=cases`,
  'a filter less': `${HOME}/sums?format=csv`,
  'no parameter at all': `${HOME}/sums`,
  'another value': SUMS.replace('country_code', 'event'),
  'a value in capitals': SUMS.replace('csv', 'CSV'),
  'the same parameter twice': `${SUMS}&group_by=country_code`,
  'another format': SUMS.replace('csv', 'json'),
  'another release': `${SUMS}&release=1`,
  'further columns': `${SUMS}&columns=records`,
  'the next page of records': `${HOME}/outbreaks?page=x`,
  'an empty parameter': `${SUMS}&`.replace('&&', '&').concat('q='),
  'a slash at the end of the path': SUMS.replace('sums?', 'sums/?'),
  'two slashes': SUMS.replace('/sums', '//sums'),
  'an encoded letter of the path': SUMS.replace('/sums', '/%73ums'),
  'a step up in the path': SUMS.replace('/sums', '/sums/%2e%2e/outbreaks'),
  'a path of version 1': SUMS.replace('/v2/', '/v1/'),
  'another dataset': SUMS.replace('hed-outbreaks', 'wastewater'),
  'a semicolon instead of an ampersand': SUMS.replace('&', ';'),
  'a second question mark': SUMS.replace('&', '?'),
  'a NUL in a value': `${SUMS}%00`,
  'a byte that is no text': `${SUMS}%ff`,
  'a parameter in brackets': `${SUMS}&group_by[]=event`,
  'the files of the release': `${HOME}/releases/1/files/hed-outbreaks-1.csv.gz`,
  'the making of links': `${HOME}/link?url=${encodeURIComponent(SUMS)}`,
  'who am I': '/v2/whoami',
  'a token': '/oauth/token',
}
for (const [name, address] of Object.entries(WIDER))
  test(`widened: ${name}`, async () => {
    const key = await makeKey(SUMS)
    assert.equal(await statusOf(withKey(SUMS, key)), 200)
    await assertRefused(address, key)
  })

test('widened: another method', async () => {
  const key = await makeKey(SUMS)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'])
    assert.ok([401, 404, 405].includes(await statusOf(withKey(SUMS, key), { method })), method)
})

test('a key beside a credential does not help it, and a key in the address does not help one in a header', async () => {
  const [key, other] = [await makeKey(SUMS), await makeKey(`${HOME}/facets?format=csv`)]
  assert.equal(await statusOf(withKey(SUMS, key), { headers: { authorization: 'Bearer x' } }), 401)
  assert.equal(await statusOf(withKey(SUMS, key), { headers: basic(other) }), 401)
  assert.equal(await statusOf(withKey(SUMS, other), { headers: basic(key) }), 200)
  assert.equal(await statusOf(withKey(SUMS, other), { headers: { authorization: `Bearer ${token}` } }), 200)
})

const id = () => credentials.client_id
const encode = (text: string) => Buffer.from(text).toString('base64url')
const key32 = (seed: string) => createHmac('sha256', 'another secret').update(seed).digest()
const assemble = (signature: string, { client = id(), expiry = 4_000_000_000 } = {}) =>
  ['obk1', encode(client), expiry, signature].join('.')
const mac = (secret: Buffer, text: string) => createHmac('sha256', secret).update(text).digest('base64url')
const content = (generation: number, expiry = 4_000_000_000) => JSON.stringify([id(), generation, expiry, SUMS])
const secretBytes = () => Buffer.from(settings.secret, 'base64url')

/** Each makes ten keys. */
const FORGERIES: Record<string, (i: number) => string> = {
  'random signatures': () => assemble(randomBytes(32).toString('base64url')),
  'another secret': (i) => assemble(mac(key32(String(i)), content(1))),
  'the secret itself instead of its key for links': (i) => assemble(mac(secretBytes(), content(i))),
  'a key of the same secret for something else': (i) =>
    assemble(
      mac(
        deriveKeys(
          [secretBytes()],
          ['signing keys', 'cursors', 'links', 'sessions', 'link key', '', 'link keys ', 'a', 'b', 'c'][i] ?? '',
        )[0],
        content(1),
      ),
    ),
  'an empty HMAC key': (i) => assemble(mac(Buffer.alloc(i), content(1))),
  'a generation before or after': (i) => sign(SUMS, { generation: i < 5 ? i - 5 : i }),
  'another client, signed by nobody': (i) => {
    const [, , expiry, signature] = sign(SUMS).split('.')
    return ['obk1', encode(`client-${i}`), expiry, signature].join('.')
  },
  'a client that does not exist': (i) => sign(SUMS, { clientId: `client-${i}` }),
  'names of objects of JavaScript as client': (i) =>
    sign(SUMS, {
      clientId:
        ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '', '0', 'null', 'undefined', 'true'][
          i
        ] ?? '',
    }),
  'a later expiry with the signature of an earlier one': (i) => {
    const [name, client, expiry, signature] = sign(SUMS, { expiry: 3_000_000_000 }).split('.')
    return [name, client, Number(expiry) + 1 + i, signature].join('.')
  },
  'an expiry in another notation': (i) => {
    const [name, client, expiry, signature] = sign(SUMS).split('.')
    const forms = ['+4000000000', '4e9', '0x EE6B2800', ' 4000000000', '4000000000 ', '04000000000', '4000000000.0']
    return [name, client, [...forms, '-4000000000', 'Infinity', 'NaN'][i] ?? expiry, signature].join('.')
  },
  'a truncated signature': (i) => sign(SUMS).slice(0, -1 - i),
  'more after the signature': (i) => sign(SUMS) + '=.A-_ %\n\t~'.charAt(i),
}
for (const [name, forge] of Object.entries(FORGERIES))
  test(`forged: ${name}`, async () => {
    // The control: what the forgeries differ from opens the address.
    assert.equal(await statusOf(withKey(SUMS, sign(SUMS))), 200)
    for (let i = 0; i < 10; i++) await assertRefused(SUMS, forge(i), nodes[i % 2])
  })

test('forged: a key of another dataset, signed by this service', async () => {
  await assertRefused(SUMS, sign(SUMS.replace('hed-outbreaks', 'wastewater')))
})

test('expired: thirty keys, from a second ago to many years', async () => {
  const now = Math.floor(Date.now() / 1000)
  for (let i = 0; i < 30; i++)
    await assertRefused(SUMS, sign(SUMS, { expiry: Math.max(1_000_000_000, now - 3 ** i) }), nodes[i % 2])
  assert.equal(await statusOf(withKey(SUMS, sign(SUMS, { expiry: now + 60 }))), 200)
})

/** Milliseconds until every node rejects a link that all of them opened. */
async function timeRefusal(address: string, revoke: () => Promise<unknown>): Promise<number> {
  for (const node of nodes) assert.equal(await statusOf(address, { node }), 200)
  await revoke()
  const startedAt = performance.now()
  for (const node of nodes) {
    while (![401, 403].includes(await statusOf(address, { node }))) {
      assert.ok(performance.now() - startedAt < LIVENESS_MS)
      await wait(20)
    }
  }
  return Math.round(performance.now() - startedAt)
}

/** The nodes learn of a new client within two seconds. */
async function waitForToken(client: Credentials): Promise<string> {
  await wait(2000)
  return obtainToken(client, `${nodes[0]?.baseUrl}/oauth/token`, nodes[0]?.baseUrl ?? '')
}

interface Revocation {
  readonly how: string
  readonly revoke: (clientId: string) => Promise<unknown>
  /** What comes after must not bring the links back. */
  readonly afterwards?: (clientId: string) => Promise<unknown>
}

const REVOCATIONS: Revocation[] = [
  {
    how: 'a disabled client, even after it is enabled again',
    revoke: (clientId) => outbreakctl(settings, 'client', 'disable', clientId),
    afterwards: (clientId) => outbreakctl(settings, 'client', 'enable', clientId),
  },
  {
    how: 'a new secret without overlap',
    revoke: (clientId) => outbreakctl(settings, 'client', 'rotate', clientId, '--overlap', '0'),
  },
  {
    how: 'a scope that was taken away',
    revoke: (clientId) =>
      runSql(settings.databaseUrl, `update client set scopes = '{other}' where client_id = $1`, [clientId]),
  },
]
for (const { how, revoke, afterwards } of REVOCATIONS)
  test(`revoked on both nodes: ${how}`, async (t) => {
    const client = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Workbook')
    const own = await waitForToken(client)
    const addresses = Object.values(QUESTIONS).map((path) => HOME + path)
    const links = await Promise.all(addresses.map(async (address) => withKey(address, await makeKey(address, own))))
    const ms = await timeRefusal(links[0] ?? '', () => revoke(client.client_id))
    t.diagnostic(`both nodes refused ${ms} ms after the command`)
    // 2 s is what we promise; the bound leaves room for a busy machine.
    assert.ok(ms < 10_000)
    if (afterwards !== undefined) {
      await afterwards(client.client_id)
      await wait(2000)
    }
    for (const link of links)
      for (const node of nodes) {
        assert.ok([401, 403].includes(await statusOf(link, { node })), link)
        refusals += 1
      }
  })

test('a new secret with overlap leaves the links', async () => {
  const client = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Workbook')
  const own = await waitForToken(client)
  const link = withKey(SUMS, await makeKey(SUMS, own))
  await outbreakctl(settings, 'client', 'rotate', client.client_id, '--overlap', '1')
  await wait(2000)
  assert.equal(await statusOf(link), 200)
})

test('links count against the quota of their client', async () => {
  const limited = await startService(settings, { OUTBREAKS_RATE_LIMIT: '3' })
  try {
    const own = await obtainToken(credentials, `${limited.baseUrl}/oauth/token`, limited.baseUrl)
    const address = `${SUMS}&key=${sign(SUMS)}`
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push(await statusOf(address, { node: limited }))
    assert.equal(statuses[0], 200)
    assert.equal(statuses.at(-1), 429)
    assert.equal(await statusOf(SUMS, { node: limited, headers: { authorization: `Bearer ${own}` } }), 429)
  } finally {
    await limited.stop()
  }
})

test('no log, trace, metric or audit row of all this has a key', async (t) => {
  await wait(1000)
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const audit = JSON.stringify(await runSql(settings.databaseUrl, 'select * from audit_event'))
  const written: Record<string, string> = {
    traces,
    metrics,
    audit,
    ...Object.fromEntries(nodes.map((node, i) => [`log ${i}`, node.output()])),
  }
  // Each has something in it, or the search would prove nothing.
  assert.match(traces, /GET \/v2\/hed-outbreaks\/sums/)
  assert.match(metrics, /outbreaks_/)
  assert.match(audit, /client disable/)
  assert.match(written['log 0'] ?? '', /hed-outbreaks\/sums/)
  for (const [where, text] of Object.entries(written)) {
    assert.equal(text.includes('obk1'), false, where)
    for (const key of tried) {
      const signature = key.split('.')[3] ?? ''
      if (signature.length > 20) assert.equal(text.includes(signature.slice(0, 20)), false, where)
    }
  }
  t.diagnostic(`${refusals} attempts with ${tried.size} keys: 0 accepted`)
  assert.ok(refusals >= 300 && tried.size >= 200, `${refusals} ${tried.size}`)
})
