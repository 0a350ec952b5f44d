// Every operation of the OpenAPI document has an example, and every example works on the sample.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

interface Parameter {
  name: string
  in: 'path' | 'query'
  required?: boolean
  example?: unknown
  schema: { items?: { examples?: unknown[] } }
}
interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { example?: Record<string, string> }> }
}
interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { examples?: Record<string, unknown>[] }> }
}

/** These have no parameter with an example: the operation is its own example. */
const WITHOUT_PARAMETERS = ['/v2/whoami', '/v2/hed-outbreaks/notices']
/** It needs a link with a key, which only a service makes. */
const NEEDS_LINK = '/v2/hed-outbreaks/oembed'
/** The sample may have a single release, which has no changes. */
const MAY_BE_EMPTY = ['/v2/hed-outbreaks/changes']

const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-examples-'))
after(() => rm(files, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())
let service: Service
let token: string
let description: Description
let credentials: Awaited<ReturnType<typeof prepareDatabase>>
before(async () => {
  process.env['OUTBREAKS_FILES'] = files
  credentials = await prepareDatabase(settings, path.resolve(import.meta.dirname, '../../../sample/releases/1'))
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  description = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Description
})
after(() => service.stop())

const get = (address: string, method = 'GET') =>
  fetch(service.baseUrl + address, {
    method,
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })

/** The URL with the examples of all parameters. */
function fillIn(template: string, parameters: readonly Parameter[]): string {
  const query = new URLSearchParams()
  let filled = template
  for (const { name, in: place, example } of parameters) {
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(example)))
    else if (example !== undefined) for (const value of [example].flat()) query.append(name, String(value))
  }
  return `${filled}?${query.toString()}`
}

async function fillInLink(template: string): Promise<string> {
  const made = await get(`/v2/hed-outbreaks/link?${new URLSearchParams({ url: '/v2/hed-outbreaks/embed' }).toString()}`)
  const { url } = (await made.json()) as { url: string }
  return `${template}?${new URLSearchParams({ url }).toString()}`
}

const isEmpty = (body: unknown): boolean => {
  const content = Array.isArray(body) ? body : ((body as { data?: unknown[] }).data ?? Object.keys(body as object))
  return content.length === 0
}

test('every GET has an example of a parameter, and all examples of an operation together return data', async (t) => {
  let operations = 0
  for (const [template, methods] of Object.entries(description.paths)) {
    const { parameters = [] } = methods['get'] ?? {}
    // The notifier answers them; a service without one has none.
    if (methods['get'] === undefined || /\/(watches|endpoints)(\/|$)/.test(template)) continue
    const missing = parameters
      .filter(({ in: place, required }) => place === 'path' || required)
      .filter(({ example }) => example === undefined)
    assert.deepEqual(missing, [], `${template} has a required parameter without an example`)
    if (!WITHOUT_PARAMETERS.includes(template))
      assert.ok(
        parameters.some(({ example }) => example !== undefined),
        `${template} has no example`,
      )
    const address = template === NEEDS_LINK ? await fillInLink(template) : fillIn(template, parameters)
    const response = await get(address)
    const text = await response.text()
    assert.equal(response.status, 200, `${address}: ${text}`)
    if (response.headers.get('content-type')?.startsWith('application/json') && !MAY_BE_EMPTY.includes(template))
      assert.equal(isEmpty(JSON.parse(text)), false, address)
    assert.notEqual(text, '', address)
    operations++
  }
  t.diagnostic(`${operations} operations`)
  assert.ok(operations > 10)
})

test('the example of each value of a filter matches a record', async () => {
  const { parameters = [] } = description.paths['/v2/hed-outbreaks/outbreaks']?.['get'] ?? {}
  const filters = parameters.filter(({ schema }) => schema.items?.examples !== undefined)
  assert.ok(filters.length > 10)
  for (const { name, schema } of filters) {
    const query = new URLSearchParams({ [name]: String(schema.items?.examples?.[0]), num: '1' })
    const body = (await (await get(`/v2/hed-outbreaks/outbreaks?${query.toString()}`)).json()) as { data?: unknown[] }
    assert.equal(body.data?.length, 1, query.toString())
  }
})

test('the example record is a record of the sample', async () => {
  const [example = {}] = description.components.schemas['OutbreakRecord']?.examples ?? []
  const response = await get(`/v2/hed-outbreaks/outbreaks?event=${String(example['event'])}`)
  const { data } = (await response.json()) as { data: Record<string, unknown>[] }
  const content = (record: Record<string, unknown>) =>
    Object.fromEntries(hedOutbreaks.content.map(({ name }) => [name, record[name]]))
  assert.deepEqual(data.map(content), [content(example)])
  assert.deepEqual(Object.keys(example), Object.keys(data[0] ?? {}))
})

test('the example of a token request has the audience of this service and works with the credentials of a client', async () => {
  const { client_id, client_secret } = credentials
  const body = description.paths['/oauth/token']?.['post']?.requestBody?.content['application/json']?.example
  assert.equal(body?.['audience'], service.baseUrl)
  const response = await fetch(`${service.baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, client_id, client_secret }),
  })
  assert.equal(response.status, 200, await response.text())
})

test('an error about the audience names the right one', async () => {
  const { client_id, client_secret } = credentials
  const response = await fetch(`${service.baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience: 'https://x.test', grant_type: 'client_credentials' }),
  })
  const { error, error_description } = (await response.json()) as Record<string, string>
  assert.deepEqual([response.status, error], [400, 'invalid_target'])
  assert.ok(error_description?.endsWith(` ${service.baseUrl}`), error_description)
})
