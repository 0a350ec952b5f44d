// Whatever a token opens is not for a shared cache: every authorised answer of every operation in the description says so.
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

const sample = path.resolve(import.meta.dirname, '../../../sample')
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

/** What stands in a path, and what an operation cannot do without. */
const inPath: Record<string, string> = { id: '1', number: '1', name: 'hed-outbreaks-1.csv' }
const needed: Record<string, string> = { from: '1', interval: 'month', mixed: 'warn', event: 'Ebola_DRC_2018' }
const neededBy = (parameters: readonly Parameter[]) => {
  const names = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name)
  return Object.entries(needed).filter(([name]) => names.includes(name))
}

/** An address for the operation, and one for each value of each parameter that lists its values. */
function* addressesOf(place: string, { parameters = [] }: Operation) {
  const filled = place.replace(/\{(\w+)\}/g, (_, name: string) => inPath[name] ?? assert.fail(`what is ${name}?`))
  const common = new URLSearchParams(neededBy(parameters))
  yield `${filled}?${common}`
  for (const { name, schema } of parameters)
    for (const value of schema.enum ?? []) {
      const query = new URLSearchParams(common)
      query.set(name, value)
      yield `${filled}?${query}`
    }
}

const send = (address: string, method: string, headers: Record<string, string> = {}) =>
  fetch(service.baseUrl + address, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: AbortSignal.timeout(10_000),
  })

function assertPrivate(response: Response, what: string) {
  const control = response.headers.get('cache-control') ?? ''
  assert.match(control, /(^|[ ,])(private|no-store)($|[ ,])/, `${what}: Cache-Control is "${control}"`)
}

test('every authorised answer is private or not stored at all', async () => {
  const description = await fetch(`${service.baseUrl}/openapi.json`, { signal: AbortSignal.timeout(10_000) })
  const { paths } = (await description.json()) as { paths: Record<string, Record<string, Operation>> }
  const asked: string[] = []
  for (const [place, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.security?.length === 0) continue
      for (const address of addressesOf(place, operation)) {
        const response = await send(address, method.toUpperCase())
        const what = `${method} ${address}`
        assert.equal(response.status, 200, `${what}: ${method === 'get' ? await response.text() : ''}`)
        assertPrivate(response, what)
        asked.push(what)
        const tag = response.headers.get('etag')
        if (tag !== null) {
          const same = await send(address, method.toUpperCase(), { 'if-none-match': tag })
          assert.equal(same.status, 304, what)
          assertPrivate(same, `${what}, 304`)
        }
      }
      const refused = await send(`${place.replace(/\{\w+\}/g, '1')}?unknown=1`, method.toUpperCase())
      assert.equal(refused.status, 400, place)
      assertPrivate(refused, `${method} ${place}, 400`)
    }
  for (const format of ['text', 'bibtex', 'csl-json'])
    assert.ok(
      asked.some((what) => what.includes(`format=${format}`)),
      format,
    )
  assert.ok(asked.length >= 20, `${asked.length} were asked`)
})
