// How old is what a database says? A primary says what holds now. A replica says what it has replayed, which is as old as
// the youngest moment of which it has replayed all it had received. No clock but our own is asked.
import sql, { type Sql } from 'sql-template-tag'

/** What a server says of itself, in the snapshot that is judged. Positions in the WAL are counted in bytes. */
export interface ServerState {
  readonly primary: boolean
  /** Tells one server from another behind the same address. */
  readonly started: string
  /** How far it has received WAL; null while it is not connected to its primary. */
  readonly received: string | null
  readonly replayed: string | null
}

/** That a WAL receiver runs is visible to every role; what it knows of its primary is not. */
export const serverState: Sql = sql`
  select not pg_is_in_recovery() as primary, pg_postmaster_start_time()::text as started,
    (select pg_last_wal_receive_lsn() - '0/0' from pg_stat_wal_receiver) as received,
    pg_last_wal_replay_lsn() - '0/0' as replayed`

/** Moments are kept so far apart, and no longer than any bound on the age of what is known. */
const SPACING_MS = 250
const LONGEST_MS = 600_000
/** A replica that was cut off first receives what it has missed: so long what it has received says nothing. */
const SETTLING_MS = 2000

interface Replica {
  moments: { at: number; received: bigint }[]
  cutOffAt: number
  seenAt: number
}

export function createFreshness() {
  const replicas = new Map<string, Replica>()

  function findReplica(at: number, started: string): Replica {
    for (const [name, { seenAt }] of replicas) if (at - seenAt > LONGEST_MS) replicas.delete(name)
    const replica = replicas.get(started) ?? { moments: [], cutOffAt: Number.NEGATIVE_INFINITY, seenAt: at }
    replicas.set(started, replica)
    return replica
  }

  return {
    /** The moment as of which a state is known that was read by a round which began `at`; null where none is proved. */
    judge(at: number, { primary, started, received, replayed }: ServerState): number | null {
      if (primary) return at
      const replica = findReplica(at, started)
      replica.seenAt = at
      if (received === null) replica.cutOffAt = at
      else if (at - replica.cutOffAt >= SETTLING_MS) note(replica, at, BigInt(received))
      replica.moments = replica.moments.filter((moment) => at - moment.at <= LONGEST_MS)
      return replica.moments.findLast((moment) => moment.received <= BigInt(replayed ?? -1))?.at ?? null
    },
  }
}

function note({ moments }: Replica, at: number, received: bigint): void {
  const last = moments.at(-1)
  if (last !== undefined && last.received === received) last.at = at
  else if (last === undefined || at - last.at >= SPACING_MS) moments.push({ at, received })
}
