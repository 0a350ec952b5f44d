// The metrics server: which names of the node it accepts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, test } from 'node:test'
import { Registry } from 'prom-client'
import { startMetricsServer } from '../../../src/platform/metrics/metrics-server.ts'

const server = await startMetricsServer(new Registry(), '127.0.0.1', 0)
after(server.close)

async function statusWith(host: string): Promise<number | undefined> {
  const sent = request(`${server.address}/metrics`, { headers: { host }, timeout: 5000 }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

for (const host of ['127.0.0.1:9464', 'localhost:9464', 'node1:9464', '[::1]:9464', '10.0.0.7', 'LOCALHOST'])
  test(`200: Host ${host}`, async () => assert.equal(await statusWith(host), 200))

for (const host of [
  'evil.example',
  'evil.example:9464',
  '127.0.0.1.evil.example',
  'localhost.',
  'a b',
  'node1@evil.example',
])
  test(`421: Host ${host}, as after DNS rebinding`, async () => assert.equal(await statusWith(host), 421))
