// What this node knows of clients and keys, without asking the database.

import type { Watcher } from '../platform/postgres/watcher.ts'
import { Problem } from '../platform/problem.ts'
import { type ClientRegistry, loadClients } from './client-registry.ts'
import { type KeyRing, loadKeyRing } from './key-ring.ts'

export interface CredentialCache {
  clients(): ClientRegistry
  keys(): KeyRing
  /** Asks the database once more, before somebody is refused who may have been let in a moment ago. */
  refresh(): Promise<void>
  /** Throws where the knowledge is so old that a revocation may be missing: then nobody is let in. */
  assertFresh(): void
}

export function createCredentialCache(watcher: Watcher, sealingKey: Buffer, maxStalenessMs: number): CredentialCache {
  const clients = watcher.watch('client', loadClients, new Map())
  const keys = watcher.watch('signing_key', loadKeyRing(sealingKey), [])
  return {
    clients: () => clients.value,
    keys: () => keys.value,
    refresh: watcher.refresh,
    assertFresh() {
      if (watcher.age() <= maxStalenessMs) return
      throw new Problem('unavailable', 'Clients cannot be looked up at the moment.')
    },
  }
}
