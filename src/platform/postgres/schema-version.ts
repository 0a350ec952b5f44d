// Whether the database has the schema this program was written for. It compares names and changes nothing.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import sql from 'sql-template-tag'
import { OperatorError } from '../operator-error.ts'
import type { Database } from './database.ts'

export const migrationsDirectory = path.resolve(import.meta.dirname, '../../../migrations')

export class SchemaMismatch extends OperatorError {}

/** Throws SchemaMismatch where the schema is older or newer than the program, and other errors where nobody can tell. */
export async function checkSchema(database: Database): Promise<void> {
  const known = readdirSync(migrationsDirectory)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
  const applied = await readApplied(database)
  const newer = applied.filter((name) => !known.includes(name))
  if (newer.length > 0) {
    throw new SchemaMismatch(
      `The database schema is newer than this program, which does not know its migration ${newer.at(-1)}: run the version of the program that goes with it.`,
    )
  }
  const missing = known.filter((name) => !applied.includes(name)).sort()
  if (missing.length > 0) {
    throw new SchemaMismatch(
      `The database schema is older than this program, it lacks the migration ${missing[0]}: run outbreakctl migrate.`,
    )
  }
}

/** None where the table is not there, or is from a time when only its owner could read it. */
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

/** Migrations create the roles: on a server where none ever ran, a session cannot take one (SQLSTATE 22023). */
const isRoleMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '22023' && error.message.includes('outbreaks_')
