// Creates, lists, rotates, disables and enables clients. A secret is shown once; only its digest is stored. Of the keys of a client
// only the public part is accepted.
import { randomBytes } from 'node:crypto'
import type { JWK } from 'jose'
import type { PoolClient } from 'pg'
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
  /** When the last of its secrets expires; null if one never does, or if it has none. */
  secret_expires_at: Date | null
  /** Of several that still work, the first that ends. */
  old_secret_expires_at: Date | null
  public_keys: number
}

const generateClientId = () => randomBytes(12).toString('hex')
/** Secret scanners recognise a leaked secret by the prefix. */
const generateSecret = () => `ods_${randomBytes(32).toString('base64url')}`

/** `expiresAt` is null for a secret that never expires. */
export async function createClient(database: Database, name: string, scopes: string[], expiresAt: Date | null = null) {
  const clientId = generateClientId()
  const secret = generateSecret()
  await database.transaction(async (client) => {
    await client.query(sql`insert into client (client_id, name, scopes) values (${clientId}, ${name}, ${scopes})`)
    await insertSecret(client, clientId, secret, expiresAt)
  })
  return {
    client_id: clientId,
    client_secret: secret,
    name,
    scopes,
    ...(expiresAt && { secret_expires_at: expiresAt }),
  }
}

/** A client without a secret, which signs assertions. */
export async function createKeyClient(database: Database, name: string, scopes: string[], publicKeys: readonly JWK[]) {
  const clientId = generateClientId()
  await database.transaction((client) =>
    client.query(sql`
      insert into client (client_id, name, scopes, public_keys)
      values (${clientId}, ${name}, ${scopes}, ${JSON.stringify(publicKeys)})`),
  )
  return { client_id: clientId, name, scopes, public_keys: publicKeys.length }
}

const insertSecret = (client: PoolClient, clientId: string, secret: string, expiresAt: Date | null) =>
  client.query(sql`
    insert into client_secret (secret_sha256, client_id, expires_at)
    values (${digestSecret(secret)}, ${clientId}, ${expiresAt})`)

export const listClients = (database: Database): Promise<ClientSummary[]> =>
  database.query<ClientSummary>(sql`
    select client_id, name, scopes, client.created_at, disabled_at,
      count(secret_sha256) filter (where expires_at is null or expires_at > now())::integer as live_secrets,
      case when not bool_or(secret_sha256 is not null and expires_at is null)
        then max(expires_at) filter (where expires_at > now()) end as secret_expires_at,
      case when count(secret_sha256) filter (where expires_at is null or expires_at > now()) > 1
        then min(expires_at) filter (where expires_at > now()) end as old_secret_expires_at,
      jsonb_array_length(public_keys) as public_keys
    from client left join client_secret using (client_id)
    group by client_id order by client.created_at, client_id`)

/**
 * Gives a client a new secret; the old ones stay valid for `overlapSeconds`. With an overlap of 0 all earlier tokens
 * are revoked as well, because they may have leaked with the old secret.
 */
export async function rotateSecret(
  database: Database,
  clientId: string,
  overlapSeconds: number,
  expiresAt: Date | null = null,
) {
  const secret = generateSecret()
  const oldSecretExpiresAt = await database.transaction(async (client) => {
    await requireClient(
      clientId,
      client.query(sql`
      update client set generation = generation + ${overlapSeconds === 0 ? 1 : 0} where client_id = ${clientId}`),
    )
    const old = await endSecrets(client, clientId, overlapSeconds)
    await insertSecret(client, clientId, secret, expiresAt)
    return old
  })
  return {
    client_id: clientId,
    client_secret: secret,
    old_secret_expires_at: oldSecretExpiresAt,
    ...(expiresAt && { secret_expires_at: expiresAt }),
  }
}

/**
 * Gives a client public keys instead of those that it has; its secrets stay valid for `overlapSeconds`. With an overlap of 0 all
 * earlier tokens are revoked as well.
 */
export async function setPublicKeys(
  database: Database,
  clientId: string,
  publicKeys: readonly JWK[],
  overlapSeconds: number,
) {
  const oldSecretExpiresAt = await database.transaction(async (client) => {
    await requireClient(
      clientId,
      client.query(sql`
      update client set public_keys = ${JSON.stringify(publicKeys)}, generation = generation + ${overlapSeconds === 0 ? 1 : 0}
      where client_id = ${clientId}`),
    )
    return endSecrets(client, clientId, overlapSeconds)
  })
  return { client_id: clientId, public_keys: publicKeys.length, old_secret_expires_at: oldSecretExpiresAt }
}

/** Live secrets expire after `seconds`, or earlier if they would anyway. Returns the latest expiry; null if there was none. */
async function endSecrets(client: PoolClient, clientId: string, seconds: number): Promise<Date | null> {
  const old = await client.query<{ expires_at: Date }>(sql`
    update client_secret set expires_at = least(expires_at, now() + make_interval(secs => ${seconds}))
    where client_id = ${clientId} and (expires_at is null or expires_at > now()) returning expires_at`)
  return old.rows.reduce<Date | null>(
    (last, row) => (last !== null && last > row.expires_at ? last : row.expires_at),
    null,
  )
}

/** A disabled client gets no tokens, and its tokens are revoked. After it is enabled it needs a new token. */
export async function setClientDisabled(database: Database, clientId: string, disabled: boolean) {
  await database.transaction((client) =>
    requireClient(
      clientId,
      client.query(sql`
      update client set generation = generation + 1, disabled_at = case when ${disabled} then coalesce(disabled_at, now()) end
      where client_id = ${clientId}`),
    ),
  )
  return { client_id: clientId, disabled }
}

async function requireClient(id: string, update: Promise<{ rowCount: number | null }>): Promise<void> {
  if ((await update).rowCount !== 1)
    throw new OperatorError(`No client has the id ${id}. Run outbreakctl client list to see all of them.`)
}
