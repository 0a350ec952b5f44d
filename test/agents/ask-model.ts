// Asks the questions of test/questions with a real model, which chooses the tools itself; README.md says how. Not part of any check:
// a model answers differently each time. Prints for each question whether the answer has the right number, its release and an address
// that a tool gave, how many calls it took, and what it said.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Envelope } from '../../clients/mcp/src/envelope.ts'
import type { Json, Question } from '../questions/grade.ts'

const MAX_CALLS = 3
const TIMEOUT_MS = 120_000
const read = (name: string): string => {
  const value = process.env[name]
  assert.ok(value, `Set ${name}; test/agents/README.md explains it.`)
  return value
}
const [url, model, key] = [read('MODEL_URL'), read('MODEL_NAME'), process.env['MODEL_KEY'] ?? '']
const service = read('OUTBREAKS_URL')
const wanted = process.argv.slice(2).map(Number)

interface Message {
  role: string
  content: string | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/** An access token from the client credentials in the environment. */
async function obtainToken(): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: read('OUTBREAKS_CLIENT_ID'),
    client_secret: read('OUTBREAKS_CLIENT_SECRET'),
  })
  const response = await fetch(`${service}/oauth/token`, { method: 'POST', body })
  assert.equal(response.status, 200, 'the service gives no token')
  return ((await response.json()) as { access_token: string }).access_token
}

const headers = { authorization: `Bearer ${await obtainToken()}` }
const client = new Client({ name: 'ask-model', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(`${service}/mcp`), { requestInit: { headers } }))
const { tools } = await client.listTools()
const offered = tools.map(({ name, description, inputSchema }) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
}))
const SYSTEM = `${client.getInstructions() ?? ''} Answer in at most five sentences, with the number, its release and its URL.`

async function complete(messages: Message[]): Promise<Message> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages, tools: offered, temperature: 0 }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  assert.equal(response.status, 200, `the model answers with ${response.status}`)
  const { choices } = (await response.json()) as { choices: { message: Message }[] }
  const [choice] = choices
  assert.ok(choice, 'the model gives no message')
  return choice.message
}

async function askModel(question: string) {
  const messages: Message[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: `${question} (release 6)` },
  ]
  const answers: Envelope[] = []
  for (let calls = 0; ; ) {
    const message = await complete(messages)
    messages.push(message)
    if (message.tool_calls === undefined || message.tool_calls.length === 0 || calls > MAX_CALLS)
      return { text: message.content ?? '', calls, answers }
    for (const { id, function: called } of message.tool_calls) {
      calls += 1
      const given = JSON.parse(called.arguments || '{}') as Record<string, unknown>
      const result = await client.callTool({ name: called.name, arguments: given })
      if (result.structuredContent !== undefined) answers.push(result.structuredContent as Envelope)
      messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result.content) })
    }
  }
}

/** Numbers in any depth. */
function readNumbers(value: Json | undefined): number[] {
  if (typeof value === 'number') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(readNumbers) : []
}
const saysNumber = (text: string, value: number) =>
  new RegExp(`(^|\\D)(${value}|${value.toLocaleString('en')})(\\D|$)`).test(text)

const questions = JSON.parse(
  readFileSync(new URL('../questions/questions.json', import.meta.url), 'utf8'),
) as Question[]
const truths = JSON.parse(
  execFileSync('python3', ['-B', new URL('../questions/truth.py', import.meta.url).pathname], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  }),
) as Record<string, Json>

const score = { asked: 0, number: 0, release: 0, url: 0, within: 0 }
for (const { number, question } of questions) {
  if (wanted.length > 0 && !wanted.includes(number)) continue
  const { text, calls, answers } = await askModel(question)
  const numbers = readNumbers(truths[number])
  const cited = answers.map((answer) => answer.question).find((address) => text.includes(address))
  const checks = {
    number: numbers.length === 0 || numbers.some((value) => saysNumber(text, value)),
    release: /release 6\b|release=6\b/i.test(text),
    url: cited !== undefined && (await resolves(cited)),
    within: calls <= MAX_CALLS,
  }
  score.asked += 1
  for (const name of ['number', 'release', 'url', 'within'] as const) score[name] += checks[name] ? 1 : 0
  console.log(JSON.stringify({ id: number, question, ...checks, calls, text }))
}
console.log(JSON.stringify(score))
await client.close()

/** An address is one that a tool gave, and the service answers it. */
async function resolves(address: string): Promise<boolean> {
  const response = await fetch(address, { headers })
  return response.status === 200 || response.status === 400
}
