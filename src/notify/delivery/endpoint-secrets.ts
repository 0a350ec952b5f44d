// The secrets of webhooks at rest: sealed as signing keys are, each bound to its endpoint.
import sql from 'sql-template-tag'
import { seal, unseal, unsealWithAny } from '../../auth/sealing.ts'
import type { Database } from '../../platform/postgres/database.ts'

/** The first one encrypts; all of them decrypt. */
export type SealingKeys = readonly [Buffer, ...Buffer[]]

interface SealedSecrets {
  readonly endpoint: string
  readonly sealed_secret: Buffer | null
  /** Null when it does not sign any more. */
  readonly sealed_previous_secret: Buffer | null
}

export const sealSecret = (secret: string, [key]: SealingKeys, endpoint: string): Buffer => seal(secret, key, endpoint)

/** The secrets that sign now. Throws if another OUTBREAKS_SECRET sealed them. */
export const openSecrets = (row: SealedSecrets, keys: SealingKeys): string[] =>
  [row.sealed_secret, row.sealed_previous_secret]
    .filter((sealed) => sealed !== null)
    .map((sealed) => unsealWithAny(sealed, keys, row.endpoint))

/**
 * Seals with the first key what another one sealed, so that the previous OUTBREAKS_SECRET is not needed any more. Returns the
 * endpoints whose secret none of the keys opens.
 */
export async function resealSecrets(database: Database, keys: SealingKeys): Promise<string[]> {
  const rows = await database.query<SealedSecrets>(
    sql`select id as endpoint, sealed_secret, sealed_previous_secret from endpoint where sealed_secret is not null`,
  )
  const unreadable: string[] = []
  for (const row of rows) {
    const reseal = (sealed: Buffer | null) =>
      sealed &&
      (isSealedWith(sealed, keys[0], row.endpoint)
        ? sealed
        : seal(unsealWithAny(sealed, keys, row.endpoint), keys[0], row.endpoint))
    try {
      const [secret, previous] = [reseal(row.sealed_secret), reseal(row.sealed_previous_secret)]
      if (secret === row.sealed_secret && previous === row.sealed_previous_secret) continue
      // Only if it was not rotated since.
      await database.query(
        sql`update endpoint set sealed_secret = ${secret}, sealed_previous_secret = ${previous}
            where id = ${row.endpoint} and sealed_secret = ${row.sealed_secret}`,
      )
    } catch {
      unreadable.push(row.endpoint)
    }
  }
  return unreadable
}

function isSealedWith(sealed: Buffer, key: Buffer, endpoint: string): boolean {
  try {
    unseal(sealed, key, endpoint)
    return true
  } catch {
    return false
  }
}
