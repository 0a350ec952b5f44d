#!/usr/bin/env node
// The program over stdio, for an assistant on this computer: reads OUTBREAKS_URL, OUTBREAKS_CLIENT_ID and OUTBREAKS_CLIENT_SECRET.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Outbreaks } from '../../typescript/src/client.ts'
import type { Access } from './access.ts'
import { createServer } from './server.ts'

/** An assistant waits about a minute for a tool. */
const ATTEMPTS = 3
const TIMEOUT_MS = 20_000
const PROBE_MS = 3000

/** Null if the service has no explorer. */
const findExplorer = (url: string): Promise<string | null> =>
  fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) }).then(
    ({ status }) => (status < 400 ? url : null),
    () => null,
  )

async function openAccess(): Promise<Access> {
  const dataset = process.env['OUTBREAKS_DATASET'] || 'hed-outbreaks'
  const outbreaks = Outbreaks.fromEnv({ dataset, attempts: ATTEMPTS, timeoutMs: TIMEOUT_MS })
  const baseUrl = (process.env['OUTBREAKS_URL'] ?? '').replace(/\/+$/, '')
  return { outbreaks, baseUrl, dataset, known: new Map(), explorerUrl: await findExplorer(`${baseUrl}/explore`) }
}

try {
  const access = await openAccess()
  serveStdio(() => createServer(access), { onerror: ({ message }) => console.error(message) })
} catch (error) {
  console.error(`${(error as Error).message}. Set OUTBREAKS_URL, OUTBREAKS_CLIENT_ID and OUTBREAKS_CLIENT_SECRET.`)
  process.exitCode = 2
}
