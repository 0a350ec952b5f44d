// What publishing asks the column index of the latest release, and the changes that it collects alongside it: names of events,
// records of a source, what a release touches, and the staged text of records. `present_row` has the latest release; `added`
// and `withdrawn` have the changes of the release that is written.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import sql, { raw, type Sql } from 'sql-template-tag'
import { SOURCE_FIELD } from '../datasets/define.ts'
import type { SeriesDataset } from '../methods/record-series.ts'
import type { Dictionary } from './dictionary.ts'
import { column } from './tables.ts'

export type EventChanges = { event: string; added: number; corrected: number; withdrawn: number }

/** The text of a record as the release has it; null if the release withdraws it. */
export type StagedBody = readonly [id: number, body: string | null]

const EVENT_FIELD = 'event'

/** `flush` makes the changes visible that were collected so far. */
export function createIndexQueries(instance: DuckDBInstance, dictionary: Dictionary, flush: () => void) {
  /** Its own connection: an appender that writes ends the result that its connection streams. */
  async function* stream(statement: Sql): AsyncGenerator<unknown[][]> {
    const connection = await instance.connect()
    try {
      yield* readChunks(connection, statement)
    } finally {
      connection.closeSync()
    }
  }

  async function read(statement: Sql): Promise<unknown[][]> {
    const rows: unknown[][] = []
    for await (const batch of stream(statement)) rows.push(...batch)
    return rows
  }

  const isOfSource = (source: string): Sql =>
    sql`${column(SOURCE_FIELD)} = ${raw(String(dictionary.findCode(SOURCE_FIELD, source) ?? -1))}`

  return {
    /** The names of the events of the latest release. */
    async readEvents(): Promise<Set<string>> {
      const rows = await read(sql`select distinct ${column(EVENT_FIELD)} from present_row`)
      return new Set(rows.map(([code]) => dictionary.valueOf(EVENT_FIELD, Number(code))))
    },
    /** The ids of the records of a source in the latest release, in batches. */
    async *idsOfSource(source: string): AsyncGenerator<number[]> {
      for await (const rows of stream(sql`select id from present_row where ${isOfSource(source)} order by id`))
        yield rows.map(([id]) => Number(id))
    },
    /** The source of a record of the latest release. */
    async sourceOf(id: number): Promise<string> {
      const [row] = await read(sql`select ${column(SOURCE_FIELD)} from present_row where id = ${raw(String(id))}`)
      return dictionary.valueOf(SOURCE_FIELD, Number(row?.[0]))
    },
    /** The ids of the series of which the release adds, corrects or withdraws a record, in batches. */
    async *touchedSeries({ series }: SeriesDataset): AsyncGenerator<string[]> {
      flush()
      for await (const rows of stream(sql`select ${column(series.id)} from ${touchedRows(series.id)}`))
        yield rows.map(([code]) => dictionary.valueOf(series.id, Number(code)))
    },
    /** The events of which the release adds, corrects or withdraws a record. */
    async touchedEvents(): Promise<string[]> {
      flush()
      const rows = await read(sql`select ${column(EVENT_FIELD)} from ${touchedRows(EVENT_FIELD)}`)
      return rows.map(([code]) => dictionary.valueOf(EVENT_FIELD, Number(code)))
    },
    /** The staged texts in the order of id. */
    async *stagedBodies(): AsyncGenerator<StagedBody[]> {
      for await (const rows of stream(sql`select id, body from staged_body order by id`))
        yield rows.map(([id, body]): StagedBody => [Number(id), body as string | null])
    },
    /** The events with the most changes. Runs after the changes are stored. */
    async countChanges(limit: number): Promise<EventChanges[]> {
      const rows = await read(sql`
        select event,
          count(*) filter (where kind = 'added'), count(*) filter (where kind = 'corrected'),
          count(*) filter (where kind = 'withdrawn')
        from (
          select added.event, case when present_row.id is null then 'added' else 'corrected' end as kind
          from added left join present_row using (id)
          union all
          select event, 'corrected' from present_row semi join (from restepped where is_corrected) using (id)
          union all
          select event, 'withdrawn' from present_row where id in (select id from withdrawn)
        ) group by event`)
      return rows
        .map(([code, added, corrected, withdrawn]) => ({
          event: dictionary.valueOf(EVENT_FIELD, Number(code)),
          added: Number(added),
          corrected: Number(corrected),
          withdrawn: Number(withdrawn),
        }))
        .sort((a, b) => totalOf(b) - totalOf(a) || (a.event < b.event ? -1 : 1))
        .slice(0, limit)
    },
  }
}

const totalOf = ({ added, corrected, withdrawn }: EventChanges) => added + corrected + withdrawn

/** The values of a column in changed records, before and after the change. */
const touchedRows = (name: string): Sql => sql`(
  select ${column(name)} from added
  union
  select ${column(name)} from present_row where id in (select id from added) or id in (select id from withdrawn))`

async function* readChunks(connection: DuckDBConnection, statement: Sql): AsyncGenerator<unknown[][]> {
  const result = await connection.stream(statement.text)
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    yield chunk.getRows()
  }
}
