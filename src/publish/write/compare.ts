// Compares batches of input rows with the published records and finds new, corrected and missing records. Writes nothing.
import { hash } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Cell } from '../../storage/serialise-record.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { errorAt, type Findings, type Identity } from '../findings/findings.ts'
import { createIdSet } from '../validate/id-set.ts'
import type { LocatedRow } from '../validate/validate-release.ts'
import type { ValidRow } from '../validate/validate-row.ts'
import type { LatestRelease } from './latest-release.ts'

/** A record that is new or corrected in the next release. */
export interface NewVersion {
  row: ValidRow
  contentHash: string
  id: number
  revision: number
  firstRelease: number
  /** True if the latest release has another version, which this one replaces. */
  replaces: boolean
  /** The key of a new record, which names this id from now on. */
  newKey: string | null
}

/** A row that only names a record. */
export interface NamedRow {
  file: string
  line: number
  identity: Identity
}

/** A record that was ever published. If its versions were pruned, only its id is known. */
interface KnownRecord {
  id: number
  content_hash: string | null
  revision: number | null
  first_release: number | null
  open: boolean
}

interface ComparisonOptions {
  latest: LatestRelease
  findings: Findings
  /** If given, the rows replace only the records of one source. */
  source?: ReplacedSource | undefined
}

/** A source whose records are replaced, and what the latest release has of it. */
export interface ReplacedSource {
  readonly records: number
  has(id: number): boolean
  ids(): AsyncIterable<number[]>
  /** The source of any record. */
  sourceOf(id: number): Promise<string>
}

export function createComparison(
  database: Database,
  dataset: Dataset,
  { latest, findings, source }: ComparisonOptions,
) {
  const digest = createContentDigest(dataset)
  const seen = createIdSet()
  const keptIds = new Set<number>()
  let lastId = latest.lastId
  /** Records of the latest release, or of the source, that a row names, and others that stay because their row is rejected. */
  let matched = 0
  let kept = 0
  let newNamedBy: 'id' | 'key' | null = null

  const lookUp = async (identities: readonly Identity[]) =>
    latest.number === 0 ? new Map<number, KnownRecord>() : findKnown(database, dataset, identities)

  /** A new record has the id that the row gives. If the row gives a key, the service assigns the next id. */
  function assignId(identity: Identity): { id: number; newKey: string | null } {
    const by = 'id' in identity ? 'id' : 'key'
    newNamedBy ??= by
    if (newNamedBy !== by)
      throw new OperatorError(
        'Some new records have an id and others have a key, so ids could collide. Use one or the other for all new records.',
      )
    const id = 'id' in identity ? identity.id : lastId + 1
    lastId = Math.max(lastId, id)
    return { id, newKey: 'key' in identity ? identity.key : null }
  }

  function rejectRow({ file, line, identity }: NamedRow, rule: string, message: string): void {
    findings.add(errorAt(file, line)(null, rule, message))
    const row = JSON.stringify(identity)
    findings.reject({ file, line, identity, errors: [{ column: null, rule, message }], row })
  }

  async function rejectOtherSource(row: LocatedRow, id: number): Promise<null> {
    rejectRow(row, 'other_source', `is record ${id}, which belongs to the source ${await source?.sourceOf(id)}`)
    return null
  }

  function compareRow(row: LocatedRow, known: KnownRecord | undefined): NewVersion | null | Promise<null> {
    const { id, newKey } = known === undefined ? assignId(row.identity) : { id: known.id, newKey: null }
    if (source !== undefined && known?.open && !source.has(id)) return rejectOtherSource(row, id)
    if (!seen.add(id)) {
      rejectRow(row, 'duplicate', `is record ${id}, which an earlier row already contains`)
      return null
    }
    if (known?.open) matched += 1
    const contentHash = digest(row.cells)
    if (known?.open && known.content_hash === contentHash) return null
    return {
      row,
      contentHash,
      id,
      newKey,
      revision: (known?.revision ?? -1) + 1,
      firstRelease: known?.first_release ?? latest.number + 1,
      replaces: known?.open ?? false,
    }
  }

  return {
    async compare(rows: readonly LocatedRow[]): Promise<NewVersion[]> {
      const known = await lookUp(rows.map((row) => row.identity))
      const versions: NewVersion[] = []
      for (const [i, row] of rows.entries()) {
        const compared = compareRow(row, known.get(i))
        const version = compared instanceof Promise ? await compared : compared
        if (version !== null) versions.push(version)
      }
      return versions
    },

    /** The ids of records to withdraw. A record that is not in the latest release, or has a row in the input, is an error. */
    async findWithdrawn(rows: readonly NamedRow[]): Promise<number[]> {
      const known = await lookUp(rows.map((row) => row.identity))
      return rows.flatMap(({ file, line, identity }, index) => {
        const record = known.get(index)
        if (record?.open && seen.add(record.id)) return [record.id]
        const message = record?.open
          ? 'is withdrawn twice, or is also among the records'
          : `is not in release ${latest.number}`
        rejectRow({ file, line, identity }, 'withdrawn', message)
        return []
      })
    },

    /** Keeps these records unchanged, because the rows that name them are rejected. */
    async keepRejected(identities: readonly Identity[]): Promise<void> {
      for (let from = 0; from < identities.length; from += LOOKUP_ROWS) {
        const known = await lookUp(identities.slice(from, from + LOOKUP_ROWS))
        for (const { id, open } of known.values()) {
          if (open && !keptIds.has(id) && !seen.has(id) && source?.has(id) !== false) kept += 1
          keptIds.add(id)
        }
      }
    },

    /** How many records `findMissing` finds. */
    countMissing: () => (source ?? latest).records - matched - kept,

    /** The records of the latest release, or of the source, that are not in the input, in batches. */
    async *findMissing(): AsyncGenerator<number[]> {
      if (matched === (source ?? latest).records) return
      for await (const ids of source === undefined ? readOpenIds(database, dataset) : source.ids()) {
        const missing = ids.filter((id) => !seen.has(id) && !keptIds.has(id))
        if (missing.length > 0) yield missing
      }
    },

    /** The highest id that was ever assigned. */
    lastId: () => lastId,
  }
}

/**
 * The digest that distinguishes a corrected record from an unchanged one. It covers the names and values of the fields that
 * have a value, so a field that is added to the declaration and is still empty corrects no record. It excludes the break
 * flag, which a rollback reads from stored records and no input has.
 */
function createContentDigest({ content, series }: Dataset): (cells: readonly Cell[]) => string {
  const excluded = content.findIndex(({ name }) => name === series?.breakFlag)
  return (cells) => {
    const members = cells.filter(({ value }, i) => value !== null && i !== excluded).map(({ member }) => member)
    return hash('sha256', `,${members.join(',')}`).slice(0, HASH_DIGITS)
  }
}

/** 16 bytes, in hexadecimal: enough that two contents never have the same. */
const HASH_DIGITS = 32

const SCAN_ROWS = 20_000
const LOOKUP_ROWS = 1000

async function* readOpenIds(database: Database, dataset: Dataset): AsyncGenerator<number[]> {
  for (let from = 0; ; ) {
    const rows = await database.query<{ id: string }>(
      sql`select id from ${tablesOf(dataset).version} where to_release = ${NO_END_RELEASE} and id > ${from}
        order by id limit ${SCAN_ROWS}`,
    )
    yield rows.map(({ id }) => Number(id))
    if (rows.length < SCAN_ROWS) return
    from = Number(rows.at(-1)?.id)
  }
}

/** The last published state of each record that was ever published, by its index in the list. */
async function findKnown(database: Database, dataset: Dataset, identities: readonly Identity[]) {
  const { version, key } = tablesOf(dataset)
  const ids = identities.map((identity) => ('id' in identity ? identity.id : null))
  const keys = identities.map((identity) => ('key' in identity ? identity.key : null))
  const rows = await database.query<KnownRecord & { position: string; id: string }>(sql`
    select position, coalesce(latest.id, known.id) as id, encode(content_hash, 'hex') as content_hash,
      revision, first_release, coalesce(to_release = ${NO_END_RELEASE}, false) as open
    from unnest(${ids}::bigint[], ${keys}::text[]) with ordinality as named (id, key, position)
    left join lateral (select id from ${key} as k where k.key = named.key limit 1) as known on true
    left join lateral (
      select id, content_hash, revision, first_release, to_release from ${version} as v
      where v.id = coalesce(named.id, known.id) order by from_release desc limit 1
    ) as latest on true
    where coalesce(latest.id, known.id) is not null`)
  return new Map(rows.map((row): [number, KnownRecord] => [Number(row.position) - 1, { ...row, id: Number(row.id) }]))
}
