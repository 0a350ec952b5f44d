// The settings of every connection of a role: who it is, what it can do and for how long.

export type Role = 'outbreaks_api' | 'outbreaks_operator' | 'outbreaks_notify'

/** Milliseconds. The server cancels a statement before the client gives up, so that no query runs on without a client. */
const TIMEOUTS = {
  outbreaks_api: { statement_timeout: 1500, lock_timeout: 500, idle_in_transaction_session_timeout: 5000 },
  // Judging watches takes seconds between two statements.
  outbreaks_notify: { statement_timeout: 5000, lock_timeout: 2000, idle_in_transaction_session_timeout: 60_000 },
  // An operator's transaction can run for long, but waits only briefly for the lock of another transaction.
  outbreaks_operator: { lock_timeout: 10_000, idle_in_transaction_session_timeout: 600_000 },
}
/**
 * Requests scan an index in order and stop early, even before the first ANALYZE. A sequential scan, a bitmap scan, a
 * parallel worker and JIT compilation would first do work for rows that are never sent.
 */
const READ_SETTINGS = {
  default_transaction_read_only: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
}

/** By name, with values as `pg_settings` has them. Without a role the login keeps its own privileges. */
export const connectionSettings = (role: Role | null): Readonly<Record<string, string | number>> => ({
  ...(role === null ? {} : { role }),
  ...(role === 'outbreaks_api' ? READ_SETTINGS : {}),
  ...TIMEOUTS[role ?? 'outbreaks_operator'],
})
