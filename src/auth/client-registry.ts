// The clients in memory, with their scopes, the digests of their secrets and their public keys.
// Reads only; provisioning/clients.ts writes.
import { createHash, timingSafeEqual } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Reader } from '../platform/postgres/database.ts'

export interface Client {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly generation: number
  readonly disabled: boolean
  readonly secrets: readonly { digest: Buffer; expiresAt: number }[]
  /** JWKs that verify its assertions; none if it has only secrets. client-assertion.ts reads them. */
  readonly publicKeys?: readonly unknown[]
}

export type ClientRegistry = ReadonlyMap<string, Client>

export const digestSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()

export async function loadClients(database: Reader): Promise<ClientRegistry> {
  const rows = await database.query<{
    client_id: string
    scopes: string[]
    generation: number
    disabled: boolean
    public_keys: unknown[]
    digests: Buffer[]
    expiries: (Date | null)[]
  }>(sql`
    select client.client_id, scopes, generation, disabled_at is not null as disabled, public_keys,
      coalesce(array_agg(secret_sha256 order by secret_sha256) filter (where secret_sha256 is not null), '{}') as digests,
      array_agg(expires_at order by secret_sha256) as expiries
    from client left join client_secret as secret
      on secret.client_id = client.client_id and (expires_at is null or expires_at > now())
    group by client.client_id`)
  return new Map(
    rows.map((row) => [
      row.client_id,
      {
        clientId: row.client_id,
        scopes: row.scopes,
        generation: row.generation,
        disabled: row.disabled,
        publicKeys: row.public_keys,
        secrets: row.digests.map((digest, i) => ({
          digest,
          expiresAt: row.expiries[i]?.getTime() ?? Number.POSITIVE_INFINITY,
        })),
      },
    ]),
  )
}

/** Used for an unknown client, so that the response takes the same time as for a wrong secret. */
const DUMMY_CLIENT: Client = {
  clientId: '',
  scopes: [],
  generation: 0,
  disabled: true,
  secrets: [{ digest: Buffer.alloc(32), expiresAt: 0 }],
}

export function authenticate(registry: ClientRegistry, clientId: string, secret: string, now: number): Client | null {
  const client = registry.get(clientId) ?? DUMMY_CLIENT
  const digest = digestSecret(secret)
  let matched = false
  // Also for a client whose secrets have all expired.
  for (const stored of client.secrets.length === 0 ? DUMMY_CLIENT.secrets : client.secrets) {
    const equal = timingSafeEqual(stored.digest, digest)
    if (equal && stored.expiresAt > now) matched = true
  }
  return matched && !client.disabled ? client : null
}
