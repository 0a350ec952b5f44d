// Traces: off by default; with an exporter, a request continues the trace of its client, its queries are spans below it, and
// PostgreSQL sees the trace.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { newSettings, prepareDatabase, startService } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { waitUntil } from '../fixtures/operate/program.ts'

interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  status: { code?: number }
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const received: ReceivedSpan[] = []
/** A receiver of OTLP over HTTP. */
const receiver = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  request.on('end', () => {
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[] }
    for (const { scopeSpans } of resourceSpans) for (const { spans } of scopeSpans) received.push(...spans)
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
after(() => receiver.close())
const { port } = receiver.address() as AddressInfo
const settings = newSettings(await createEmptyDatabase())
const credentials = await prepareDatabase(settings, path.resolve(import.meta.dirname, '../../sample/releases/1'))
const node = await startService(settings, {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  OTEL_BSP_SCHEDULE_DELAY: '200',
  OUTBREAKS_CACHE_MB: '0',
})
after(node.stop)
const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)
const get = (address: string, headers: Record<string, string> = {}) =>
  fetch(node.baseUrl + address, { headers: { authorization: `Bearer ${token}`, ...headers } })
const valueOf = ({ attributes }: ReceivedSpan, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value
  return value?.stringValue ?? value?.intValue
}

test('a request continues the trace of its client, and its queries are below it', async () => {
  const response = await get('/v2/hed-outbreaks/outbreaks?num=5', { traceparent: `00-${TRACE}-${PARENT}-01` })
  assert.equal(response.status, 200)
  const request = await waitUntil('the span', async () => received.find(({ parentSpanId }) => parentSpanId === PARENT))
  assert.equal(request.traceId, TRACE)
  assert.equal(request.name, 'GET /v2/hed-outbreaks/outbreaks')
  assert.equal(valueOf(request, 'http.response.status_code'), 200)
  assert.equal(valueOf(request, 'outbreaks.request_id'), response.headers.get('x-request-id'))
  const queries = received.filter(({ parentSpanId }) => parentSpanId === request.spanId)
  assert.ok(queries.length > 0, 'no span of a query')
  for (const { traceId } of queries) assert.equal(traceId, TRACE)
})

test('a request without a trace begins one; an invalid one is ignored', async () => {
  for (const traceparent of ['', '00-xyz', `00-${'0'.repeat(32)}-${PARENT}-01`]) {
    received.length = 0
    await get('/v2/hed-outbreaks/outbreaks?num=6', traceparent === '' ? {} : { traceparent })
    const span = await waitUntil('the span', async () => received.find(({ name }) => name.startsWith('GET /v2')))
    assert.match(span.traceId, /^[0-9a-f]{32}$/)
    assert.equal(span.parentSpanId ?? '', '')
  }
})

test('no span has a token, a secret or a query string', async () => {
  await get('/v2/hed-outbreaks/outbreaks?event=canary0value')
  await waitUntil('spans', async () => received.length > 2)
  const text = JSON.stringify(received)
  for (const secret of [token, credentials.client_secret, settings.secret, 'canary0value'])
    assert.ok(!text.includes(secret))
})

test('PostgreSQL sees the trace of a running statement', async () => {
  const superuser = new pg.Client(settings.databaseUrl)
  await superuser.connect()
  await get('/v2/hed-outbreaks/outbreaks?num=7', { traceparent: `00-${TRACE}-${PARENT}-01` })
  const { rows } = await superuser.query<{ query: string }>(
    `select query from pg_stat_activity where application_name = 'outbreaks_api' and query like '%traceparent=00-${TRACE}%'`,
  )
  await superuser.end()
  assert.ok(rows.length > 0)
})

test('without a receiver the node serves, and stops within seconds', async () => {
  const alone = await startService(settings, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  const own = await obtainToken(credentials, `${alone.baseUrl}/oauth/token`, alone.baseUrl)
  const response = await fetch(`${alone.baseUrl}/v2/hed-outbreaks/outbreaks?num=1`, {
    headers: { authorization: `Bearer ${own}` },
  })
  assert.equal(response.status, 200)
  const startedAt = performance.now()
  await alone.stop()
  assert.ok(performance.now() - startedAt < 15_000)
})
