// Checks the database of a node with the connection of the node: version, settings, schema, privileges, clock, lag,
// keys, clients and releases with the parts of their index.

import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { findSigner, loadKeyRing } from '../auth/key-ring.ts'
import { checkParts } from '../columns/parts.ts'
import type { Dataset } from '../datasets/define.ts'
import { DAY_MS } from '../platform/calendar-date.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { checkConnectionSettings } from '../platform/postgres/connection-check.ts'
import { type Database, openDatabase } from '../platform/postgres/database.ts'
import { explainDatabaseError } from '../platform/postgres/database-error.ts'
import { createFreshnessTracker, type ServerState, serverState } from '../platform/postgres/replica-freshness.ts'
import { checkSchema } from '../platform/postgres/schema-version.ts'
import { Problem } from '../platform/problem.ts'
import { type Finding, findingsOf } from './finding.ts'

interface DatabaseCheck {
  readonly url: string
  /** Decrypt the signing keys; null if an external issuer signs tokens. */
  readonly sealingKeys: readonly Buffer[] | null
  readonly datasets: readonly Dataset[]
  readonly maxStalenessSeconds: number
}

const OLDEST_VERSION = 15
const LATEST_VERSION = 18
/** Nodes reject tokens from the future beyond this. */
const CLOCK_WARNING_S = 5
const CLOCK_ERROR_S = 30
const KEY_AGE_DAYS = 90
const EXPIRY_DAYS = 14
const LAG_SAMPLES = 12
const LAG_INTERVAL_MS = 250

/** If the database does not respond, that is the only finding. */
export async function checkDatabase(options: DatabaseCheck): Promise<Finding[]> {
  const { host } = new URL(options.url)
  const check = findingsOf(`database ${host}`)
  const database = openDatabase({ url: options.url, role: 'outbreaks_api', connections: 1 })
  try {
    const findings: Finding[] = []
    for (const run of [
      checkVersion,
      checkSchemaAndSettings,
      checkPrivileges,
      checkClock,
      checkLag,
      checkKeys,
      checkClients,
      checkReleases,
    ])
      findings.push(...(await run(database, options)))
    return findings
  } catch (error) {
    const cause = error instanceof Problem ? (error.cause ?? error) : error
    const { sentence, remedy } = explainDatabaseError(cause) ?? {
      sentence: (cause as Error).message,
      remedy: 'see docs/operating/database.md',
    }
    return [check.error(sentence, remedy)]
  } finally {
    await database.close()
  }
}

async function checkVersion(database: Database): Promise<Finding[]> {
  const check = findingsOf('database version')
  const [row] = await database.query<{ version: string; major: number; durable: string; checksums: string }>(
    sql`select current_setting('server_version') as version,
      current_setting('server_version_num')::integer / 10000 as major,
      current_setting('fsync') as durable, current_setting('data_checksums') as checksums`,
  )
  const { version = '', major = 0, durable, checksums } = row ?? {}
  return [
    major < OLDEST_VERSION || major > LATEST_VERSION
      ? check.error(
          `PostgreSQL ${version} is not one of the tested versions`,
          `use PostgreSQL ${OLDEST_VERSION} to ${LATEST_VERSION}`,
        )
      : check.ok(`PostgreSQL ${version}`),
    ...(durable === 'on'
      ? []
      : [check.error('fsync is off, so a power failure can damage the data', 'set fsync = on')]),
    ...(checksums === 'on'
      ? []
      : [
          check.warning(
            'data checksums are off, so disk damage goes unnoticed',
            'stop the server and run pg_checksums --enable',
          ),
        ]),
  ]
}

async function checkSchemaAndSettings(database: Database): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, ok, compare] of [
    ['schema', 'up to date', () => checkSchema(database, { mayBeExpanded: true })],
    ['connection settings', 'complete', () => checkConnectionSettings(database, 'outbreaks_api')],
  ] as const) {
    const check = findingsOf(name)
    try {
      await compare()
      findings.push(check.ok(ok))
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      findings.push(check.error(error.sentence, error.remedy))
    }
  }
  return findings
}

async function checkPrivileges(database: Database): Promise<Finding[]> {
  const check = findingsOf('privileges')
  const [row] = await database.query<{ login: string; superuser: boolean; creates: boolean; writable: string[] }>(sql`
    select session_user as login,
      (select rolsuper from pg_roles where rolname = session_user) as superuser,
      has_database_privilege('public', current_database(), 'create, temporary') as creates,
      array(select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and has_table_privilege(oid, 'insert, update, delete, truncate')) as writable`)
  if (row === undefined) return []
  const { login, superuser, creates, writable } = row
  const findings = [
    ...(superuser
      ? [
          check.error(
            `the login ${login} is a superuser`,
            'give the node a login that is only a member of outbreaks_api',
          ),
        ]
      : []),
    ...(creates
      ? [
          check.error(
            'anyone can create objects in the database',
            'as its owner, run: revoke create, temporary on database … from public',
          ),
        ]
      : []),
    ...(writable.length > 0
      ? [check.error(`the role outbreaks_api can write to ${writable.join(', ')}`, 'revoke these privileges')]
      : []),
  ]
  return findings.length > 0 ? findings : [check.ok(`${login} can only read`)]
}

async function checkClock(database: Database): Promise<Finding[]> {
  const check = findingsOf('clock')
  const before = Date.now()
  const [row] = await database.query<{ now: Date }>(sql`select clock_timestamp() as now`)
  const seconds = Math.abs((row?.now.getTime() ?? 0) - (before + Date.now()) / 2) / 1000
  const message = `the clocks of this machine and the database server differ by ${seconds.toFixed(1)} s`
  const remedy = 'synchronise both clocks (chrony, systemd-timesyncd)'
  if (seconds > CLOCK_ERROR_S) return [check.error(message, remedy)]
  return [seconds > CLOCK_WARNING_S ? check.warning(message, remedy) : check.ok(message)]
}

/** A replica is as old as the node would find it. */
async function checkLag(database: Database, { maxStalenessSeconds }: DatabaseCheck): Promise<Finding[]> {
  const check = findingsOf('replica')
  const freshness = createFreshnessTracker()
  let asOf: number | null = null
  for (let i = 0; i < LAG_SAMPLES && asOf === null; i++) {
    const startedAt = performance.now()
    const [server] = await database.query<ServerState>(serverState)
    if (server?.primary) return [check.ok('this server is the primary')]
    if (server !== undefined) asOf = freshness.findAsOf(startedAt, server)
    if (asOf === null) await wait(LAG_INTERVAL_MS)
  }
  if (asOf !== null) return [check.ok('the replica is keeping up')]
  return [
    check.error(
      `the replica does not replay or receive changes; after ${maxStalenessSeconds} s, nodes that read from it reject all requests`,
      "check pg_stat_wal_receiver and the replica's log; if replay is paused, run select pg_wal_replay_resume()",
    ),
  ]
}

async function checkKeys(database: Database, { sealingKeys }: DatabaseCheck): Promise<Finding[]> {
  if (sealingKeys === null) return []
  const check = findingsOf('signing keys')
  const unreadable: string[] = []
  const load = loadKeyRing(sealingKeys, (kids) => unreadable.push(...kids))
  const ring = await load(database).catch((error: Error) => error)
  if (ring instanceof Error)
    return [
      check.error(
        `no signing key can be decrypted (${unreadable.join(', ')})`,
        'give this node the OUTBREAKS_SECRET of the others, or the one before it as OUTBREAKS_SECRET_PREVIOUS; if it is lost, run outbreakctl key rotate --force --notice 0',
      ),
    ]
  const errors = unreadable.map((kid) =>
    check.error(
      `key ${kid} cannot be decrypted: it uses another secret, or its row is damaged`,
      `set OUTBREAKS_SECRET_PREVIOUS to that secret and run outbreakctl key reseal, or run outbreakctl key disable ${kid}`,
    ),
  )
  const now = Date.now()
  const signer = findSigner(ring, now)
  if (signer === undefined)
    return [...errors, check.error('there is no key to sign tokens', 'run outbreakctl key rotate')]
  const days = Math.floor((now - signer.signsFrom) / DAY_MS)
  const message = `key ${signer.kid} has been signing for ${days} days`
  return [...errors, days > KEY_AGE_DAYS ? check.warning(message, 'run outbreakctl key rotate') : check.ok(message)]
}

async function checkClients(database: Database): Promise<Finding[]> {
  const check = findingsOf('clients')
  const [row] = await database.query<{ clients: number }>(
    sql`select count(*)::integer as clients from client where disabled_at is null`,
  )
  const clients = row?.clients ?? 0
  const expiring = await database.query<{ client_id: string; days: number }>(sql`
    select client_id, extract(day from max(expires_at) - now())::integer as days
    from client join client_secret using (client_id)
    where disabled_at is null and public_keys = '[]'
    group by client_id having count(*) = count(expires_at)
      and max(expires_at) between now() and now() + make_interval(days => ${EXPIRY_DAYS})
    order by client_id`)
  return [
    ...expiring.map(({ client_id, days }) =>
      check.warning(`the secret of ${client_id} expires in ${days} days`, `run outbreakctl client rotate ${client_id}`),
    ),
    clients === 0
      ? check.warning('no client is enabled, so no one can read the data', 'run outbreakctl client create --name …')
      : check.ok(`${clients} enabled`),
  ]
}

async function checkReleases(database: Database, { datasets }: DatabaseCheck): Promise<Finding[]> {
  const check = findingsOf('releases')
  const rows = await database.query<{ dataset: string; number: number }>(
    sql`select dataset, max(number) as number from release group by dataset`,
  )
  const findings: Finding[] = []
  for (const dataset of datasets) {
    const latest = rows.find((row) => row.dataset === dataset.name)
    if (latest === undefined) {
      findings.push(check.warning(`${dataset.name} has no release yet`, 'run outbreakctl release publish DIR'))
      continue
    }
    const faults = [...(await checkParts(database, dataset)).values()].flat()
    for (const fault of faults) findings.push(check.error(fault, 'run outbreakctl release reindex'))
    if (faults.length === 0) findings.push(check.ok(`release ${latest.number} of ${dataset.name}`))
  }
  return findings
}
