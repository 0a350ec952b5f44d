// Rotates, lists, disables and reseals signing keys. The first rotation creates the first key.
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'

import { type Algorithm, type KeyRow, openKey, selectLiveKeys, TOKEN_SECONDS } from '../key-ring.ts'
import { seal, unseal, unsealWithAny } from '../sealing.ts'

/** The first one encrypts; all of them decrypt. */
export type SealingKeys = readonly [Buffer, ...Buffer[]]

/** Longer than a verifier may cache the key set, so that it has a key before the key signs. */
const NOTICE_SECONDS = 600
/** A key verifies until its last token expires. The margin allows for clocks that differ. */
const OVERLAP_SECONDS = TOKEN_SECONDS + 300

/**
 * The first key signs immediately; a later one after its notice. Older keys then verify until their tokens expire. The secret must
 * read the live keys: nodes with the right secret could not read a key that another one encrypted.
 */
export async function rotateKey(
  database: Database,
  sealingKeys: SealingKeys,
  algorithm: Algorithm,
  noticeSeconds = NOTICE_SECONDS,
  { force = false } = {},
) {
  const { kid, publicJwk, privateKey } = await generateKey(algorithm)
  const sealed = seal(privateKey, sealingKeys[0], kid)
  return database.transaction(async (client) => {
    await client.query(sql`lock table signing_key in share row exclusive mode`)
    await assertSecretMatches(client, sealingKeys, force)
    const older = await client.query(sql`
      update signing_key
      set verifies_until = least(verifies_until, now() + make_interval(secs => ${noticeSeconds + OVERLAP_SECONDS}))
      where verifies_until is null or verifies_until > now()`)
    const notice = older.rowCount === 0 ? 0 : noticeSeconds
    const added = await client.query<{ signs_from: Date }>(sql`
      insert into signing_key (kid, algorithm, public_jwk, sealed_private_key, signs_from)
      values (${kid}, ${algorithm}, ${publicJwk}, ${sealed}, now() + make_interval(secs => ${notice}))
      returning signs_from`)
    return { kid, algorithm, signs_from: added.rows[0]?.signs_from }
  })
}

/** With `force` every live key must be unreadable: the secret is lost, and a new one replaces it. */
export async function assertSecretMatches(client: PoolClient, sealingKeys: SealingKeys, force = false): Promise<void> {
  const { rows } = await client.query<KeyRow>(selectLiveKeys)
  const unreadable: string[] = []
  for (const row of rows) await openKey(row, sealingKeys).catch(() => unreadable.push(row.kid))
  if (force) {
    if (unreadable.length === rows.length) return
    throw new OperatorError(
      'OUTBREAKS_SECRET decrypts at least one key, so it is not lost. Run the command without --force.',
    )
  }
  if (unreadable.length === 0) return
  const keys = unreadable.join(', ')
  throw new OperatorError(
    unreadable.length === rows.length
      ? `OUTBREAKS_SECRET does not decrypt key ${keys}. Use the same secret as the nodes. If that secret is lost, add --force --notice 0.`
      : `OUTBREAKS_SECRET does not decrypt key ${keys}, although it decrypts others. If the row is damaged, run outbreakctl key disable ${unreadable[0]}.`,
  )
}

/** The key id is the thumbprint (RFC 7638). A key whose id starts with a hyphen is discarded: it would look like an option. */
export async function generateKey(algorithm: Algorithm) {
  for (;;) {
    const pair = await generateKeyPair(algorithm, { extractable: true, modulusLength: 3072 })
    const jwk = await exportJWK(pair.publicKey)
    const kid = await calculateJwkThumbprint(jwk)
    const publicJwk = { ...jwk, kid, alg: algorithm, use: 'sig' }
    if (!kid.startsWith('-')) return { kid, publicJwk, privateKey: await exportPKCS8(pair.privateKey) }
  }
}

/**
 * Encrypts all keys with the current secret, even those that have ended, so that the previous secret is not needed any more.
 * Keys that none of the secrets reads stay as they are; only those that nodes still need are named.
 */
export async function resealKeys(database: Database, sealingKeys: SealingKeys) {
  const [current] = sealingKeys
  return database.transaction(async (client) => {
    await client.query(sql`lock table signing_key in share row exclusive mode`)
    const { rows } = await client.query<Pick<KeyRow, 'kid' | 'sealed_private_key'> & { live: boolean }>(
      sql`select kid, sealed_private_key, verifies_until is null or verifies_until > now() as live
        from signing_key order by signs_from, kid`,
    )
    const result = { resealed: 0, unchanged: 0, unreadable: [] as string[] }
    for (const { kid, sealed_private_key: sealed, live } of rows) {
      if (isReadable(() => unseal(sealed, current, kid))) result.unchanged += 1
      else if (!isReadable(() => unsealWithAny(sealed, sealingKeys, kid))) {
        if (live) result.unreadable.push(kid)
      } else {
        const resealed = seal(unsealWithAny(sealed, sealingKeys, kid), current, kid)
        await client.query(sql`update signing_key set sealed_private_key = ${resealed} where kid = ${kid}`)
        result.resealed += 1
      }
    }
    return result
  })
}

function isReadable(read: () => string): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

/**
 * For a key that may have leaked: every token that it signed is rejected. The latest other key signs from then on, so the
 * end that a rotation set for it is removed.
 */
export async function disableKey(database: Database, kid: string) {
  const remaining = await database.transaction(async (client) => {
    await client.query(sql`lock table signing_key in share row exclusive mode`)
    const changed = await client.query(sql`
      update signing_key set verifies_until = now() where kid = ${kid} and (verifies_until is null or verifies_until > now())`)
    if (changed.rowCount !== 1)
      throw new OperatorError(`No trusted key has the id ${kid}. Run outbreakctl key list to see all of them.`)
    const latest = await client.query<{ kid: string }>(sql`
      update signing_key set verifies_until = null where kid = (
        select kid from signing_key where verifies_until is null or verifies_until > now()
        order by signs_from desc, kid desc limit 1) returning kid`)
    return latest.rows[0]?.kid ?? null
  })
  // Without another key no one gets a token.
  return { kid, disabled: true, next: remaining === null ? 'outbreakctl key rotate' : null }
}

export const listKeys = (database: Database) =>
  database.query<{
    kid: string
    algorithm: Algorithm
    state: string
    signs_from: Date
    verifies_until: Date | null
  }>(sql`
    select kid, algorithm, signs_from, verifies_until,
      case
        when verifies_until <= now() then 'ended'
        when signs_from > now() then 'next'
        when signs_from = max(signs_from) filter (where signs_from <= now() and coalesce(verifies_until > now(), true)) over () then 'signing'
        else 'verifying'
      end as state
    from signing_key order by signs_from, kid`)
