// What people do during a fault: consumers read pages and walk whole releases, an operator creates clients and publishes. Everything
// is counted: reads that failed also after one retry, walks with a wrong digest, and writes that were acknowledged.
import { setTimeout as wait } from 'node:timers/promises'
import type { Credentials } from '../../dev/service.ts'
import { createClient } from '../../src/auth/provisioning/clients.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { obtainToken, verifyReleases } from '../fixtures/api-client.ts'

const READERS = 3
const READ_TIMEOUT_MS = 6000
const RETRY_MS = 1000
const WRITE_INTERVAL_MS = 150
const WRITE_TIMEOUT_MS = 3000

export interface Measured {
  reads: number
  /** Reads that failed, and failed again after one retry. */
  failedReads: string[]
  /** The longest time in which no reader got an answer. */
  readGapMs: number
  slowestReadMs: number
  walks: number
  tornWalks: string[]
  writes: number
  /** The longest time between two acknowledged writes. */
  writeGapMs: number
  /** Names of the clients whose creation was acknowledged. */
  acknowledged: string[]
}

export interface Load {
  stop(): Promise<Measured>
}

export async function startLoad(
  baseUrl: string,
  credentials: Credentials,
  databaseUrl: string,
  label: string,
): Promise<Load> {
  const measured: Measured = {
    reads: 0,
    failedReads: [],
    readGapMs: 0,
    slowestReadMs: 0,
    walks: 0,
    tornWalks: [],
    writes: 0,
    writeGapMs: 0,
    acknowledged: [],
  }
  const running = { value: true }
  const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
  let lastRead = performance.now()
  let lastWrite = performance.now()

  async function read(address: string): Promise<string | null> {
    const response = await fetch(baseUrl + address, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(READ_TIMEOUT_MS),
    }).catch((error: Error) => error)
    if (response instanceof Error) return response.message
    const text = await response.text().catch((error: Error) => error)
    if (text instanceof Error) return text.message
    return response.status === 200 ? null : `${response.status} ${text.slice(0, 120)}`
  }

  async function runReader(reader: number): Promise<void> {
    for (let i = 0; running.value; i++) {
      const address = `/v2/hed-outbreaks/outbreaks?num=${1 + ((i * 7 + reader) % 100)}`
      const startedAt = performance.now()
      let failure = await read(address)
      if (failure !== null) {
        await wait(RETRY_MS)
        failure = await read(address)
      }
      measured.reads += 1
      measured.slowestReadMs = Math.max(measured.slowestReadMs, performance.now() - startedAt)
      if (failure !== null) measured.failedReads.push(failure)
      else {
        measured.readGapMs = Math.max(measured.readGapMs, performance.now() - lastRead)
        lastRead = performance.now()
      }
      await wait(20)
    }
  }

  /** A walk that meets an error is repeated; a wrong digest is never right. */
  async function runWalker(): Promise<void> {
    while (running.value) {
      const failure = await verifyReleases(baseUrl, token).then(
        () => null,
        ({ message }: Error) => message,
      )
      if (failure === null) measured.walks += 1
      else if (/release \d+/.test(failure) && !/^\d{3}|fetch failed|aborted|timeout/i.test(failure))
        measured.tornWalks.push(failure.slice(0, 200))
      await wait(200)
    }
  }

  async function write(name: string): Promise<boolean> {
    const database = openDatabase({ url: databaseUrl, role: 'outbreaks_operator', connections: 1 })
    try {
      await createClient(database, name, [])
      return true
    } finally {
      void database.close().catch(() => {})
    }
  }

  async function runOperator(): Promise<void> {
    for (let i = 0; running.value; i++) {
      const name = `${label}-${i}`
      // Without an acknowledgement the write may or may not be there. An operator would not wait longer either.
      const isAcknowledged = await Promise.race([
        write(name).catch(() => false),
        wait(WRITE_TIMEOUT_MS, false, { ref: false }),
      ])
      if (isAcknowledged) {
        measured.acknowledged.push(name)
        measured.writes += 1
        measured.writeGapMs = Math.max(measured.writeGapMs, performance.now() - lastWrite)
        lastWrite = performance.now()
      }
      await wait(WRITE_INTERVAL_MS)
    }
  }

  const work = [...Array.from({ length: READERS }, (_, reader) => runReader(reader)), runWalker(), runOperator()]
  return {
    async stop() {
      running.value = false
      await Promise.all(work)
      measured.readGapMs = Math.max(measured.readGapMs, performance.now() - lastRead)
      measured.writeGapMs = Math.max(measured.writeGapMs, performance.now() - lastWrite)
      return measured
    },
  }
}
