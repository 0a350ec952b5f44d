// The endpoints of clients: where they receive notices. Every statement names the client, so another client's endpoint is not there.
import { randomUUID } from 'node:crypto'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import { nextDigestAt } from './digest.ts'
import { type SealingKeys, sealSecret } from './endpoint-secrets.ts'
import { newSecret } from './signature.ts'

export const MAX_ENDPOINTS = 5
/** Deleted ones count: asking a stranger to confirm is limited too. */
const MAX_NEW_PER_DAY = 20
/** How long the previous secret signs too. */
const OVERLAP_HOURS = 24

export type Digest = 'daily' | 'weekly'

export interface Endpoint {
  readonly id: string
  readonly kind: 'webhook' | 'mail'
  readonly address: string
  readonly state: 'unconfirmed' | 'active' | 'disabled'
  readonly reason: string | null
  readonly digest: Digest | null
  readonly failing_since: Date | null
  readonly created_at: Date
}

/** Whose endpoint: the caller's, of one dataset. */
export interface Owner {
  readonly clientId: string
  readonly dataset: string
}

const COLUMNS = raw('id, kind, address, state, reason, digest, failing_since, created_at')
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const isUuid = (text: string): boolean => UUID.test(text)

const isOwned = ({ clientId, dataset }: Owner, id: string): Sql =>
  sql`id = ${isUuid(id) ? id : null}::uuid and client_id = ${clientId} and dataset = ${dataset} and deleted_at is null`

export const listEndpoints = (database: Database, { clientId, dataset }: Owner): Promise<Endpoint[]> =>
  database.query<Endpoint>(sql`
    select ${COLUMNS} from endpoint where client_id = ${clientId} and dataset = ${dataset} and deleted_at is null
    order by created_at, id`)

export async function findEndpoint(database: Database, owner: Owner, id: string): Promise<Endpoint> {
  return requireOne(await database.query<Endpoint>(sql`select ${COLUMNS} from endpoint where ${isOwned(owner, id)}`))
}

const requireOne = <Row>([row]: readonly Row[]): Row => {
  if (row === undefined) throw new Problem('not_found', 'The client has no endpoint with this id.')
  return row
}

interface NewEndpoint {
  readonly kind: Endpoint['kind']
  readonly address: string
  readonly digest: Digest | null
  readonly state: 'unconfirmed' | 'active'
}

/** The secret is returned this once; null for a mail address. */
export async function createEndpoint(
  database: Database,
  { clientId, dataset }: Owner,
  { kind, address, digest, state }: NewEndpoint,
  keys: SealingKeys,
): Promise<Endpoint & { secret: string | null }> {
  const id = randomUUID()
  const secret = kind === 'webhook' ? newSecret() : null
  const [counted] = await database.query<{ created: number }>(
    sql`select count(*)::integer as created from endpoint where client_id = ${clientId} and created_at > now() - interval '1 day'`,
  )
  if ((counted?.created ?? 0) >= MAX_NEW_PER_DAY)
    throw new Problem('limit_reached', `A client can create ${MAX_NEW_PER_DAY} endpoints a day. Try again tomorrow.`)
  const rows = await database.query<Endpoint>(sql`
    insert into endpoint (id, client_id, place, dataset, kind, address, state, digest, next_digest_at, sealed_secret)
    select ${id}, ${clientId}, min(place), ${dataset}, ${kind}, ${address}, ${state}, ${digest}, ${nextDigestAt(digest)},
      ${secret === null ? null : sealSecret(secret, keys, id)}
    from generate_series(1, ${MAX_ENDPOINTS}::integer) as place
    where place not in (select e.place from endpoint e where e.client_id = ${clientId} and e.deleted_at is null)
    having min(place) is not null
    on conflict (client_id, place) where deleted_at is null do nothing
    returning ${COLUMNS}`)
  const [created] = rows
  if (created === undefined)
    throw new Problem('limit_reached', `A client can have ${MAX_ENDPOINTS} endpoints. Delete one that you do not need.`)
  return { ...created, secret }
}

/** What waits for the digest that ends is delivered now. */
export async function setDigest(
  database: Database,
  owner: Owner,
  id: string,
  digest: Digest | null,
): Promise<Endpoint> {
  return requireOne(
    await database.query<Endpoint>(sql`
      update endpoint set digest = ${digest}, next_digest_at = coalesce(${nextDigestAt(digest)}, now())
      where ${isOwned(owner, id)} returning ${COLUMNS}`),
  )
}

/** The new secret is returned this once. For a day the previous one signs too. */
export async function rotateSecret(database: Database, owner: Owner, id: string, keys: SealingKeys) {
  const secret = newSecret()
  const rotated = requireOne(
    await database.query<{ previous_until: Date }>(sql`
      update endpoint set sealed_secret = ${sealSecret(secret, keys, id)}, sealed_previous_secret = sealed_secret,
        previous_until = now() + make_interval(hours => ${OVERLAP_HOURS})
      where ${isOwned(owner, id)} and kind = 'webhook' returning previous_until`),
  )
  return { secret, previous_until: rotated.previous_until }
}

/** Its deliveries stay in the log for thirty days, without its address and its secrets. */
export async function deleteEndpoint(database: Database, owner: Owner, id: string): Promise<void> {
  requireOne(
    await database.query(sql`
      with deleted as (
        update endpoint set deleted_at = now(), state = 'disabled', reason = 'deleted', address = '',
          sealed_secret = null, sealed_previous_secret = null
        where ${isOwned(owner, id)} returning id
      ), ended as (
        update delivery set state = 'failed', next_attempt_at = null
        from deleted where delivery.endpoint = deleted.id and delivery.state = 'pending'
      )
      select id from deleted`),
  )
}
