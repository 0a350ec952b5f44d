// Compares the settings of a connection with those that it must have, before it is used: a connection pooler may drop them, and
// then nothing would keep a request from writing or from running for hours.
import sql, { join } from 'sql-template-tag'
import { OperatorError } from '../operator-error.ts'
import { connectionSettings, type Role } from './connection-settings.ts'
import type { Reader } from './database.ts'

export class SettingsMissing extends OperatorError {}

/** Throws SettingsMissing if the connection lacks a setting. */
export async function checkConnectionSettings(database: Reader, role: Role): Promise<void> {
  const expected = connectionSettings(role)
  const rows = await database.query<{ name: string; setting: string; login: string }>(
    // pg_settings does not list the role.
    sql`select name, setting, session_user as login from pg_settings where name in (${join(Object.keys(expected))})
      union all select 'role', current_setting('role'), session_user`,
  )
  const found = new Map(rows.map(({ name, setting }) => [name, setting]))
  const missing = Object.entries(expected).filter(([name, value]) => found.get(name) !== String(value))
  const [first] = missing
  if (first === undefined) return
  const login = rows[0]?.login ?? 'LOGIN'
  const statements = missing.map(([name, value]) => `alter role "${login}" set ${name} = '${value}';`)
  throw new SettingsMissing(
    `The database connection has ${first[0]} = ${found.get(first[0]) ?? 'nothing'} instead of ${first[1]}. A connection pooler probably drops the settings.`,
    {
      remedy: `Attach them to the login as superuser, or connect without the pooler:\n${statements.join('\n')}`,
    },
  )
}
