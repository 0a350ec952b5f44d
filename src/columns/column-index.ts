// The column index of a node: a DuckDB database that has every kept release. It is built from the parts in PostgreSQL and
// extended when a release is published. In a directory of its own the next start uses it again; a file that is damaged, or
// that has other releases than the database, is built anew. A query of a release that the index does not have
// yet waits a moment and then fails: the index never answers for another release.
import { hash } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type DuckDBConnection, version as engineVersion } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { runUncancelled } from '../platform/cancellation.ts'
import { type DuckDb, openDuckDb, type RunQuery } from '../platform/duckdb/duckdb.ts'
import type { Database, Reader } from '../platform/postgres/database.ts'
import { Problem } from '../platform/problem.ts'
import type { PublishedRelease } from '../storage/published-releases.ts'
import { assertKept } from '../storage/versions.ts'
import { fetchParts, layoutOf, readFingerprints, removeFiles } from './parts.ts'
import {
  applyParts,
  buildRuns,
  clearTables,
  countPresent,
  createTables,
  deletePast,
  rowsOf,
  sortRows,
} from './tables.ts'

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

export interface ColumnIndex {
  read<Result>(release: Release, work: (snapshot: IndexSnapshot) => Promise<Result>): Promise<Result>
  /** The number of the latest release that it has; 0 if it has none. */
  latest(): number
  /** Starts to add the latest release. */
  follow(releases: readonly Release[]): void
  close(): Promise<void>
}

interface IndexOptions {
  readonly dataset: Dataset
  readonly database: Pick<Database, 'snapshot'>
  /** Where the index is kept; null to keep it in a temporary file. */
  readonly directory: string | null
  readonly onFailure: (error: unknown) => void
  readonly waitMs?: number
}

/** How long a query waits for the index of its release. */
const WAIT_MS = 5000
/** How long after a failure the index is not extended to the same release again. */
const RETRY_MS = 250
const MEMORY_MEGABYTES = 448
const INTERRUPT_MS = 50
/** A release adds its rows at the end. All rows are sorted again when this many releases were added. */
const SORTED_RELEASES = 16
/** Processes that share a directory: each has a file of its own. */
const MAX_FILES = 64
const CACHED_CODES = 10_000
const NO_CODE = -1

interface OpenIndex {
  readonly duckDb: DuckDb<AppliedReleases>
  /** For the files of parts and for what DuckDB does not keep in memory. */
  readonly workDirectory: string
  /** What the database has after the last write. */
  readonly releases: AppliedReleases
}

export function createColumnIndex(options: IndexOptions): ColumnIndex {
  const { dataset, database, directory, onFailure, waitMs = WAIT_MS } = options
  let state: OpenIndex | null = null
  let work: Promise<void> = Promise.resolve()
  /** By the digest of the release. */
  const extensions = new Map<string, Promise<void>>()
  let target: string | null = null
  let temporary: string | null = null
  let isClosed = false
  const findCodes = createCodeFinder()

  const has = ({ number, digest }: Release) => state?.releases.applied.get(number)?.digest === digest

  async function open(): Promise<OpenIndex> {
    const home = directory ?? (temporary ??= await mkdtemp(path.join(os.tmpdir(), 'outbreaks-columns-')))
    const name = `${dataset.name}-${layoutOf(dataset)}-${engineVersion()}`
    for (let number = 1; number <= MAX_FILES; number++) {
      const file = path.join(home, `${name}-${number}.duckdb`)
      try {
        return await openFile(file, dataset)
      } catch (error) {
        if (isLocked(error)) continue
        onFailure(error)
        for (const damaged of [file, `${file}.wal`]) await rm(damaged, { force: true })
        return openFile(file, dataset)
      }
    }
    throw new Error(`there are ${MAX_FILES} index files, and all of them are in use`)
  }

  /** Adds all releases up to one. */
  async function extend(release: Release): Promise<void> {
    if (isClosed || has(release)) return
    state ??= await open()
    if (isClosed || has(release)) return
    const { duckDb, workDirectory, releases } = state
    // In one snapshot: pruning writes all parts again.
    const { parts, isSameHistory, oldestKept } = await database.snapshot(async (reader) => {
      // A replica that lags may lack the release: then another server is asked.
      await reader.query(sql`select ${assertKept(dataset, release.number)}`)
      const known = await readFingerprints(reader, dataset)
      // The database may have another history, for instance after a restore, or an index that was built again.
      const isSame = [...releases.applied].every(([number, { fingerprint }]) => known.get(number) === fingerprint)
      const after = isSame ? releases.latest : 0
      return {
        isSameHistory: isSame,
        oldestKept: await readOldestKept(reader, dataset),
        parts: await fetchParts(reader, dataset, { after, upTo: release.number, directory: workDirectory }),
      }
    })
    if (isClosed) return
    const extended = await duckDb.write(async (connection) => {
      if (!isSameHistory) await clearTables(connection)
      await applyParts(connection, dataset, parts)
      await requireRecords(connection, release)
      await deletePast(connection, oldestKept)
      if (parts.releases.some(({ release: number }) => number % SORTED_RELEASES === 0)) await sortRows(connection)
      await buildRuns(connection, dataset)
      return readApplied(async ({ text }) => (await connection.runAndReadAll(text)).getRows())
    })
    state = { duckDb, workDirectory, releases: extended }
    await removeFiles(parts)
  }

  /** One extension at a time, which all requests for its release share. One that failed is not repeated at once. */
  function extendInTurn(release: Release): Promise<void> {
    const { digest } = release
    const found = extensions.get(digest)
    if (found !== undefined) return found
    work = work
      .then(() => runUncancelled(() => extend(release)))
      .then(
        () => void extensions.delete(digest),
        (error: unknown) => {
          if (!isClosed) onFailure(error)
          setTimeout(() => extensions.delete(digest), RETRY_MS).unref()
        },
      )
    extensions.set(digest, work)
    return work
  }

  async function waitFor(release: Release): Promise<OpenIndex> {
    if (!has(release)) await Promise.race([extendInTurn(release), wait(waitMs, undefined, { ref: false })])
    if (state !== null && has(release)) return state
    throw notReady(release)
  }

  return {
    async read(release, run) {
      const { duckDb } = await waitFor(release)
      return duckDb.read(async ({ query, state: { latest, applied } }) => {
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
    },
    latest: () => state?.releases.latest ?? 0,
    follow(releases) {
      const latest = releases.at(-1)
      if (latest === undefined || latest.digest === target) return
      target = latest.digest
      extendInTurn(latest).catch(onFailure)
    },
    async close() {
      isClosed = true
      // Building the index of many records takes long. Again and again, because it has many statements.
      const timer = setInterval(() => state?.duckDb.interruptWrite(), INTERRUPT_MS)
      await work
      clearInterval(timer)
      state?.duckDb.close()
      for (const unused of [state?.workDirectory, temporary])
        if (typeof unused === 'string') await rm(unused, { recursive: true, force: true })
    },
  }
}

const notReady = ({ number }: Release) =>
  new Problem(
    'unavailable',
    `This node is getting the index of release ${number} ready. It answers requests without filters. Try again shortly.`,
  )

/** Every record of the release has a row. */
async function requireRecords(connection: DuckDBConnection, { number, records }: Release): Promise<void> {
  const rows = await countPresent(connection)
  if (rows !== records)
    throw new Error(
      `the column index of release ${number} has ${rows} records, but the release has ${records}: run outbreakctl release reindex`,
    )
}

/** Opens a database that no other process has open, and the directory beside it. */
async function openFile(file: string, dataset: Dataset): Promise<OpenIndex> {
  const workDirectory = `${file}.work`
  const duckDb = await openDuckDb({
    file,
    memoryMegabytes: MEMORY_MEGABYTES,
    temporaryDirectory: workDirectory,
    readState: readApplied,
  })
  try {
    // A process that was killed may have left files.
    await rm(workDirectory, { recursive: true, force: true })
    await mkdir(workDirectory)
    await duckDb.write((connection) => createTables(connection, dataset))
    return { duckDb, workDirectory, releases: await duckDb.read(async ({ state }) => state) }
  } catch (error) {
    duckDb.close()
    throw error
  }
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

const isLocked = (error: unknown) => error instanceof Error && /Could not set lock|already attached/.test(error.message)

async function readOldestKept(database: Reader, dataset: Dataset): Promise<number> {
  const [row] = await database.query<{ number: number }>(
    sql`select coalesce(min(number), 1) as number from release where dataset = ${dataset.name} and pruned_at is null`,
  )
  return row?.number ?? 1
}
