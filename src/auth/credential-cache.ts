// The clients and signing keys in memory, so that verifying a token needs no query.
import type { Watcher } from '../platform/postgres/watcher.ts'
import { Problem } from '../platform/problem.ts'
import { type ClientRegistry, loadClients } from './client-registry.ts'
import { type KeyRing, loadKeyRing } from './key-ring.ts'

export interface CredentialCache {
  clients(): ClientRegistry
  keys(): KeyRing
  /** Reloads both before an unknown client or key is rejected: it may have been created a moment ago. */
  refresh(): Promise<void>
  /** False if the data is so old that a revocation may be missing. */
  isFresh(): boolean
  /** Throws a Problem if the data is not fresh. */
  assertFresh(): void
}

export function createCredentialCache(
  watcher: Watcher,
  sealingKeys: readonly Buffer[],
  maxStalenessMs: number,
  onUnreadableKeys?: (kids: string[]) => void,
): CredentialCache {
  const clients = watcher.watch('client', loadClients, new Map())
  const keys = watcher.watch('signing_key', loadKeyRing(sealingKeys, onUnreadableKeys), [])
  const isFresh = () => watcher.stalenessMs() <= maxStalenessMs
  return {
    clients: () => clients.value,
    keys: () => keys.value,
    refresh: watcher.refresh,
    isFresh,
    assertFresh() {
      if (isFresh()) return
      throw new Problem(
        'unavailable',
        "This node's list of clients is out of date, so it cannot verify tokens. Try again in 1 s.",
      )
    },
  }
}
