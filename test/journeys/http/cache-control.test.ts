// Cache-Control: no shared cache may store a response to an authorised request, for every operation of the OpenAPI document.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

interface Parameter {
  name: string
  in: string
  schema: { enum?: string[] }
}
interface Operation {
  security?: unknown[]
  parameters?: Parameter[]
}

const sample = path.resolve(import.meta.dirname, '../../../sample/releases/1')
const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-cache-control-'))
after(() => rm(files, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())

let service: Service
let token: string
before(async () => {
  process.env['OUTBREAKS_FILES'] = files
  const credentials = await prepareDatabase(settings, sample)
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
})
after(() => service.stop())

/** Values of path parameters and of required query parameters. */
const pathValues: Record<string, string> = { id: '1', number: '1', name: 'hed-outbreaks-1.csv' }
const requiredValues: Record<string, string> = { from: '1', interval: 'month', event: 'Ebola_DRC_2018', q: 'ebola' }
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

test('every response to an authorised request is private or no-store', async () => {
  const description = await fetch(`${service.baseUrl}/openapi.json`, { signal: AbortSignal.timeout(10_000) })
  const { paths } = (await description.json()) as { paths: Record<string, Record<string, Operation>> }
  const sent: string[] = []
  for (const [template, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.security?.length === 0) continue
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
