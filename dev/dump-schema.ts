// Writes the migrated schema to docs/schema.sql with pg_dump 15, so that a change of the schema is a diff:
// `POSTGRES_BIN=/usr/lib/postgresql/15/bin node dev/dump-schema.ts`. A test compares the file with the schema.
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { createCluster } from './postgres.ts'

export const SCHEMA_FILE = path.resolve(import.meta.dirname, '../docs/schema.sql')

/** pg_dump 15; undefined if it is not installed. Other versions print the same schema differently. */
export function findPgDump(): string | undefined {
  const command = path.join(process.env['POSTGRES_BIN'] || '/nowhere', 'pg_dump')
  if (!existsSync(command)) return undefined
  return / 15\.\d+/.test(execFileSync(command, ['--version'], { encoding: 'utf8' })) ? command : undefined
}

/** Without the lines that differ between runs or minor versions. */
export function dumpSchema(pgDump: string, url: string): string {
  const dump = execFileSync(pgDump, ['--schema-only', '--no-owner', url], { encoding: 'utf8' })
  const lines = dump.split('\n').filter((line) => !/^(\\(un)?restrict |-- Dumped (from|by) )/.test(line))
  return lines.join('\n').replaceAll(/\n{3,}/g, '\n\n')
}

if (import.meta.main) {
  const pgDump = findPgDump()
  if (pgDump === undefined) throw new Error('POSTGRES_BIN must be the directory of the PostgreSQL 15 binaries')
  const cluster = await createCluster()
  try {
    await migrate(cluster.url)
    writeFileSync(SCHEMA_FILE, dumpSchema(pgDump, cluster.url))
  } finally {
    await cluster.stop()
  }
}
