// The protocol, judged by programs that we did not write: its conformance tool, and the official clients for TypeScript and Python,
// over HTTP and over stdio, in the newest revision and those of 2025. What cannot be installed is skipped and named.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startNode } from './node.ts'

const run = promisify(execFile)
const here = import.meta.dirname
const TOOLS = ['search', 'describe_event', 'count', 'curve', 'what_changed', 'records', 'cite']
const NEWEST = '2026-07-28'
const QUESTION = { q: 'sars' }
const CONFORMANCE = '@modelcontextprotocol/conformance@0.1.16'
/** The others need tools of a reference server, such as one that gives a picture. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
]
const INSTALL_MS = 300_000

/** A virtual environment with the official package, made once. Null if it cannot be. */
function findPython(): string | null {
  const given = process.env['MCP_PYTHON']
  const directory = path.join(os.tmpdir(), 'outbreaks-mcp-python')
  const python = given ?? path.join(directory, 'bin/python')
  const works = () => existsSync(python) && spawnSync(python, ['-c', 'import mcp, httpx2']).status === 0
  if (works()) return python
  if (given !== undefined) return null
  try {
    execFileSync('python3', ['-m', 'venv', directory], { timeout: INSTALL_MS, stdio: 'ignore' })
    const install = [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--require-hashes',
      '-r',
      path.join(here, 'requirements.txt'),
    ]
    execFileSync(path.join(directory, 'bin/pip'), install, { timeout: INSTALL_MS, stdio: 'ignore' })
  } catch {
    return null
  }
  return works() ? python : null
}

const python = findPython()
const skipPython =
  python === null && 'the Python package mcp is not installed: test/agents/requirements.txt, or MCP_PYTHON'
const scratch = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-conformance-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
const hasTool =
  spawnSync('npx', ['--yes', CONFORMANCE, '--version'], { timeout: INSTALL_MS, cwd: scratch }).status === 0

// After what takes long: a connection that waits all that time would be closed.
const node = await startNode()

const truth = JSON.parse((await node.read('/v2/hed-outbreaks/sums?q=sars')).text) as {
  data: { cases: number; deaths: number }[]
}
const [right] = truth.data
const assertRight = (answer: unknown) => {
  const { outcome, release, data } = answer as {
    outcome: string
    release: number
    data: { columns: string[]; rows: number[][] }
  }
  assert.deepEqual([outcome, release], ['answer', 6])
  assert.deepEqual(
    [data.rows[0]?.[data.columns.indexOf('cases')], data.rows[0]?.[data.columns.indexOf('deaths')]],
    [right?.cases, right?.deaths],
  )
}

for (const [name, open] of [
  ['over HTTP', node.openHttp],
  ['over stdio', node.openStdio],
] as const)
  for (const isNewest of [true, false])
    test(`the TypeScript client ${name}, ${isNewest ? NEWEST : 'a revision of 2025'}`, async () => {
      const client = await open(isNewest)
      assert.equal(client.getNegotiatedProtocolVersion() === NEWEST, isNewest)
      assert.deepEqual(
        (await client.listTools()).tools.map((tool) => tool.name),
        TOOLS,
      )
      assertRight((await client.callTool({ name: 'count', arguments: QUESTION })).structuredContent)
      const uris = (await client.listResources()).resources.map(({ uri }) => uri)
      assert.deepEqual(uris, ['outbreaks://dictionary', 'outbreaks://methods', 'outbreaks://release'])
      for (const uri of uris) {
        const [content] = (await client.readResource({ uri })).contents as { text: string }[]
        assert.ok((content?.text.length ?? 0) > 200, uri)
      }
      assert.deepEqual(
        (await client.listPrompts()).prompts.map((prompt) => prompt.name),
        ['situation_summary', 'check_claim'],
      )
      const { messages } = await client.getPrompt({ name: 'check_claim', arguments: { claim: 'SARS had 8,000 cases' } })
      assert.match(JSON.stringify(messages), /SARS had 8,000 cases/)
      await assert.rejects(client.callTool({ name: 'delete_everything', arguments: {} }))
    })

test('both ways give the same answer', async () => {
  const [http, stdio] = [await node.openHttp(), await node.openStdio()]
  for (const [name, given] of [
    ['count', { disease: 'Cholera', group_by: 'country_code', release: 6 }],
    ['curve', { event: 'Measles_United_States_2025', interval: 'month', release: 6 }],
    ['count', { event: 'Lassa_Nigeria_2017', release: 6 }],
    ['describe_event', { event: 'Lassa_Nigeria_2018', release: 6 }],
  ] as const) {
    const [one, other] = await Promise.all([http, stdio].map((client) => client.callTool({ name, arguments: given })))
    assert.deepEqual(one?.structuredContent, other?.structuredContent, name)
  }
})

test('a token that has expired or is wrong is refused in the handshake', async () => {
  const transport = new StreamableHTTPClientTransport(new URL(`${node.baseUrl}/mcp`), {
    requestInit: { headers: { authorization: 'Bearer wrong' } },
  })
  await assert.rejects(new Client({ name: 'scripted', version: '1' }).connect(transport))
})

for (const mode of ['legacy', NEWEST])
  for (const way of [
    ['http', `${node.baseUrl}/mcp`, node.token],
    ['stdio', node.program],
  ])
    test(`the Python client over ${way[0]}, ${mode}`, { skip: skipPython }, async () => {
      const program = [path.join(here, 'ask.py'), mode, ...way, 'count', JSON.stringify(QUESTION)]
      const { stdout } = await run(python ?? '', program, {
        timeout: 120_000,
        env: { ...process.env, ...node.variables },
      })
      const { revision, tools, resources, answer, is_error } = JSON.parse(stdout) as {
        revision: string
        tools: string[]
        resources: string[]
        answer: unknown
        is_error: boolean
      }
      assert.equal(revision === NEWEST, mode === NEWEST, revision)
      assert.deepEqual([tools, resources.length, is_error], [TOOLS, 3, false])
      assertRight(answer)
    })

/** The conformance tool cannot send a token, so a proxy adds it. It is the origin of the node; other origins are passed on. */
const proxy = createServer((incoming, outgoing) => {
  const { hostname, port } = new URL(node.baseUrl)
  const ours = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const { host, origin } = incoming.headers
  const own = {
    ...(host === ours ? { host: `${hostname}:${port}` } : {}),
    ...(origin === `http://${ours}` ? { origin: node.baseUrl } : {}),
  }
  const headers = { ...incoming.headers, ...own, authorization: `Bearer ${node.token}` }
  const onward = request({ hostname, port, path: incoming.url, method: incoming.method, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 500, response.headers)
    response.pipe(outgoing)
  })
  onward.on('error', () => outgoing.destroy())
  incoming.pipe(onward)
})
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
after(() => proxy.close())
for (const scenario of SCENARIOS)
  test(`conformance: ${scenario}`, { skip: !hasTool && `${CONFORMANCE} cannot be installed` }, async () => {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`
    const { stdout } = await run('npx', ['--yes', CONFORMANCE, 'server', '--url', url, '--scenario', scenario], {
      timeout: 120_000,
      cwd: scratch,
    })
    assert.match(stdout, /Passed: [1-9]\d*\/\d+, 0 failed/, stdout)
  })
