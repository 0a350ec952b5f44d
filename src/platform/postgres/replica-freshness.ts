// Determines how old the data of a database server is. A primary is current. A replica is as old as the latest sample
// whose received WAL it has replayed completely. Only the clock of this process is used.
import sql, { type Sql } from 'sql-template-tag'

/** The state of a server, read in the same snapshot as the data. WAL positions are in bytes. */
export interface ServerState {
  readonly primary: boolean
  /** Distinguishes servers behind the same address. */
  readonly started: string
  /** The position up to which it has received WAL; null while it is not connected to its primary. */
  readonly received: string | null
  readonly replayed: string | null
}

/** Every role can see whether a WAL receiver runs; the other columns of pg_stat_wal_receiver need more privileges. */
export const serverState: Sql = sql`
  select not pg_is_in_recovery() as primary, pg_postmaster_start_time()::text as started,
    (select pg_last_wal_receive_lsn() - '0/0' from pg_stat_wal_receiver) as received,
    pg_last_wal_replay_lsn() - '0/0' as replayed`

/** The retention is the maximum of OUTBREAKS_MAX_STALENESS_SECONDS. */
const SAMPLE_INTERVAL_MS = 250
const MAX_SAMPLE_AGE_MS = 600_000
/** After a reconnect a replica first receives the WAL that it missed, so samples of this time would look too fresh. */
const RECONNECT_MARGIN_MS = 2000

interface Replica {
  samples: { at: number; received: bigint }[]
  disconnectedAt: number
  seenAt: number
}

export function createFreshnessTracker() {
  const replicas = new Map<string, Replica>()

  function findReplica(at: number, started: string): Replica {
    for (const [name, { seenAt }] of replicas) if (at - seenAt > MAX_SAMPLE_AGE_MS) replicas.delete(name)
    const replica = replicas.get(started) ?? { samples: [], disconnectedAt: Number.NEGATIVE_INFINITY, seenAt: at }
    replicas.set(started, replica)
    return replica
  }

  return {
    /** The time for which a state that was read at `at` is known to be complete; null if it is unknown. */
    findAsOf(at: number, { primary, started, received, replayed }: ServerState): number | null {
      if (primary) return at
      const replica = findReplica(at, started)
      replica.seenAt = at
      if (received === null) replica.disconnectedAt = at
      else if (at - replica.disconnectedAt >= RECONNECT_MARGIN_MS) addSample(replica, at, BigInt(received))
      replica.samples = replica.samples.filter((sample) => at - sample.at <= MAX_SAMPLE_AGE_MS)
      return replica.samples.findLast((sample) => sample.received <= BigInt(replayed ?? -1))?.at ?? null
    },
  }
}

function addSample({ samples }: Replica, at: number, received: bigint): void {
  const last = samples.at(-1)
  if (last !== undefined && last.received === received) last.at = at
  else if (last === undefined || at - last.at >= SAMPLE_INTERVAL_MS) samples.push({ at, received })
}
