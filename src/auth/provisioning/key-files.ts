// Reads the public keys of a client from a file, a JWK or a JWK Set, and rejects what is not a strong public key.
import { readFileSync } from 'node:fs'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { OperatorError } from '../../platform/operator-error.ts'
import { readClientKey } from '../client-assertion.ts'

/** Each key may cost a signature check for each request that names the client. */
const MAX_KEYS = 5
const MAX_BYTES = 65_536

export async function readKeyFile(file: string): Promise<JWK[]> {
  const entries = listEntries(file)
  if (entries.length === 0 || entries.length > MAX_KEYS)
    throw new OperatorError(`${file} must contain 1 to ${MAX_KEYS} keys. It contains ${entries.length}.`)
  const keys = entries.map((entry, i) => {
    try {
      return readClientKey(entry).jwk
    } catch (error) {
      throw new OperatorError(`Key ${i + 1} in ${file} is not accepted: ${(error as Error).message}.`)
    }
  })
  const kids = keys.flatMap(({ kid }) => kid ?? [])
  const thumbprints = await Promise.all(keys.map((key) => calculateJwkThumbprint(key)))
  if (new Set(kids).size < kids.length || new Set(thumbprints).size < keys.length)
    throw new OperatorError(`${file} contains the same key or kid twice. Remove one.`)
  return keys
}

function listEntries(file: string): unknown[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}). Check the path and its permissions.`,
    )
  }
  if (text.length > MAX_BYTES)
    throw new OperatorError(`${file} is too large to be a key set. Check that it is the right file.`)
  try {
    const parsed = JSON.parse(text) as { keys?: unknown }
    if (Array.isArray(parsed?.keys)) return parsed.keys
    return [parsed]
  } catch {
    // Without the text: the file may contain a private key.
    throw new OperatorError(`${file} is not valid JSON.`)
  }
}
