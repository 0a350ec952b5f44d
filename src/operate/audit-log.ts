// The log of the actions of operators: adds rows by the function of the schema, reads them, and verifies their chain of digests.
// The digests are computed here again, so a function that someone replaced in the database does not verify itself.
import { createHash } from 'node:crypto'
import os from 'node:os'
import sql from 'sql-template-tag'
import type { Database, Reader } from '../platform/postgres/database.ts'

/** The operator, as far as this process knows; PostgreSQL adds the login and the address. */
interface Actor {
  osUser: string
  host: string
}

interface Action {
  command: string
  arguments: readonly string[]
}

/** A row as it is exported. All of its fields but `digest` are digested, in this order. */
export type AuditRow = {
  number: number
  at: string
  act: number | null
  outcome: 'begun' | 'done' | 'failed' | 'changed'
  login: string
  client_address: string | null
  os_user: string
  host: string
  command: string
  arguments: string[]
  reason: string | null
  digest: string
}

const MAX_TEXT_LENGTH = 2000
const BATCH_ROWS = 1000
const FIRST_DIGEST = '00'.repeat(32)

/** `sudoUser` is the user who ran sudo, if someone did. */
export function findActor(sudoUser: string | undefined): Actor {
  const user = readUserName()
  return { osUser: sudoUser && sudoUser !== user ? `${user} (sudo by ${sudoUser})` : user, host: os.hostname() }
}

/** A container may run as a user without a name. */
function readUserName(): string {
  try {
    return os.userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Writes that an action begins, before it does. Gives the function that writes how it ended; null if it succeeded. */
export async function beginAction(
  database: Database,
  actor: Actor,
  action: Action,
): Promise<(failure: string | null) => Promise<void>> {
  const command = action.arguments.map(shorten)
  const append = async (begun: number | null, failure: string | null) => {
    const [row] = await database.query<{ number: number }>(sql`
      select append_audit(${actor.osUser}, ${actor.host}, ${action.command}, ${command}, ${begun}, ${failure}) as number`)
    return row?.number ?? null
  }
  const begun = await append(null, null)
  return async (failure) => void (await append(begun, failure === null ? null : shorten(failure)))
}

/** PostgreSQL stores no NUL. */
function shorten(text: string): string {
  const storable = text.replaceAll('\0', '\u{fffd}')
  return storable.length > MAX_TEXT_LENGTH ? `${storable.slice(0, MAX_TEXT_LENGTH)}…` : storable
}

/** Replaces secrets that someone pasted: client secrets, logins in URLs, and the given values. */
export function redactSecrets(text: string, values: readonly string[]): string {
  const known = values.reduce((redacted, value) => redacted.replaceAll(value, '[redacted]'), text)
  return known.replace(/\bods_[\w-]{20,}/g, '[redacted]').replace(/(\/\/[^\s/:@]*):[^\s@/]+@/g, '$1:[redacted]@')
}

/** All rows, the oldest first. */
export async function* readAudit(reader: Reader): AsyncGenerator<AuditRow> {
  let last = 0
  for (;;) {
    const rows = await reader.query<AuditRow>(sql`
      select number, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, act, outcome, login,
        client_address, os_user, host, command, arguments, reason, encode(digest, 'hex') as digest
      from audit_event where number > ${last} order by number limit ${BATCH_ROWS}`)
    yield* rows
    const next = rows.at(-1)?.number
    if (next === undefined) return
    last = next
  }
}

/** As `append_audit` writes it: elements are separated by a comma and a space, those of an inner array by a comma. */
export function digestRow(previous: string, row: AuditRow): string {
  const { digest: _, ...content } = row
  const text = `[${Object.values(content)
    .map((value) => JSON.stringify(value))
    .join(', ')}]`
  return createHash('sha256').update(previous, 'hex').update(text).digest('hex')
}

/** `notedHead` is a head that was noted outside the database: its row, and so all rows before it, must still be there. */
export async function verifyAudit(rows: AsyncIterable<AuditRow>, notedHead?: string) {
  const findings: { row: number; message: string }[] = []
  const open = new Set<number>()
  let head = FIRST_DIGEST
  let count = 0
  let isHeadFound = notedHead === undefined || notedHead === FIRST_DIGEST
  let expected = 1
  for await (const row of rows) {
    if (row.number !== expected)
      findings.push({ row: expected, message: `rows ${expected} to ${row.number - 1} are missing` })
    else if (digestRow(head, row) !== row.digest)
      findings.push({ row: row.number, message: 'this row, or the one before it, was changed' })
    if (row.outcome === 'begun') open.add(row.number)
    else if (row.act !== null) open.delete(row.act)
    // The chain goes on from the stored digest, so that one changed row is one finding.
    head = row.digest
    count += 1
    expected = row.number + 1
    isHeadFound ||= head === notedHead
  }
  if (!isHeadFound)
    findings.push({ row: count, message: 'the head you gave is not in the log: rows were removed or rewritten' })
  return { rows: count, head, unfinished: open.size, valid: findings.length === 0, findings }
}

/** One line for each command and each change, the latest first. A command without a result is still running, or was interrupted. */
export const listActions = (reader: Reader, since: Date | null, limit: number) =>
  reader.query<{ number: number; at: Date; command: string; arguments: string[]; result: string }>(sql`
    select began.number, began.at, began.login, began.client_address, began.os_user, began.host, began.command,
      began.arguments, coalesce(ended.outcome, nullif(began.outcome, 'begun'), 'unfinished') as result, ended.reason
    from audit_event as began left join audit_event as ended on ended.act = began.number
    where began.act is null and (${since}::timestamptz is null or began.at >= ${since})
    order by began.number desc limit ${limit}`)

/** The latest row, for the log of a node; null if there is none. */
export async function readAuditHead(reader: Reader): Promise<{ rows: number; head: string } | null> {
  const [row] = await reader.query<{ rows: number; head: string }>(
    sql`select number as rows, encode(digest, 'hex') as head from audit_event order by number desc limit 1`,
  )
  return row ?? null
}

/** False before the migration that creates the log. */
export async function hasAuditLog(reader: Reader): Promise<boolean> {
  const [row] = await reader.query<{ exists: boolean }>(
    sql`select to_regclass('public.audit_event') is not null as exists`,
  )
  return row?.exists === true
}
