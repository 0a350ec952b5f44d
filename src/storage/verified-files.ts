// A file leaves this node only after it was read through here and found to be what was published.
// It is read again whenever its size or time changed; requests that come together wait for the same reading.
import { Problem } from '../platform/problem.ts'
import { withTimeout } from '../platform/timeout.ts'
import { type FileStore, readFingerprint, type StoredFile } from './file-store.ts'
import type { ReleaseFile } from './published-releases.ts'

interface Check {
  readonly stamp: string
  /** Rejects where the file is not what was published. */
  readonly verdict: Promise<void>
}

/** `waitMs` is how long a request waits for a reading, which goes on without it. */
export function createFileOpener(store: FileStore, waitMs: number) {
  const checks = new Map<string, Check>()

  async function readThrough(file: ReleaseFile, stamp: string): Promise<void> {
    const stored = await store.open(file.name)
    if (stored?.stamp !== stamp || stored.bytes !== file.bytes) await stored?.close()
    if (stored?.stamp !== stamp) throw new Problem('unavailable', `${file.name} is being replaced; try again shortly.`)
    if (stored.bytes !== file.bytes) reportDamage(file, `has ${stored.bytes} bytes instead of ${file.bytes}`)
    const { sha256 } = await readFingerprint(stored)
    if (sha256 !== file.sha256) reportDamage(file, `has the SHA-256 ${sha256} instead of ${file.sha256}`)
  }

  function check(file: ReleaseFile, stamp: string): Promise<void> {
    const known = checks.get(file.name)
    if (known?.stamp === stamp) return known.verdict
    const verdict = readThrough(file, stamp)
    checks.set(file.name, { stamp, verdict })
    verdict.catch((error: unknown) => {
      // A reading that failed says nothing of the file: the next request tries again.
      const judged = error instanceof Problem && error.code === 'file_damaged'
      if (!judged && checks.get(file.name)?.verdict === verdict) checks.delete(file.name)
    })
    return verdict
  }

  return async function openChecked(file: ReleaseFile): Promise<StoredFile> {
    const stored = (await store.open(file.name)) ?? reportDamage(file, 'is not in the store')
    try {
      await withTimeout(waitMs, check(file, stored.stamp), `${file.name} is still being checked; try again shortly.`)
      return stored
    } catch (error) {
      await stored.close()
      throw error
    }
  }
}

function reportDamage({ name }: ReleaseFile, fault: string): never {
  throw new Problem('file_damaged', `${name} is not what was published; the operator has to write it again.`, {
    cause: new Error(`${name} ${fault}`),
  })
}
