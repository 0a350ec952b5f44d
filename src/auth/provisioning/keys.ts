// Rotates, lists and disables signing keys. The first rotation creates the first key.
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import sql from 'sql-template-tag'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Algorithm, TOKEN_SECONDS } from '../key-ring.ts'
import { seal } from '../sealing.ts'

/** Longer than a verifier may cache the key set, so that it has a key before the key signs. */
const NOTICE_SECONDS = 600
/** A key verifies until its last token expires. The margin allows for clocks that differ. */
const OVERLAP_SECONDS = TOKEN_SECONDS + 300

/** The first key signs at once; a later one after its notice. Older keys then verify until their tokens expire. */
export async function rotateKey(
  database: Database,
  sealingKey: Buffer,
  algorithm: Algorithm,
  noticeSeconds = NOTICE_SECONDS,
) {
  const { kid, publicJwk, privateKey } = await generateKey(algorithm)
  const sealed = seal(privateKey, sealingKey, kid)
  return database.transaction(async (client) => {
    await client.query(sql`lock table signing_key in share row exclusive mode`)
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
 * For a key that may have leaked: every token that it signed is rejected. The newest other key signs from then on, so the
 * end that a rotation set for it is removed.
 */
export async function disableKey(database: Database, kid: string) {
  await database.transaction(async (client) => {
    await client.query(sql`lock table signing_key in share row exclusive mode`)
    const changed = await client.query(sql`
      update signing_key set verifies_until = now() where kid = ${kid} and (verifies_until is null or verifies_until > now())`)
    if (changed.rowCount !== 1) throw new OperatorError('there is no such key, or it is not trusted any more')
    await client.query(sql`
      update signing_key set verifies_until = null where kid = (
        select kid from signing_key where verifies_until is null or verifies_until > now()
        order by signs_from desc, kid desc limit 1)`)
  })
  return { kid, disabled: true }
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
