// The column index of a node: a DuckDB database that has every kept release. It is built from the parts in PostgreSQL and
// extended when a release is published. In its own directory the next start uses it again; a file that cannot be read, or
// that has other releases than the database, is built anew. A query of a release that the index does not have yet waits a moment
// and then fails: the index never responds for another release. After a failure it tries again automatically, less and less often.
import { hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { runUncancelled } from '../platform/cancellation.ts'
import { DatabaseDamaged, type RunQuery } from '../platform/duckdb/duckdb.ts'
import type { Database } from '../platform/postgres/database.ts'
import { Problem } from '../platform/problem.ts'
import { createTemporaryDirectory } from '../platform/temporary-directory.ts'
import type { PublishedRelease } from '../storage/published-releases.ts'
import { type IndexFile, openIndexFile, removeIndexFile } from './index-file.ts'
import { fetchParts, fingerprintsOf, hasColumnsOf, listParts, removeParts, UnusableIndex } from './parts.ts'
import { applyParts, buildRuns, clearTables, countPresent, deletePast, rowsOf, sortRows } from './tables.ts'

type Release = Pick<PublishedRelease, 'number' | 'digest' | 'records'>

type TextsByField = ReadonlyMap<string, readonly string[]>
type CodesByField = ReadonlyMap<string, ReadonlyMap<string, number>>

/** One release of the index. All queries see the same state. */
export interface IndexSnapshot {
  /** The rows of the release, for the `from` clause. */
  readonly rows: Sql
  /** The rows of an earlier release. */
  readonly rowsOf: (release: number) => Sql
  /** True if the table `id_run` is about this release. */
  readonly hasRuns: boolean
  readonly query: RunQuery
  /** By field and text, the number of each text that the dictionary has. */
  codesOf(texts: TextsByField): Promise<CodesByField>
}

interface IndexStatus {
  /** `failed` until the next attempt. */
  readonly state: 'ready' | 'building' | 'failed'
  /** The latest release that it has; 0 if it has none. */
  readonly release: number
  /** Failed attempts and damaged files since the start. */
  readonly failures: number
  /** How many bytes of the parts have arrived, while it is built. */
  readonly fetched?: number
  readonly bytes?: number
}

export interface ColumnIndex {
  read<Result>(release: Release, work: (snapshot: IndexSnapshot) => Promise<Result>): Promise<Result>
  status(): IndexStatus
  /** True while balancers should prefer other nodes. */
  isUnready(): boolean
  /** Adds the latest release, and fetches parts that were written again. Goes on until the index has both. */
  follow(releases: readonly Release[]): void
  close(): Promise<void>
}

interface IndexOptions {
  readonly dataset: Dataset
  readonly database: Pick<Database, 'copyOut'>
  /** Where the index is kept; null to keep it in a temporary file. */
  readonly directory: string | null
  /** Called once for each failed attempt and each damaged file. */
  readonly onFailure: (error: unknown, retryMs: number) => void
  /** Called now and then while the parts are fetched. */
  readonly onProgress?: (fetchedBytes: number, bytes: number) => void
  readonly waitMs?: number
  /** The first wait after a failure. Each later one is twice as long, up to MAX_RETRY_MS. */
  readonly retryMs?: number
  readonly unreadyMs?: number
}

/** How long a query waits for the index of its release. */
const WAIT_MS = 5000
const RETRY_MS = 1000
const MAX_RETRY_MS = 60_000
/** After this time without a failure the first wait is short again. */
const CALM_MS = 600_000
/**
 * How long a node that builds its index from nothing, or after damage, asks balancers to prefer other nodes. Then it serves what
 * needs no index: all nodes may have the same trouble.
 */
const UNREADY_MS = 60_000
const PROGRESS_MS = 10_000
const INTERRUPT_MS = 50
/** A release adds its rows at the end. All rows are sorted again when this many releases were added. */
const SORTED_RELEASES = 16
const CACHED_CODES = 10_000
const NO_CODE = -1

/** Its state is that after the last write. */
type OpenIndex = IndexFile<AppliedReleases>

export function createColumnIndex(options: IndexOptions): ColumnIndex {
  const { dataset, database, directory, onProgress } = options
  const { waitMs = WAIT_MS, retryMs = RETRY_MS, unreadyMs = UNREADY_MS } = options
  let index: OpenIndex | null = null
  /** A file that could not be read. It is deleted before the next attempt. */
  let damaged: OpenIndex | null = null
  let temporary: string | null = null
  const closed = new AbortController()
  const findCodes = createCodeFinder()

  /** The latest release. */
  let target: Release | null = null
  /** Its parts in the database have not been compared with those of the index since the last change. */
  let mayDiffer = false
  let attempt: Promise<void> | null = null
  let catchingUp: Promise<void> = Promise.resolve()
  let isCatchingUp = false
  let retryAt = 0
  let endWait = () => {}
  const failure = { count: 0, inARow: 0, at: Number.NEGATIVE_INFINITY }
  let unreadyUntil = 0
  let hasCaughtUp = false
  let progress = { fetched: 0, bytes: 0, reportedAt: Number.NEGATIVE_INFINITY }

  const has = ({ number, digest }: Release) => index?.state.applied.get(number)?.digest === digest

  function noteFailure(error: unknown): void {
    if (closed.signal.aborted) return
    const now = performance.now()
    failure.count += 1
    failure.inARow = now - failure.at > CALM_MS ? 1 : failure.inARow + 1
    failure.at = now
    const delay = Math.min(retryMs * 2 ** (failure.inARow - 1), MAX_RETRY_MS)
    retryAt = now + delay
    // All nodes read the same parts, so another node would not respond either.
    if (error instanceof UnusableIndex) unreadyUntil = now
    options.onFailure(error, delay)
  }

  /** The file is closed and deleted before the next attempt, when nothing reads it any more. */
  function discard(opened: OpenIndex): void {
    if (index !== opened) return
    damaged = opened
    index = null
    hasCaughtUp = false
    unreadyUntil = performance.now() + unreadyMs
  }

  async function open(): Promise<OpenIndex> {
    if (damaged !== null) {
      await damaged.duckDb.close()
      await removeIndexFile(damaged.file)
      damaged = null
    }
    const home = directory ?? (temporary ??= await createTemporaryDirectory())
    return openIndexFile(home, dataset, readApplied, noteFailure)
  }

  /** Adds all releases up to one. If the parts were written again, the index is built anew; until then it responds as before. */
  async function extend(release: Release): Promise<void> {
    index ??= await open()
    if (closed.signal.aborted) return
    const opened = index
    const { duckDb, workDirectory, state } = opened
    const { signal } = closed
    const parts = await listParts(database, dataset, release.number, signal)
    const known = fingerprintsOf(parts)
    // The database may have another history, for instance after a restore, or an index that was built again.
    const isSameHistory = [...state.applied].every(([number, { fingerprint }]) => known.get(number) === fingerprint)
    // After the migration of an upgrade, a node of the version before keeps the index that it has.
    if (has(release) && (isSameHistory || !hasColumnsOf(dataset, parts))) return
    const after = isSameHistory ? state.latest : 0
    const files = await fetchParts(database, dataset, parts, {
      after,
      upTo: release.number,
      directory: workDirectory,
      signal,
      onProgress: reportProgress,
    })
    try {
      const extended = await duckDb.write(async (connection) => {
        if (!isSameHistory) await clearTables(connection)
        await applyParts(connection, dataset, files)
        await requireRecords(connection, release)
        await deletePast(connection, parts[0]?.oldestKept ?? 1)
        if (files.releases.some(({ release: number }) => number % SORTED_RELEASES === 0)) await sortRows(connection)
        await buildRuns(connection, dataset)
        return readApplied(async ({ text }) => (await connection.runAndReadAll(text)).getRows())
      })
      if (index === opened) index = { ...opened, state: extended }
      await removeParts(workDirectory)
    } catch (error) {
      if (error instanceof DatabaseDamaged) discard(opened)
      throw error
    }
  }

  function reportProgress(fetched: number, bytes: number): void {
    const now = performance.now()
    progress = { ...progress, fetched, bytes }
    if (now - progress.reportedAt < PROGRESS_MS) return
    progress.reportedAt = now
    onProgress?.(fetched, bytes)
  }

  /** One attempt after another, until the index has the latest release. Requests never start one. */
  async function catchUp(): Promise<void> {
    for (let release = target; release !== null && !closed.signal.aborted; release = target) {
      if (has(release) && !mayDiffer) break
      const delay = retryAt - performance.now()
      if (delay > 0) {
        await pause(delay)
        continue
      }
      const next = release
      mayDiffer = false
      attempt = runUncancelled(() => extend(next)).catch((error: unknown) => {
        mayDiffer = true
        noteFailure(error)
      })
      await attempt
      attempt = null
    }
    if (!closed.signal.aborted) hasCaughtUp = true
    isCatchingUp = false
  }

  function pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms).unref()
    endWait = () => {
      clearTimeout(timer)
      retryAt = 0
      resolve()
    }
    return promise
  }

  function startCatchingUp(): void {
    if (isCatchingUp) return
    isCatchingUp = true
    catchingUp = catchUp()
  }

  async function waitFor(release: Release): Promise<OpenIndex> {
    // The attempt that runs may be for an earlier release; the next one begins when it ends.
    const end = performance.now() + waitMs
    for (let left = waitMs; left > 0 && !has(release); left = end - performance.now()) {
      const running = attempt
      if (running === null) break
      await Promise.race([running, wait(left, undefined, { ref: false })])
    }
    if (index !== null && has(release)) return index
    throw notReady(release)
  }

  return {
    async read(release, run) {
      const opened = await waitFor(release)
      try {
        return await opened.duckDb.read(async ({ query, state: { latest, applied } }) => {
          const { digest, history } = applied.get(release.number) ?? {}
          // Checked in the transaction: the index may have been built anew since.
          if (digest !== release.digest || history === undefined) throw notReady(release)
          return run({
            rows: rowsOf(release.number, latest),
            rowsOf: (earlier) => rowsOf(earlier, latest),
            hasRuns: release.number === latest,
            query,
            codesOf: (texts) => findCodes(query, history, texts),
          })
        })
      } catch (error) {
        if (!(error instanceof DatabaseDamaged)) throw error
        if (index?.duckDb === opened.duckDb) {
          noteFailure(error)
          discard(index)
          startCatchingUp()
        }
        throw notReady(release)
      }
    },
    status() {
      const release = index?.state.latest ?? 0
      const { count: failures } = failure
      if (target === null || has(target)) return { state: 'ready', release, failures }
      if (attempt === null) return { state: 'failed', release, failures }
      return { state: 'building', release, failures, fetched: progress.fetched, bytes: progress.bytes }
    },
    isUnready: () => target !== null && !hasCaughtUp && !has(target) && performance.now() < unreadyUntil,
    follow(releases) {
      const latest = releases.at(-1)
      if (latest === undefined) return
      if (target === null) unreadyUntil = performance.now() + unreadyMs
      target = latest
      mayDiffer = true
      // The change may end the trouble of the attempt before.
      endWait()
      startCatchingUp()
    },
    async close() {
      closed.abort()
      endWait()
      // Building the index of many records takes long. Again and again, because it has many statements.
      const timer = setInterval(() => index?.duckDb.interruptWrite(), INTERRUPT_MS)
      await catchingUp
      clearInterval(timer)
      for (const opened of [index, damaged]) await opened?.duckDb.close()
      for (const unused of [index?.workDirectory, temporary])
        if (typeof unused === 'string') await rm(unused, { recursive: true, force: true })
    },
  }
}

const notReady = ({ number }: Release) =>
  new Problem(
    'unavailable',
    `This node is still building its index for release ${number}. Try again in 1 s. Requests without filters already work.`,
  )

/** Every record of the release has a row. */
async function requireRecords(connection: DuckDBConnection, { number, records }: Release): Promise<void> {
  const rows = await countPresent(connection)
  if (rows !== records)
    throw new Error(
      `The column index of release ${number} has ${rows} records, but the release has ${records}. Run outbreakctl release reindex.`,
    )
}

interface AppliedReleases {
  readonly latest: number
  /** By number. `history` identifies the parts of a release and of all earlier ones. */
  readonly applied: ReadonlyMap<number, { digest: string; fingerprint: string; history: string }>
}

async function readApplied(query: RunQuery): Promise<AppliedReleases> {
  const rows = await query(sql`select number, digest, fingerprint from applied_release order by number`)
  const applied = new Map<number, { digest: string; fingerprint: string; history: string }>()
  let history = ''
  for (const [number, digest, fingerprint] of rows) {
    history = hash('sha256', `${history} ${String(fingerprint)}`)
    applied.set(Number(number), { digest: String(digest), fingerprint: String(fingerprint), history })
  }
  return { latest: Number(rows.at(-1)?.[0] ?? 0), applied }
}

/**
 * The numbers of a release are cached for its history of parts: parts that are written again may have other numbers. -1 if
 * the dictionary does not have the text.
 */
function createCodeFinder() {
  const cache = new LRUCache<string, number>({ max: CACHED_CODES })
  return async (query: IndexSnapshot['query'], history: string, texts: TextsByField): Promise<CodesByField> => {
    // A digest: with 10,000 long values of filters the keys themselves would take 75 MB.
    const keyOf = (field: string, value: string) => hash('sha256', `${history}\0${field}\0${value}`, 'base64url')
    const pairs = [...texts].flatMap(([field, values]) => values.map((value) => ({ value, key: keyOf(field, value) })))
    const known = new Map(pairs.map(({ key }) => [key, cache.get(key)]))
    const unknown = pairs.filter(({ key }) => known.get(key) === undefined)
    if (unknown.length > 0) {
      for (const { key } of unknown) known.set(key, NO_CODE)
      // By the value alone: with a condition on the field DuckDB would read the whole table and not use its index.
      const rows = await query(sql`
        select field, value, code from dictionary where value in (${join([...new Set(unknown.map(({ value }) => value))])})`)
      for (const [field, value, code] of rows) {
        const key = keyOf(String(field), String(value))
        if (known.has(key)) known.set(key, Number(code))
      }
      await findIgnoringCase(query, texts, known, keyOf)
      for (const { key } of unknown) cache.set(key, known.get(key))
    }
    return new Map(
      [...texts].map(([field, values]) => {
        const codes = values.map((value): [string, number] => [value, known.get(keyOf(field, value)) ?? NO_CODE])
        return [field, new Map(codes.filter(([, code]) => code !== NO_CODE))]
      }),
    )
  }
}

/** Values that no record has are looked up without regard to case. That reads the whole dictionary, so only then. */
async function findIgnoringCase(
  query: IndexSnapshot['query'],
  texts: TextsByField,
  known: Map<string, number | undefined>,
  keyOf: (field: string, value: string) => string,
): Promise<void> {
  const missing = [...texts].flatMap(([field, values]) =>
    values.map((value) => ({ field, value, key: keyOf(field, value) })).filter(({ key }) => known.get(key) === NO_CODE),
  )
  if (missing.length === 0) return
  const lowered = [...new Set(missing.map(({ value }) => value.toLowerCase()))]
  const rows = await query(sql`
    select field, lower(value), min(code) from dictionary where lower(value) in (${join(lowered)}) group by all`)
  const codes = new Map(rows.map(([field, value, code]) => [`${String(field)}\0${String(value)}`, Number(code)]))
  for (const { field, value, key } of missing) known.set(key, codes.get(`${field}\0${value.toLowerCase()}`) ?? NO_CODE)
}
