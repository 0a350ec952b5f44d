// What a response may reveal or share: no shared cache may store it, `Link` is of one's own request even if another client's page
// is sent again, and no combination of filters or form of the target is a 5xx. On a spawned service with two clients.
// test/journeys/http/cache-control.test.ts has the values of Cache-Control, request-target.test.ts the forms of the target.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  startService,
} from '../../../dev/service.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { fc } from '../../seed.ts'

const HOME = '/v2/hed-outbreaks'
const sample = path.resolve(import.meta.dirname, '../../../sample/releases/1')
const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-responses-'))
after(() => rm(files, { recursive: true, force: true }))

let service: Service
let tokens: [string, string]
before(async () => {
  process.env['OUTBREAKS_FILES'] = files
  const settings = newSettings(await createTestDatabase())
  const first = await prepareDatabase(settings, sample)
  const second = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Second client')
  service = await startService(settings)
  const obtain = (credentials: Credentials) =>
    obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  tokens = [await obtain(first), await obtain(second)]
})
after(() => service.stop())

const send = (target: string, token: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(service.baseUrl + target, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: AbortSignal.timeout(10_000),
    redirect: 'manual',
  })

interface Operation {
  operationId: string
  security?: unknown[]
  parameters?: { name: string; in: string; required?: boolean }[]
  responses: Record<string, { content?: Record<string, unknown> }>
}
const examples: Record<string, string> = {
  url: '/v2/hed-outbreaks/facets',
  ...{ id: '1', number: '1', name: 'hed-outbreaks-1.csv.gz', from: '1', by: 'event', interval: 'month', q: 'ebola' },
  ...{ event: 'Ebola_DRC_2018', count: 'cases' },
}

/** The notifier answers them; a service without one has none. */
const OF_THE_NOTIFIER = /\/(watches|endpoints)(\/|$)/

/** The operations that need a token, from the committed description. */
function listTargets() {
  const description = JSON.parse(
    readFileSync(path.resolve(import.meta.dirname, '../../../docs/openapi.json'), 'utf8'),
  ) as { paths: Record<string, Record<string, Operation>> }
  const ofNodes = Object.entries(description.paths).filter(([template]) => !OF_THE_NOTIFIER.test(template))
  return ofNodes.flatMap(([template, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security?.length !== 0)
      .map(([method, { operationId, parameters = [], responses }]) => {
        const names = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name)
        const query = ['from', 'by', 'interval', 'q', 'event', 'url'].filter((name) => names.includes(name))
        const pathname = template.replace(/\{(\w+)\}/g, (_, name: string) => examples[name] ?? '1')
        const target = `${pathname}?${new URLSearchParams(query.map((name): [string, string] => [name, examples[name] ?? '']))}`
        const types = Object.keys(responses['200']?.content ?? {}).filter((type) => !type.includes('*'))
        return { operationId, method: method.toUpperCase(), target, types: [...types, '*/*', 'text/html', ''] }
      }),
  )
}

const PRIVATE = /(^|[ ,])(private|no-store)($|[ ,])/
/** They differ between two requests, and say nothing about another client. */
const OWN_HEADERS = new Set(['date', 'ratelimit', 'ratelimit-policy', 'x-request-id', 'connection', 'keep-alive'])

for (const encoding of ['gzip', 'identity']) {
  test(`every 200 of every operation is private, for all media types with ${encoding}, also when it is cached`, async (t) => {
    const targets = listTargets()
    assert.ok(targets.length >= 20, `${targets.length} operations`)
    for (const { operationId, method, target, types } of targets) {
      await t.test(operationId, async () => {
        for (const accept of types)
          for (let round = 0; round < 3; round++)
            for (const token of tokens) {
              const response = await send(target, token, { accept, 'accept-encoding': encoding }, method)
              await response.arrayBuffer()
              assert.equal(response.status, 200, `${target} ${accept}`)
              assert.match(response.headers.get('cache-control') ?? '', PRIVATE, `${target} ${accept}`)
            }
      })
    }
  })
}

test('control: the documents that need no token may be stored, so the header is a decision of each route', async () => {
  const response = await send('/.well-known/jwks.json', tokens[0])
  await response.arrayBuffer()
  assert.doesNotMatch(response.headers.get('cache-control') ?? '', PRIVATE)
})

/** Different spellings of queries that share one cached page. */
const spellings = [
  ['num=1&event=Ebola_West_Africa_2014', 'event=Ebola_West_Africa_2014&num=1', 'event=Ebola%5FWest_Africa_2014&num=1'],
  ['num=2', 'num=2&release=latest', 'release=1&num=2'],
  ['num=1&country_code=CD&country_code=UG', 'country_code=UG&num=1&country_code=CD'],
]

test('Link is of one’s own request, for two clients that share cached pages', async () => {
  const seen = new Set<string>()
  for (let round = 0; round < 4; round++)
    for (const [i, token] of tokens.entries())
      for (const query of spellings.flat()) {
        const own = `${HOME}/outbreaks?${query}`
        const response = await send(own, token)
        await response.arrayBuffer()
        const next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
        assert.ok(next !== undefined, own)
        const link = new URL(next)
        assert.equal(link.origin + link.pathname, `${service.baseUrl}${HOME}/outbreaks`)
        link.searchParams.delete('page')
        const asked = new URL(own, service.baseUrl).searchParams
        // The cursor has the release of the first page.
        for (const parameters of [link.searchParams, asked]) parameters.delete('release')
        assert.equal(link.searchParams.toString(), asked.toString(), `client ${i}, round ${round}`)
        seen.add(next.replace(/page=[^&]+/, ''))
      }
  assert.ok(seen.size >= 6, `${seen.size} different links`)
})

test('two clients get the same bytes and headers for one URL, except for their quota', async () => {
  const target = `${HOME}/outbreaks?num=5`
  const read = async (token: string) => {
    const response = await send(target, token)
    const headers = [...response.headers].filter(([name]) => !OWN_HEADERS.has(name))
    return { headers, text: await response.text() }
  }
  const first = await read(tokens[0])
  for (let round = 0; round < 3; round++) for (const token of tokens) assert.deepEqual(await read(token), first)
})

test('whoami is never shared: each client gets its own', async () => {
  const ids = new Set<string>()
  for (let round = 0; round < 3; round++)
    for (const token of tokens)
      ids.add(((await (await send('/v2/whoami', token)).json()) as { client_id: string }).client_id)
  assert.equal(ids.size, 2)
})

/** Sends a target in any form on a socket and gives the status. */
async function statusOf(target: string): Promise<number> {
  const { hostname, port, host } = new URL(service.baseUrl)
  const socket = connect(Number(port), hostname).setTimeout(10_000, () => socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece
  })
  socket.on('error', () => {})
  socket.write(
    `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${tokens[0]}\r\nconnection: close\r\n\r\n`,
  )
  await once(socket, 'close')
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
}

test('facets with any subset of filters, as a path and in absolute form: never a 5xx', () => {
  const { facets } = hedOutbreaks
  const values = { event: 'Ebola_DRC_2018', country_code: 'CD', case_status: 'confirmed', count_kind: 'cumulative' }
  return fc.assert(
    fc.asyncProperty(fc.subarray([...facets]), fc.boolean(), async (names, absolute) => {
      const known: Record<string, string> = values
      const query = new URLSearchParams(names.map((name): [string, string] => [name, known[name] ?? 'x']))
      const target = `${absolute ? 'http://elsewhere.test' : ''}${HOME}/facets?${query}`
      const status = await statusOf(target)
      // `x` is not a value of a field with a closed list.
      assert.ok([200, 400].includes(status), `${status}: ${target}`)
    }),
    { numRuns: 40 },
  )
})
