// Releases in a database of their own, the service that publishes them, and the oracle with the same records.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, startService } from '../../dev/service.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { type Answer, type Oracle, startOracle } from './python.ts'

export type PublishedRecord = Record<string, unknown> & { id: number; series_id: string }

export interface ReleaseInput {
  directory: string
  confirmedWithdrawn?: number
  confirmedRejected?: number
}

export interface Response {
  status: number
  headers: Headers
  body: Answer
}

export interface Published {
  oracle: Oracle
  /** The records of the latest release. */
  records: PublishedRecord[]
  releases: number
  get(target: string): Promise<Response>
  /** The body in another format. */
  text(target: string, type: string): Promise<string>
}

const HOME = '/v2/hed-outbreaks'
const RETRIES = 20
const PAGE = 1000

/** Publishes the releases in order. All processes end with the test file. */
export async function publish(inputs: readonly ReleaseInput[]): Promise<Published> {
  const url = await createTestDatabase()
  const database = openDatabase({ url, role: 'outbreaks_operator' })
  try {
    for (const { directory, ...confirmed } of inputs) await publishRelease(database, hedOutbreaks, directory, confirmed)
  } finally {
    await database.close()
  }
  const settings = newSettings(url)
  const credentials = await prepareDatabase(settings)
  const service = await startService(settings)
  after(() => service.stop())
  const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  const get = async (target: string): Promise<Response> => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(service.baseUrl + HOME + target, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(60_000),
      })
      const body = (await response.json()) as Answer
      // An overloaded machine: a client tries again.
      if (response.status !== 503 || attempt === RETRIES)
        return { status: response.status, headers: response.headers, body }
      await wait(500)
    }
  }
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-numbers-'))
  after(() => rm(scratch, { recursive: true, force: true }))
  let records: PublishedRecord[] = []
  const files: { release: number; file: string; as_of: string }[] = []
  for (let release = 1; release <= inputs.length; release += 1) {
    records = await readRecords(get, release)
    const file = path.join(scratch, `${release}.ndjson`)
    await writeLines(file, records)
    const { body } = await get(`/releases/${release}`)
    files.push({ release, file, as_of: String(body['as_of']) })
  }
  const oracle = startOracle(files)
  after(() => oracle.stop())
  const text = async (target: string, type: string) => {
    const response = await fetch(service.baseUrl + HOME + target, {
      headers: { authorization: `Bearer ${token}`, accept: type },
      signal: AbortSignal.timeout(60_000),
    })
    return response.text()
  }
  return { oracle, records, releases: inputs.length, get, text }
}

async function readRecords(get: (target: string) => Promise<Response>, release: number): Promise<PublishedRecord[]> {
  const records: PublishedRecord[] = []
  let next: unknown = null
  do {
    const { status, body } = await get(
      `/outbreaks?num=${PAGE}&${next === null ? `release=${release}` : `page=${String(next)}`}`,
    )
    assert.equal(status, 200, JSON.stringify(body))
    records.push(...(body['data'] as PublishedRecord[]))
    next = body['next_page']
  } while (next !== null)
  return records
}

const writeLines = (file: string, records: readonly PublishedRecord[]): Promise<void> =>
  writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
