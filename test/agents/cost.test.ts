// What an assistant pays: the tokens of the tools in every conversation and of each answer, by a real tokenizer; and what a node
// pays: the processor time of a call beside that of the plain request. Both are printed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { encode } from 'gpt-tokenizer'
import type { Question } from '../questions/grade.ts'
import { ask, startNode } from './node.ts'
import { planOf } from './plans.ts'

const MAX_TOOL_TOKENS = 1200
const MAX_ANSWER_TOKENS = 2500
const MAX_BYTES = 8000
/** Of a call beside the plain request, as people ask: each question is another one. */
const MAX_RATIO = 1.3
const EVENT = 'Measles_United_States_2025'

const questions = JSON.parse(
  readFileSync(new URL('../questions/questions.json', import.meta.url), 'utf8'),
) as Question[]
const node = await startNode()
const client = await node.openHttp()
const tokens = (value: unknown) => encode(JSON.stringify(value)).length

test('the descriptions of the tools have fewer than 1,200 tokens, and are read-only with a schema of their answers', async () => {
  const { tools } = await client.listTools()
  const read = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  console.log(`tools: ${tokens(read)} tokens as a model reads them, ${tokens(tools)} with the schemas of answers`)
  assert.ok(tokens(read) < MAX_TOOL_TOKENS, String(tokens(read)))
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['search', 'describe_event', 'count', 'curve', 'what_changed', 'records', 'cite'],
  )
  for (const { annotations, outputSchema, inputSchema } of tools) {
    assert.deepEqual(annotations, {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    })
    assert.equal(outputSchema?.type, 'object')
    assert.equal(inputSchema.type, 'object')
  }
})

test('19 of 20 answers have fewer than 2,500 tokens, and none more than 8 kB', async () => {
  const sizes: number[] = []
  for (const question of questions) {
    const plan = planOf(question)
    if (plan === null) continue
    const answer = await ask(client, plan.tool, plan.arguments)
    const text = JSON.stringify(answer)
    assert.ok(Buffer.byteLength(text) <= MAX_BYTES, `${question.number}: ${text.length}`)
    sizes.push(encode(text).length)
  }
  sizes.sort((one, other) => one - other)
  const at = (part: number) => sizes[Math.ceil(part * sizes.length) - 1] ?? 0
  console.log(`answers: ${at(0.5)} tokens in the middle, ${at(0.95)} at 95%, ${at(1)} at most`)
  assert.ok(at(0.95) < MAX_ANSWER_TOKENS, String(at(0.95)))
})

/** Processor time of the node, in milliseconds: all its threads, so also DuckDB. */
function processorMs(): number {
  const [, fields = ''] = readFileSync(`/proc/${node.service.process.pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13).map(Number)
  return ((user ?? 0) + (system ?? 0)) * 10
}

const isLinux = process.platform === 'linux'
test('a call costs at most 1.3 times the processor time of its plain request', {
  skip: !isLinux && 'reads /proc',
}, async () => {
  const authorization = `Bearer ${node.token}`
  const plain = async (given: Record<string, string>) => {
    const response = await fetch(
      `${node.baseUrl}/v2/hed-outbreaks/sums?${new URLSearchParams({ ...given, num: '25' })}`,
      { headers: { authorization } },
    )
    assert.equal(response.status, 200)
    await response.text()
  }
  const called = async (given: Record<string, string>) => {
    const headers = {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'count',
    }
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'cost', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'count', arguments: given, _meta: meta },
    })
    const response = await fetch(`${node.baseUrl}/mcp`, { method: 'POST', headers, body })
    assert.match(await response.text(), /"structuredContent"/)
  }
  let asked = 0
  const another = () => {
    asked += 1
    const day = (n: number) => new Date(Date.UTC(2025, 0, 20 + n)).toISOString().slice(0, 10)
    return {
      event: EVENT,
      group_by: 'admin_l1',
      release: '6',
      date_from: day(Math.floor(asked / 150)),
      date_to: day(150 + (asked % 150)),
    }
  }
  const same = () => ({ event: EVENT, group_by: 'admin_l1', release: '6' })
  async function measure(
    work: (given: Record<string, string>) => Promise<void>,
    next: () => Record<string, string>,
    times: number,
  ) {
    const start = processorMs()
    for (let i = 0; i < times; i += 1) await work(next())
    return (processorMs() - start) / times
  }
  const median = (values: number[]) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
  for (const [name, next, times] of [
    ['another question each time', another, 30],
    ['the same question', same, 400],
  ] as const) {
    // Compiled before it is measured.
    for (const work of [plain, called]) await measure(work, next, times)
    const [requests, calls]: [number[], number[]] = [[], []]
    for (let round = 0; round < 5; round += 1) {
      requests.push(await measure(plain, next, times))
      calls.push(await measure(called, next, times))
    }
    const ratio = median(calls) / median(requests)
    console.log(
      `${name}: ${median(requests).toFixed(2)} ms plain, ${median(calls).toFixed(2)} ms by a tool, ${ratio.toFixed(2)}`,
    )
    // The plain request that is repeated comes from the cache of the node, so the protocol is most of such a call.
    if (next === another) assert.ok(ratio <= MAX_RATIO, `${name}: ${ratio}`)
  }
})
