// The package as people install it: the archive of npm pack, unpacked where there is nothing of this repository but its dependencies.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { buildMcp } from '../../clients/mcp/build.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { startNode } from './node.ts'

const root = path.resolve(import.meta.dirname, '../..')
const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-mcp-'))
after(() => rmSync(directory, { recursive: true, force: true }))

await buildMcp()
const [packed] = JSON.parse(
  execFileSync(
    'npm',
    ['pack', path.join(root, 'clients/mcp'), '--json', '--ignore-scripts', '--pack-destination', directory],
    {
      cwd: directory,
      encoding: 'utf8',
      env: { ...process.env, npm_config_loglevel: 'error' },
    },
  ),
) as { filename: string; files: { path: string }[] }[]
const home = path.join(directory, 'node_modules/@outbreak-data/mcp')
mkdirSync(home, { recursive: true })
execFileSync('tar', ['-xzf', path.join(directory, packed?.filename ?? ''), '-C', home, '--strip-components=1'])
const manifest = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as {
  bin: Record<string, string>
  dependencies: Record<string, string>
}
for (const name of [...Object.keys(manifest.dependencies), '@modelcontextprotocol/core']) {
  const target = path.join(directory, 'node_modules', name)
  mkdirSync(path.dirname(target), { recursive: true })
  if (!existsSync(target)) symlinkSync(path.join(root, 'node_modules', name), target)
}
const program = path.join(home, manifest.bin['outbreak-mcp'] ?? '')

test('the archive has the program and nothing of the repository', () => {
  assert.deepEqual(packed?.files.map((file) => file.path).sort(), [
    'README.md',
    'dist/main.mjs',
    'dist/node.mjs',
    'package.json',
  ])
  const text = readFileSync(program, 'utf8')
  assert.ok(text.startsWith('#!/usr/bin/env node'))
  assert.equal(text.includes(root), false)
  assert.deepEqual(Object.keys(manifest.dependencies).sort(), ['@modelcontextprotocol/server', 'zod'])
})

test('the installed program answers', async () => {
  const node = await startNode([
    await writeNdjson([{ key: 'a', cases: 3, date_low: '2020-01-01', date_high: '2020-01-07' }]),
  ])
  const client = new Client({ name: 'installed', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: program,
      cwd: directory,
      env: { ...process.env, ...node.variables },
    }),
  )
  const { structuredContent } = await client.callTool({ name: 'count', arguments: { event: 'Cholera_Testland_2020' } })
  assert.equal((structuredContent as { outcome: string }).outcome, 'answer')
  await client.close()
})

test('without its variables the program ends with a sentence that names them', () => {
  const { OUTBREAKS_URL: _url, OUTBREAKS_CLIENT_ID: _id, OUTBREAKS_CLIENT_SECRET: _secret, ...others } = process.env
  const { status, stderr, stdout } = spawnSync(program, { env: others, encoding: 'utf8', timeout: 30_000 })
  assert.deepEqual([status, stdout], [2, ''])
  assert.match(stderr, /OUTBREAKS_URL is not set/)
})

test('a wrong secret is an error of the tool, without the secret', async () => {
  const node = await startNode([await writeNdjson([{ key: 'a' }])])
  const secret = 'ods_wrong-secret-that-must-not-appear'
  const client = new Client({ name: 'installed', version: '1' })
  const env = { ...process.env, ...node.variables, OUTBREAKS_CLIENT_SECRET: secret }
  await client.connect(new StdioClientTransport({ command: program, env }))
  const result = await client.callTool({ name: 'count', arguments: {} })
  assert.equal(result.isError, true)
  assert.match(JSON.stringify(result), /does not accept the credential/)
  assert.equal(JSON.stringify(result).includes(secret), false)
  await client.close()
})
