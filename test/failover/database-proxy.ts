// HAProxy with deploy/haproxy-postgres.cfg before the database servers: one address for writes, one for reads.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { findFreePort } from '../../dev/postgres.ts'
import { launchProgram, type Program, writeIn } from '../fixtures/operate/program.ts'
import type { Machine } from './network.ts'

const RECIPE = path.resolve(import.meta.dirname, '../../deploy/haproxy-postgres.cfg')

export interface DatabaseProxy extends Pick<Program, 'stop'> {
  /** Where the primary is. */
  readonly writePort: number
  /** Where the servers are that do not lag. */
  readonly readPort: number
}

export async function startDatabaseProxy(directory: string, members: readonly Machine[]): Promise<DatabaseProxy> {
  const writePort = await findFreePort()
  const readPort = await findFreePort()
  const replacements: readonly [string, string][] = [
    ['bind :5000', `bind 127.0.0.1:${writePort}`],
    ['bind :5001', `bind 127.0.0.1:${readPort}`],
    ...members.map(({ address }, i): [string, string] => [`db${i + 1}:5432`, `${address}:5432`]),
  ]
  let text = readFileSync(RECIPE, 'utf8')
  for (const [found, replacement] of replacements) {
    assert.ok(text.includes(found), found)
    text = text.replaceAll(found, replacement)
  }
  const file = writeIn(directory, 'haproxy-postgres.cfg', text)
  const { stop } = await launchProgram('haproxy', ['-W', '-db', '-f', file], { port: readPort })
  return { writePort, readPort, stop }
}
