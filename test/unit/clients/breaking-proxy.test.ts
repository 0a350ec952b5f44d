// The proxy of the torture test does what it says: a client without checks gets short and altered bodies from it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'

const PROXY = path.resolve(import.meta.dirname, '../../../clients/torture/proxy.ts')
const FILE = Buffer.alloc(5000, 'published ')
const REQUESTS = 600
const CONCURRENT = 30

const server = createServer((_, response) => response.end(FILE))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())

/** The status and what arrived, as a client without checks sees it. */
function read(url: string): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = request(url, { agent: false, timeout: 10_000 }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => resolve('broken'))
      incoming.on('end', () => {
        const body = Buffer.concat(chunks)
        if (incoming.statusCode !== 200) return resolve(String(incoming.statusCode))
        if (body.equals(FILE)) return resolve('right')
        return resolve(body.length < FILE.length ? 'short' : 'altered')
      })
    })
    outgoing.on('error', () => resolve('broken')).on('timeout', () => outgoing.destroy())
    outgoing.end()
  })
}

test('the proxy breaks, shortens and alters answers, and answers errors of its own', async () => {
  const child = spawn(process.execPath, [PROXY, `http://127.0.0.1:${(server.address() as AddressInfo).port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const address = line.toString().trim()
    const outcomes: Record<string, number> = {}
    const readMany = async (target: string, times: number) => {
      for (let i = 0; i < times; i += 1) {
        const outcome = await read(address + target)
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT }, () => readMany('/files/x', REQUESTS / CONCURRENT)))
    for (const outcome of ['right', 'short', 'altered', 'broken', '429', '502', '503'])
      assert.ok((outcomes[outcome] ?? 0) > 0, `${outcome}: ${JSON.stringify(outcomes)}`)

    const altered = outcomes['altered']
    await readMany('/without-checksum', 100)
    assert.equal(outcomes['altered'], altered, 'only bodies with a checksum are altered')

    const printed = once(child.stdout, 'data') as Promise<[Buffer]>
    child.kill('SIGTERM')
    const counts = JSON.parse((await printed)[0].toString()) as Record<string, number>
    assert.equal(Object.keys(counts).length, 11)
  } finally {
    child.kill('SIGKILL')
  }
})
