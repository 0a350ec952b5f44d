// How old is what a database says? A primary says what holds now. A replica says what it has replayed, which is as old as
// the youngest moment of which it has replayed all it had received. No clock but our own is asked.
import sql, { type Sql } from 'sql-template-tag'

/** What a server says of itself, in the snapshot that is judged. Positions in the WAL are counted in bytes. */
export interface ServerState {
  readonly primary: boolean
  /** How far it had received WAL while its primary was connected; null where none was. */
  readonly received: string | null
  readonly replayed: string | null
}

/**
 * The presence of a WAL receiver is visible to every role. What the primary last said of its own position is not: it is
 * null without pg_read_all_stats, and then what has arrived counts.
 */
export const serverState: Sql = sql`
  select not pg_is_in_recovery() as primary,
    (select greatest(pg_last_wal_receive_lsn(), latest_end_lsn) - '0/0' from pg_stat_wal_receiver) as received,
    pg_last_wal_replay_lsn() - '0/0' as replayed`

/** Moments are kept so far apart, and no longer than any bound on the age of what is known. */
const SPACING_MS = 250
const LONGEST_MS = 600_000

interface Moment {
  at: number
  received: bigint
}

/** Servers in rotation may share one: positions of replicas of one primary can be compared. */
export function createFreshness() {
  let moments: Moment[] = []

  function note(at: number, received: bigint): void {
    const last = moments.at(-1)
    if (last !== undefined && last.received === received) last.at = at
    else if (last === undefined || at - last.at >= SPACING_MS) moments.push({ at, received })
  }

  return {
    /** The moment as of which a state is known that was read by a round which began `at`; null where none is proved. */
    judge(at: number, { primary, received, replayed }: ServerState): number | null {
      if (primary) return at
      if (received !== null) note(at, BigInt(received))
      if (replayed === null) return null
      const reached = BigInt(replayed)
      moments = moments.filter((moment) => at - moment.at <= LONGEST_MS)
      return moments.findLast((moment) => moment.received <= reached)?.at ?? null
    },
  }
}
