// What is new in an input: rows are held, batch by batch, against what is published. Reads the database, writes nothing.
import { hash } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Cell, createRecordSerialiser } from '../../storage/serialise-record.ts'
import { OPEN, tablesOf } from '../../storage/tables.ts'
import { errorAt, type Findings, type Identity } from '../findings/findings.ts'
import type { PlacedRow } from '../validate/check-release.ts'
import type { ValidRow } from '../validate/check-row.ts'
import { createIdSet } from '../validate/id-set.ts'
import type { LatestRelease } from './latest-release.ts'

/** A record of which the next release holds another version than the last one. */
export interface NewVersion {
  row: ValidRow
  content: string
  contentSha256: string
  id: number
  revision: number
  firstRelease: number
  /** The last release holds another version, which this one replaces. */
  replaces: boolean
  /** The key is met for the first time and stands for this id from now on. */
  newKey: string | null
}

/** A row that says only which record it is about. */
export interface NamedRow {
  file: string
  line: number
  identity: Identity
}

/** What is known of a record that was ever published; of one whose versions were pruned, only its id. */
interface KnownRecord {
  id: number
  content_sha256: string | null
  revision: number | null
  first_release: number | null
  open: boolean
}

export function createComparison(database: Database, dataset: Dataset, last: LatestRelease, findings: Findings) {
  const render = createRecordSerialiser(dataset)
  const digest = createContentDigest(dataset)
  const seen = createIdSet()
  const held = new Set<number>()
  let lastId = last.lastId
  let met = 0
  let namedBy: 'id' | 'key' | null = null

  const lookUp = async (identities: readonly Identity[]) =>
    last.number === 0 ? new Map<number, KnownRecord>() : findKnown(database, dataset, identities)

  /** A new record has no place in history yet; whoever names it decides whether its id is theirs or ours. */
  function admit(identity: Identity): { id: number; newKey: string | null } {
    const by = 'id' in identity ? 'id' : 'key'
    namedBy ??= by
    if (namedBy !== by)
      throw new OperatorError('new records are named by id in some rows and by key in others: ids could collide')
    const id = 'id' in identity ? identity.id : lastId + 1
    lastId = Math.max(lastId, id)
    return { id, newKey: 'key' in identity ? identity.key : null }
  }

  function rejectRow({ file, line, identity }: NamedRow, rule: string, message: string): void {
    findings.add(errorAt(file, line)(null, rule, message))
    const row = JSON.stringify(identity)
    findings.reject({ file, line, identity, faults: [{ column: null, rule, message }], row })
  }

  function compareRow(row: PlacedRow, known: KnownRecord | undefined): NewVersion | null {
    const { id, newKey } = known === undefined ? admit(row.identity) : { id: known.id, newKey: null }
    if (!seen.add(id)) {
      rejectRow(row, 'duplicate', `names record ${id}, which stands in this release already`)
      return null
    }
    if (known?.open) met += 1
    const contentSha256 = digest(row.cells)
    if (known?.open && known.content_sha256 === contentSha256) return null
    return {
      row,
      content: render(row.cells),
      contentSha256,
      id,
      newKey,
      revision: (known?.revision ?? -1) + 1,
      firstRelease: known?.first_release ?? last.number + 1,
      replaces: known?.open ?? false,
    }
  }

  return {
    async compare(rows: readonly PlacedRow[]): Promise<NewVersion[]> {
      const known = await lookUp(rows.map((row) => row.identity))
      return rows.map((row, place) => compareRow(row, known.get(place))).filter((version) => version !== null)
    },

    /** The ids of records to withdraw; one that the last release does not hold, or the input brings, is a finding. */
    async findWithdrawn(rows: readonly NamedRow[]): Promise<number[]> {
      const known = await lookUp(rows.map((row) => row.identity))
      return rows.flatMap(({ file, line, identity }, place) => {
        const record = known.get(place)
        if (record?.open && seen.add(record.id)) return [record.id]
        const message = record?.open ? 'is also brought, or withdrawn twice' : `is not in release ${last.number}`
        rejectRow({ file, line, identity }, 'withdrawn', message)
        return []
      })
    },

    /** These records stay as they are: the rows that name them are rejected. */
    async hold(identities: readonly Identity[]): Promise<void> {
      for (let from = 0; from < identities.length; from += HELD_ROWS) {
        const known = await lookUp(identities.slice(from, from + HELD_ROWS))
        for (const { id } of known.values()) held.add(id)
      }
    },

    /** The records of the last release that the input did not bring, in batches. */
    async *findMissing(): AsyncGenerator<number[]> {
      const { version } = tablesOf(dataset)
      if (met === last.records) return
      for (let from = 0; ; ) {
        const ids = await database.query<{ id: string }>(
          sql`select id from ${version} where to_release = ${OPEN} and id > ${from} order by id limit ${SCAN_ROWS}`,
        )
        const missing = ids.map((row) => Number(row.id)).filter((id) => !seen.has(id) && !held.has(id))
        if (missing.length > 0) yield missing
        if (ids.length < SCAN_ROWS) return
        from = Number(ids.at(-1)?.id)
      }
    },

    /** The highest id ever given out. */
    lastId: () => lastId,
  }
}

/**
 * Tells a corrected record from an unchanged one: by the fields that have a value, with their names, so that a field that
 * is added to the declaration later, and that nobody has filled yet, corrects no record. Without the break of a series,
 * which follows from other records too.
 */
export function createContentDigest({ content, series }: Dataset): (cells: readonly Cell[]) => string {
  const digested = content.flatMap(({ name }, place) =>
    name === series?.broken ? [] : [{ label: `,"${name}":`, place }],
  )
  return (cells) => {
    let text = ''
    // Of everything publishing does to a row this is done most often: an index is several times as fast as an iterator.
    for (let i = 0; i < digested.length; i++) {
      const { label, place } = digested[i] as (typeof digested)[number]
      const { value, json } = cells[place] as Cell
      if (value !== null) text += label + json
    }
    return hash('sha256', text)
  }
}

const SCAN_ROWS = 20_000
const HELD_ROWS = 1000

/** By place in the list: what was published last of each record that ever was. */
async function findKnown(database: Database, dataset: Dataset, identities: readonly Identity[]) {
  const { version, key } = tablesOf(dataset)
  const ids = identities.map((identity) => ('id' in identity ? identity.id : null))
  const keys = identities.map((identity) => ('key' in identity ? identity.key : null))
  const rows = await database.query<KnownRecord & { place: string; id: string }>(sql`
    select place, coalesce(latest.id, known.id) as id, encode(content_sha256, 'hex') as content_sha256,
      revision, first_release, coalesce(to_release = ${OPEN}, false) as open
    from unnest(${ids}::bigint[], ${keys}::text[]) with ordinality as asked (id, key, place)
    left join lateral (select id from ${key} as k where k.key = asked.key limit 1) as known on true
    left join lateral (
      select id, content_sha256, revision, first_release, to_release from ${version} as v
      where v.id = coalesce(asked.id, known.id) order by from_release desc limit 1
    ) as latest on true
    where coalesce(latest.id, known.id) is not null`)
  return new Map(rows.map((row): [number, KnownRecord] => [Number(row.place) - 1, { ...row, id: Number(row.id) }]))
}
