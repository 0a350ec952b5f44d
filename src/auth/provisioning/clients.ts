// Creates, lists, rotates, disables and enables clients. A secret is shown once; only its digest is stored.
import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { digestSecret } from '../client-registry.ts'

export type ClientSummary = {
  client_id: string
  name: string
  scopes: string[]
  created_at: Date
  disabled_at: Date | null
  live_secrets: number
}

/** Secret scanners recognise a leaked secret by the prefix. */
const generateSecret = () => `ods_${randomBytes(32).toString('base64url')}`

export async function createClient(database: Database, name: string, scopes: string[]) {
  const clientId = randomBytes(12).toString('hex')
  const secret = generateSecret()
  await database.transaction(async (client) => {
    await client.query(sql`insert into client (client_id, name, scopes) values (${clientId}, ${name}, ${scopes})`)
    await client.query(
      sql`insert into client_secret (secret_sha256, client_id) values (${digestSecret(secret)}, ${clientId})`,
    )
  })
  return { client_id: clientId, client_secret: secret, name, scopes }
}

export const listClients = (database: Database): Promise<ClientSummary[]> =>
  database.query<ClientSummary>(sql`
    select client_id, name, scopes, client.created_at, disabled_at,
      count(secret_sha256) filter (where expires_at is null or expires_at > now())::integer as live_secrets
    from client left join client_secret using (client_id)
    group by client_id order by client.created_at, client_id`)

/**
 * Gives a client a new secret; the old ones stay valid for `overlapSeconds`. With an overlap of 0 all earlier tokens
 * are revoked as well, because they may have leaked with the old secret.
 */
export async function rotateSecret(database: Database, clientId: string, overlapSeconds: number) {
  const secret = generateSecret()
  const oldSecretExpiresAt = await database.transaction(async (client) => {
    await requireClient(
      client.query(sql`
      update client set generation = generation + ${overlapSeconds === 0 ? 1 : 0} where client_id = ${clientId}`),
    )
    const old = await client.query<{ expires_at: Date }>(sql`
      update client_secret set expires_at = least(expires_at, now() + make_interval(secs => ${overlapSeconds}))
      where client_id = ${clientId} and (expires_at is null or expires_at > now()) returning expires_at`)
    await client.query(
      sql`insert into client_secret (secret_sha256, client_id) values (${digestSecret(secret)}, ${clientId})`,
    )
    return old.rows.reduce<Date | null>(
      (last, row) => (last !== null && last > row.expires_at ? last : row.expires_at),
      null,
    )
  })
  return { client_id: clientId, client_secret: secret, old_secret_expires_at: oldSecretExpiresAt }
}

/** A disabled client gets no tokens, and its tokens are revoked. After it is enabled it needs a new token. */
export async function setClientDisabled(database: Database, clientId: string, disabled: boolean) {
  await database.transaction((client) =>
    requireClient(
      client.query(sql`
      update client set generation = generation + 1, disabled_at = case when ${disabled} then coalesce(disabled_at, now()) end
      where client_id = ${clientId}`),
    ),
  )
  return { client_id: clientId, disabled }
}

async function requireClient(update: Promise<{ rowCount: number | null }>): Promise<void> {
  if ((await update).rowCount !== 1) throw new OperatorError('there is no such client')
}
