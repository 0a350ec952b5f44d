// A spliced body is one gzip member, and every program decompresses it to exactly the text of its parts.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { type DeflatedText, encodeChunk } from '../../../src/storage/chunk.ts'
import { countBytes, type Part, writeGzip, writeIdentity } from '../../../src/storage/gzip-splice.ts'
import { fc } from '../../seed.ts'

const run = promisify(execFile)
const RECORDS = 1150
const bodies = Array.from({ length: RECORDS }, (_, i) =>
  JSON.stringify({ id: i + 1, event: `Épidémie_${i % 11}`, note: 'x'.repeat((i * 37) % 400), extra: { ключ: i } }),
)
const chunks: DeflatedText[] = []
for (let i = 0; i < RECORDS; i += 100) chunks.push(await encodeChunk(bodies.slice(i, i + 100).join(',\n')))

/** The records from `from` to `to` (exclusive): complete chunks compressed, the others as text. */
function createParts(from: number, to: number): Part[] {
  const parts: Part[] = ['{"data":[']
  for (let at = from; at < to; ) {
    const end = Math.min(to, at - (at % 100) + 100)
    const isCompleteChunk = at % 100 === 0 && (end % 100 === 0 || end === RECORDS)
    parts.push((isCompleteChunk && chunks[at / 100]) || bodies.slice(at, end).join(',\n'))
    at = end
    if (at < to) parts.push(',\n')
  }
  return [...parts, `],"next_page":"${to}"}`]
}
const textOf = (from: number, to: number) => `{"data":[${bodies.slice(from, to).join(',\n')}],"next_page":"${to}"}`
const ranges = fc.tuple(fc.nat(RECORDS), fc.nat(RECORDS)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)

test('gzip and identity give the same text, for hundreds of ranges', () =>
  fc.assert(
    fc.asyncProperty(ranges, async ([from, to]) => {
      const parts = createParts(from, to)
      const text = textOf(from, to)
      assert.equal(writeIdentity(parts).toString(), text)
      assert.equal(gunzipSync(await writeGzip(parts)).toString(), text)
    }),
    { numRuns: 500 },
  ))

test('parts of any kind and length in any order give their text', async () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3000 }),
    fc.constantFrom('', 'a', '€'.repeat(1024), '€'.repeat(1025), '"'.repeat(70_000), '\u{1F9A0}'.repeat(300_000)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(texts, fc.boolean()), { maxLength: 12 }), async (described) => {
      const parts = await Promise.all(
        described.map(async ([text, compressed]) => (compressed && text !== '' ? encodeChunk(text) : text)),
      )
      const expected = Buffer.from(described.map(([text]) => text).join(''))
      assert.ok(writeIdentity(parts).equals(expected))
      assert.equal(countBytes(parts), expected.length)
      assert.ok(gunzipSync(await writeGzip(parts)).equals(expected))
    }),
    { numRuns: 300 },
  )
})

test('a damaged chunk makes the plain body fail, and decompressing the gzip body fails', async () => {
  const [chunk] = chunks
  assert.ok(chunk)
  const deflated = Buffer.from(chunk.deflated)
  deflated[200] = (deflated[200] ?? 0) ^ 4
  const parts = ['[', { ...chunk, deflated }, ']']
  assert.throws(() => writeIdentity(parts), /a chunk is damaged/)
  const compressed = await writeGzip(parts)
  assert.throws(() => gunzipSync(compressed))
})

const exampleRanges = [
  [0, 0],
  [0, RECORDS],
  [0, 1000],
  [1, 1000],
  [99, 101],
  [100, 200],
  [1100, RECORDS],
  [250, 251],
] as const

test('gzip and Python read a spliced body as one member', async () => {
  const home = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-splice-'))
  after(() => rm(home, { recursive: true }))
  const files = exampleRanges.map(([from, to]) => path.join(home, `${from}-${to}.gz`))
  for (const [i, [from, to]] of exampleRanges.entries()) {
    await writeFile(files[i] ?? '', await writeGzip(createParts(from, to)))
    await writeFile(`${files[i]}.txt`, textOf(from, to))
  }
  await run('gzip', ['-t', ...files])
  const oracle = `
import gzip, sys, zlib
for name in sys.argv[1:]:
    packed, text = open(name, 'rb').read(), open(name + '.txt', 'rb').read()
    assert gzip.decompress(packed) == text, name
    member = zlib.decompressobj(wbits=31)
    assert member.decompress(packed) == text and member.eof and member.unused_data == b'', name
print(len(sys.argv) - 1)`
  const { stdout } = await run('python3', ['-c', oracle, ...files])
  assert.equal(Number(stdout), exampleRanges.length)
})

test('curl and fetch decompress a spliced body over HTTP', async () => {
  const server = createServer((request, response) => {
    const [from = 0, to = 0] = (request.url ?? '').slice(1).split('-').map(Number)
    void writeGzip(createParts(from, to)).then((body) =>
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const { port } = server.address() as AddressInfo
  for (const [from, to] of exampleRanges) {
    const address = `http://127.0.0.1:${port}/${from}-${to}`
    assert.equal(await (await fetch(address)).text(), textOf(from, to))
    const { stdout } = await run('curl', ['-sS', '--compressed', '--max-time', '10', address], { maxBuffer: 1 << 24 })
    assert.equal(stdout, textOf(from, to))
  }
})
