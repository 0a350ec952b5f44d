// Migrates a database to the current schema: plain SQL files, in order, forward only.
import { setTimeout as wait } from 'node:timers/promises'
import { runner } from 'node-pg-migrate'
import { OperatorError } from '../operator-error.ts'
import { toTransientProblem } from './database.ts'
import { migrationsDirectory } from './schema-version.ts'

const LOCK_TIMEOUT_MS = 60_000

/** Safe to run concurrently: node-pg-migrate tries its lock once, so this function retries until the lock is free. */
export async function migrate(url: string): Promise<string[]> {
  const deadline = Date.now() + LOCK_TIMEOUT_MS
  for (;;) {
    try {
      const applied = await runner({
        databaseUrl: { connectionString: url, connectionTimeoutMillis: 5000, application_name: 'outbreaks_migration' },
        dir: migrationsDirectory,
        migrationsTable: 'migration',
        direction: 'up',
        logger: { debug() {}, info() {}, warn() {}, error() {} },
      })
      return applied.map((migration) => migration.name)
    } catch (error) {
      const locked = error instanceof Error && error.message.includes('Another migration is already running')
      if (!locked || Date.now() > deadline) throw describeOwnership(error) ?? toTransientProblem(error)
      await wait(200)
    }
  }
}

/** The mistake of an upgrade: the operator's login. node-pg-migrate throws a string with the server's message and a stack. */
function describeOwnership(error: unknown): OperatorError | undefined {
  const [denial] = /must be owner of .*|permission denied for .*/.exec((error as Error).message) ?? []
  if (denial === undefined) return undefined
  return new OperatorError(`This login cannot change the schema (${denial}).`, {
    // Of an upgrade, so it is the program of the new version, which is not yet behind the link.
    remedy: `Use the migration login, which owns the database: DATABASE_URL_FILE=/etc/outbreaks/secrets/migration_url ${process.argv[1] ?? 'outbreakctl'} migrate.`,
  })
}
