// What a consumer does over HTTP: ask for a token as the specification says, and read a record with it.
// Knows nothing of the source.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import type { Credentials } from '../../dev/service.ts'

const RECORD_PATH = '/v2/hed-outbreaks/outbreaks?num=1'

export interface TokenAnswer {
  access_token: string
  token_type: string
  expires_in: number
  scope: string
  error?: string
}

export const askForToken = ({ client_id, client_secret }: Credentials, tokenUrl: string, audience: string) =>
  fetch(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience, grant_type: 'client_credentials' }),
    signal: AbortSignal.timeout(30_000),
  })

export async function obtainToken(credentials: Credentials, tokenUrl: string, audience: string): Promise<string> {
  const response = await askForToken(credentials, tokenUrl, audience)
  const answer = (await response.json()) as TokenAnswer
  assert.equal(response.status, 200, `no token: ${answer.error}`)
  return answer.access_token
}

export const readRecord = (address: string, token: string) =>
  fetch(address + RECORD_PATH, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(30_000),
  })

export async function assertOpens(address: string, token: string): Promise<void> {
  const response = await readRecord(address, token)
  const body = (await response.json()) as { data?: unknown[]; detail?: string }
  assert.equal(response.status, 200, body.detail)
  assert.equal(body.data?.length, 1)
}

async function readText(address: string, token: string): Promise<string> {
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return text
}

/** Walks a release and signs it as docs/verify.md says, from the bytes of its records. */
async function signRelease(home: string, token: string, release: number): Promise<{ records: number; digest: string }> {
  const whole = createHash('sha256')
  let [records, group, lines]: [number, number, string] = [0, 0, '']
  const close = () => {
    if (lines !== '') whole.update(createHash('sha256').update(lines).digest())
    lines = ''
  }
  let next: string | null = null
  do {
    const page = next === null ? `release=${release}` : `page=${next}`
    const text = await readText(`${home}/outbreaks?num=1000&${page}`, token)
    const [, data = '', cursor = ''] =
      /^\{"data":\[([^]*)\],"has_more":(?:true|false),"next_page":(.*)\}$/.exec(text) ?? []
    for (const record of data === '' ? [] : data.split(',\n')) {
      const hundred = Math.floor((Number(/^\{"id":(\d+),/.exec(record)?.[1]) - 1) / 100)
      if (hundred !== group) close()
      group = hundred
      lines += `${record}\n`
      records += 1
    }
    next = JSON.parse(cursor) as string | null
  } while (next !== null)
  close()
  return { records, digest: whole.digest('hex') }
}

/** Reads every release again and compares it with the digest that was recorded when it was published. */
export async function rereadReleases(address: string, token: string): Promise<number> {
  const home = `${address}/v2/hed-outbreaks`
  const { data } = JSON.parse(await readText(`${home}/releases?num=1000`, token)) as {
    data: { number: number; records: number; digest: string }[]
  }
  for (const { number, records, digest } of data)
    assert.deepEqual(await signRelease(home, token, number), { records, digest }, `release ${number}`)
  return data.length
}

interface RawAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** One connection for all: fetch would neither promise that nor send every byte of a broken token. */
export function openConnection(address: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = (path: string, method: string, headers: OutgoingHttpHeaders, body?: string): Promise<RawAnswer> =>
    new Promise((resolve, reject) => {
      const outgoing = request(address + path, { agent, method, headers, timeout: 5000 }, (incoming) => {
        let text = ''
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text }))
      })
      outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error('no answer')))
      outgoing.end(body)
    })
  return {
    readRecord: (token: string) =>
      // Header values are bytes; this is how UTF-8 gets into them.
      send(RECORD_PATH, 'GET', { authorization: `Bearer ${Buffer.from(token).toString('latin1')}` }),
    postToken: (headers: OutgoingHttpHeaders, body: string) =>
      send('/oauth/token', 'POST', { ...headers, 'content-length': String(Buffer.byteLength(body)) }, body),
    close: () => agent.destroy(),
  }
}
