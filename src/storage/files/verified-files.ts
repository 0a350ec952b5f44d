// Opens a file for download only after its SHA-256 was verified on this node. The file is verified again when its size or
// modification time changes. Concurrent requests share one verification.
import { Problem } from '../../platform/problem.ts'
import { withTimeout } from '../../platform/timeout.ts'
import type { ReleaseFile } from '../published-releases.ts'
import { type FileStore, readFingerprint, type StoredFile } from './file-store.ts'

interface Verification {
  readonly stamp: string
  /** Rejects if the file differs from the published one. */
  readonly result: Promise<void>
}

/** A request waits at most `timeoutMs` for a verification. The verification then continues without it. */
export function createFileOpener(store: FileStore, timeoutMs: number) {
  const verifications = new Map<string, Verification>()

  async function verifyContent(file: ReleaseFile, stamp: string): Promise<void> {
    const stored = await store.open(file.name)
    if (stored?.stamp !== stamp || stored.bytes !== file.bytes) await stored?.close()
    if (stored?.stamp !== stamp) throw new Problem('unavailable', `${file.name} is being replaced. Try again in 1 s.`)
    if (stored.bytes !== file.bytes) reportDamage(file, `has ${stored.bytes} bytes instead of ${file.bytes}`)
    const { sha256 } = await readFingerprint(stored)
    if (sha256 !== file.sha256) reportDamage(file, `has the SHA-256 ${sha256} instead of ${file.sha256}`)
  }

  function verify(file: ReleaseFile, stamp: string): Promise<void> {
    const known = verifications.get(file.name)
    if (known?.stamp === stamp) return known.result
    const result = verifyContent(file, stamp)
    verifications.set(file.name, { stamp, result })
    result.catch((error: unknown) => {
      // Other errors say nothing about the file: the next request tries again.
      const isDamaged = error instanceof Problem && error.code === 'file_damaged'
      if (!isDamaged && verifications.get(file.name)?.result === result) verifications.delete(file.name)
    })
    return result
  }

  return async function openVerified(file: ReleaseFile): Promise<StoredFile> {
    const stored = (await store.open(file.name)) ?? reportDamage(file, 'is not in the store')
    try {
      await withTimeout(
        timeoutMs,
        verify(file, stored.stamp),
        `${file.name} is still being verified. Try again in 1 s.`,
      )
      return stored
    } catch (error) {
      await stored.close()
      throw error
    }
  }
}

function reportDamage({ name }: ReleaseFile, difference: string): never {
  throw new Problem(
    'file_damaged',
    `The copy of ${name} on this node does not match the published file. The operator has to export it again. Until then, read the records through the API.`,
    {
      cause: new Error(`${name} ${difference}`),
    },
  )
}
