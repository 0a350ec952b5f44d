// A bare HTTP server of the platform for its tests, with its log in memory.
import { pino } from 'pino'
import type { ConnectionBounds } from '../../src/platform/connections.ts'
import { createHttpServer } from '../../src/platform/http-server.ts'

export const BASE_URL = 'https://api.test'

export function createObservedServer(connections: Partial<ConnectionBounds> = {}) {
  const lines: string[] = []
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) })
  return { app: createHttpServer({ baseUrl: BASE_URL, log, connections }), lines }
}
