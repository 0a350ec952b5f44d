// Cache-Control, for every operation of the OpenAPI document: no shared cache may store a response to an authorised request, and
// the client may use a response again without a request only if the URL names its release by number.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { buildExplorer } from '../../../explorer/build.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

interface Parameter {
  name: string
  in: string
  schema: { enum?: string[] }
}
interface Operation {
  operationId: string
  security?: unknown[]
  parameters?: Parameter[]
  responses: { 200: { content?: Record<string, unknown> } }
}

const sample = path.resolve(import.meta.dirname, '../../../sample/releases/1')
const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-cache-control-'))
after(() => rm(files, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())

let service: Service
let token: string
before(async () => {
  // Without it there are no pictures.
  await buildExplorer()
  process.env['OUTBREAKS_FILES'] = files
  const credentials = await prepareDatabase(settings, sample)
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
})
after(() => service.stop())

/** Values of path parameters and of required query parameters. */
const pathValues: Record<string, string> = { id: '1', number: '1', name: 'hed-outbreaks-1.csv.gz' }
const requiredValues: Record<string, string> = {
  from: '1',
  by: 'event',
  interval: 'month',
  url: '/v2/hed-outbreaks/facets',
  event: 'Ebola_DRC_2018',
  q: 'ebola',
}
const findRequired = (parameters: readonly Parameter[]) => {
  const names = parameters.filter(({ in: location }) => location === 'query').map(({ name }) => name)
  return Object.entries(requiredValues).filter(([name]) => names.includes(name))
}

/** A URL for the operation, and one for each value of each enum parameter. */
function* listUrls(template: string, { parameters = [] }: Operation) {
  const pathname = template.replace(
    /\{(\w+)\}/g,
    (_, name: string) => pathValues[name] ?? assert.fail(`no value for ${name}`),
  )
  const common = new URLSearchParams(findRequired(parameters))
  yield `${pathname}?${common}`
  for (const { name, schema } of parameters)
    for (const value of schema.enum ?? []) {
      const query = new URLSearchParams(common)
      query.set(name, value)
      yield `${pathname}?${query}`
    }
}

const send = (url: string, method: string, headers: Record<string, string> = {}) =>
  fetch(service.baseUrl + url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: AbortSignal.timeout(10_000),
  })

function assertPrivate(response: Response, title: string) {
  const control = response.headers.get('cache-control') ?? ''
  assert.match(control, /(^|[ ,])(private|no-store)($|[ ,])/, `${title}: Cache-Control is "${control}"`)
}

/** The notifier answers them; a service without one has none. */
const OF_THE_NOTIFIER = /\/(watches|endpoints)(\/|$)/

/** The operations that need a token. */
async function listOperations() {
  const description = await fetch(`${service.baseUrl}/openapi.json`, { signal: AbortSignal.timeout(10_000) })
  const { paths } = (await description.json()) as { paths: Record<string, Record<string, Operation>> }
  const ofNodes = Object.entries(paths).filter(([template]) => !OF_THE_NOTIFIER.test(template))
  return ofNodes.flatMap(([template, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security?.length !== 0)
      .map(([method, operation]) => ({ template, method, operation })),
  )
}

test('every response to an authorised request is private or no-store', async () => {
  const sent: string[] = []
  for (const { template, method, operation } of await listOperations()) {
    for (const url of listUrls(template, operation)) {
      const response = await send(url, method.toUpperCase())
      const title = `${method} ${url}`
      assert.equal(response.status, 200, `${title}: ${method === 'get' ? await response.text() : ''}`)
      assertPrivate(response, title)
      sent.push(title)
      const tag = response.headers.get('etag')
      if (tag !== null) {
        const notModified = await send(url, method.toUpperCase(), { 'if-none-match': tag })
        assert.equal(notModified.status, 304, title)
        assertPrivate(notModified, `${title}, 304`)
      }
    }
    const rejected = await send(`${template.replace(/\{\w+\}/g, '1')}?unknown=1`, method.toUpperCase())
    assert.equal(rejected.status, 400, template)
    assertPrivate(rejected, `${method} ${template}, 400`)
  }
  for (const format of ['text', 'bibtex', 'csl-json'])
    assert.ok(
      sent.some((title) => title.includes(`format=${format}`)),
      format,
    )
  assert.ok(sent.length >= 20, `${sent.length} requests`)
})

const IMMUTABLE = 'private, max-age=2592000, immutable'
/** Their responses change although the release is named: synonyms, exported files, pruned releases, the quota, keys, a newer release. */
const NEVER = [
  ...['searchValues', 'listRecordVersions', 'listReleases', 'getRelease', 'getCurrentClient', 'makeLink', 'getFeed'],
  'listNotices',
  ...['getCroissant', 'getDataPackage', 'getDcat', 'getEmbed'],
]
/** The path has the number of the release. */
const ALWAYS = ['downloadFile', 'getFileHeaders']
const TODAY = new Date().toISOString().slice(0, 10)
const REFERENCES = ['1', 'latest', TODAY, null]

/** Every combination of references for the release parameters of an operation. */
function* combineReferences(names: readonly string[]): Generator<Record<string, string>> {
  const [name, ...rest] = names
  if (name === undefined) return void (yield {})
  for (const reference of REFERENCES)
    for (const more of combineReferences(rest)) yield reference === null ? more : { [name]: reference, ...more }
}

test('a response is immutable only if the URL names each release by number', async () => {
  const found = { immutable: 0, other: 0 }
  for (const { template, method, operation } of await listOperations()) {
    const { operationId, parameters = [], responses } = operation
    const names = parameters.map(({ name }) => name).filter((name) => ['release', 'from', 'to'].includes(name))
    assert.ok(
      names.length > 0 || [...NEVER, ...ALWAYS].includes(operationId),
      `${operationId} has no release parameter: list it in NEVER or ALWAYS`,
    )
    const [base = ''] = listUrls(template, operation)
    const types = Object.keys(responses[200].content ?? {}).filter((type) => !type.includes('*'))
    for (const references of combineReferences(names))
      for (const accept of [...types, '*/*']) {
        const url = new URL(base, service.baseUrl)
        if (operationId !== 'searchValues') url.searchParams.delete('q')
        if (names.includes('from')) url.searchParams.delete('from')
        for (const [name, reference] of Object.entries(references)) url.searchParams.set(name, reference)
        const title = `${method} ${url.pathname}${url.search} ${accept}`
        const response = await send(url.pathname + url.search, method.toUpperCase(), { accept })
        await response.arrayBuffer()
        const isNamed = names.length > 0 && names.every((name) => references[name] === '1')
        const isExpected = ALWAYS.includes(operationId) || (isNamed && !NEVER.includes(operationId))
        const control = response.headers.get('cache-control')
        if (response.status !== 200) {
          // `from` of changes is required.
          assert.deepEqual([operationId, response.status, references['from']], ['listChanges', 400, undefined], title)
          assert.equal(control, 'no-store', title)
        } else if (isExpected) assert.equal(control, IMMUTABLE, title)
        else assert.match(String(control), /^(private, no-cache|no-store)$/, title)
        found[isExpected ? 'immutable' : 'other']++
      }
  }
  assert.ok(found.immutable > 20 && found.other > 50, JSON.stringify(found))
})

for (const [title, url, status, control] of [
  ['a search among events depends on synonyms', '/v2/hed-outbreaks/events?release=1&q=ebola', 200, 'private, no-cache'],
  ['a record that the release lacks', '/v2/hed-outbreaks/outbreaks/999999999?release=1', 404, 'no-store'],
  ['a release that does not exist', '/v2/hed-outbreaks/outbreaks?release=99', 400, 'no-store'],
  ['a filter that is misspelt', '/v2/hed-outbreaks/series?release=1&interval=month&evnt=x', 400, 'no-store'],
] as const) {
  test(`not immutable: ${title}`, async () => {
    const response = await send(url, 'GET')
    assert.deepEqual([response.status, response.headers.get('cache-control')], [status, control])
  })
}

test('401 for an invalid token, also where a valid one gets an immutable response', async () => {
  const url = `${service.baseUrl}/v2/hed-outbreaks/outbreaks?release=1`
  assert.equal((await send('/v2/hed-outbreaks/outbreaks?release=1', 'GET')).headers.get('cache-control'), IMMUTABLE)
  const forged = await fetch(url, { headers: { authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` } })
  assert.deepEqual([forged.status, forged.headers.get('cache-control')], [401, 'no-store'])
})
