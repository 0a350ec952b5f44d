// Compares the migrations of the database with those of this version, by name. It changes nothing.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import sql from 'sql-template-tag'
import { OperatorError } from '../operator-error.ts'
import type { Database } from './database.ts'

export const migrationsDirectory = path.resolve(import.meta.dirname, '../../../migrations')

export class SchemaMismatch extends OperatorError {}

/** A migration with this in its name only adds: nodes of the version before use the schema as before it. */
const EXPANDS = /^\d{4}_expand_/

/**
 * Throws SchemaMismatch if the schema is older or newer than this version; throws other errors if it cannot be read. With
 * `mayBeExpanded` the schema can have newer migrations that only add.
 */
export async function checkSchema(database: Database, { mayBeExpanded = false } = {}): Promise<void> {
  const known = readdirSync(migrationsDirectory)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
  const applied = await readApplied(database)
  const newer = applied.filter((name) => !known.includes(name) && !(mayBeExpanded && EXPANDS.test(name)))
  if (newer.length > 0) {
    throw new SchemaMismatch(
      `The database schema is newer than this version, which does not know migration ${newer.at(-1)}.`,
      { remedy: 'Run a newer version.' },
    )
  }
  const missing = known.filter((name) => !applied.includes(name)).sort()
  if (missing.length > 0) {
    throw new SchemaMismatch(`The database schema is older than this version: migration ${missing[0]} is missing.`, {
      remedy: 'Run outbreakctl migrate with the migration login.',
    })
  }
}

/** Empty if the table does not exist, or is of an old schema in which only its owner could read it. */
async function readApplied(database: Database): Promise<string[]> {
  const [table] = await database
    .query<{ readable: boolean | null }>(
      sql`select has_table_privilege(to_regclass('migration'), 'select') as readable`,
    )
    .catch((error: unknown) => {
      if (isRoleMissing(error)) return []
      throw error
    })
  if (table?.readable !== true) return []
  const rows = await database.query<{ name: string }>(sql`select name from migration order by id`)
  return rows.map(({ name }) => name)
}

/** Migrations create the roles. On a server without any migration a session cannot set its role (SQLSTATE 22023). */
const isRoleMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '22023' && error.message.includes('outbreaks_')
