// SHA-256, lines and the package itself: against another implementation, at every place where the parts can be cut.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readLines } from '../../src/copy.ts'
import { Sha256, toHex } from '../../src/sha256.ts'

const expectedHash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('SHA-256 of every length up to three blocks', () => {
  for (let length = 0; length <= 192; length += 1) {
    const bytes = randomBytes(length)
    assert.equal(toHex(new Sha256().update(bytes).digest()), expectedHash(bytes), `${length} bytes`)
  }
})

test('SHA-256 of parts of any length', () => {
  for (let round = 0; round < 200; round += 1) {
    const bytes = randomBytes(Math.floor(Math.random() * 2000))
    const hash = new Sha256()
    for (let from = 0; from < bytes.length; ) {
      const length = Math.floor(Math.random() * 150)
      hash.update(bytes.subarray(from, from + length))
      from += length
    }
    assert.equal(toHex(hash.digest()), expectedHash(bytes), bytes.toString('hex'))
  }
})

test('SHA-256 of more than 512 MiB, whose length in bits needs more than 32 bits', () => {
  const part = Buffer.alloc(1 << 24, 'outbreak')
  const [ours, theirs] = [new Sha256(), createHash('sha256')]
  for (let i = 0; i < 33; i += 1) {
    ours.update(part)
    theirs.update(part)
  }
  assert.equal(toHex(ours.digest()), theirs.digest('hex'))
})

const text = '{"a":"é🦠"}\n\n\uFEFFx\r\nlast\n'

test('lines are the same wherever the bytes are cut', async () => {
  const bytes = Buffer.from(text)
  const expected = ['{"a":"é🦠"}', '', '\uFEFFx\r', 'last']
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
      assert.deepEqual(await Array.fromAsync(readLines(iterate(parts))), expected)
    }
  }
})

test('a text that ends within a line, or within a character, fails', async () => {
  await assert.rejects(Array.fromAsync(readLines(iterate([Buffer.from('a\nb')]))), /incomplete/)
  await assert.rejects(Array.fromAsync(readLines(iterate([Buffer.from('a\né\n').subarray(0, 3)]))))
  await assert.rejects(Array.fromAsync(readLines(iterate([Buffer.from([0x61, 0xff, 0x0a])]))))
})

async function* iterate(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}

test('the package for browsers imports nothing and is small', () => {
  const root = path.resolve(import.meta.dirname, '../..')
  const output = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-package-'))
  try {
    const compiler = path.resolve(root, '../../node_modules/@typescript/native/bin/tsc')
    execFileSync(process.execPath, [compiler, '-p', root, '--outDir', output, '--removeComments'], { stdio: 'inherit' })
    const files = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.js') && name !== 'node.js',
    )
    const read = (names: string[]) => names.map((name) => readFileSync(path.join(output, name), 'utf8')).join('')
    const code = read(files)
    assert.ok(files.includes('client.js'))
    assert.doesNotMatch(code, /from '[^.]|require\(/)
    // The curve is a module of its own. Not minified. npm run check:package minifies it and compares it with 8 KB.
    const bytes = gzipSync(read(files.filter((name) => name !== 'curve.js')).replaceAll(/^ +/gm, ''), {
      level: 9,
    }).length
    assert.ok(bytes < 11_000, `${bytes} bytes`)
  } finally {
    rmSync(output, { recursive: true, force: true })
  }
})
