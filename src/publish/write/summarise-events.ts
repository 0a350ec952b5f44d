// Writes the sums of the series that a release changes, and the summaries of their events.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { IndexWriter, SeriesRow } from '../../columns/index-writer.ts'
import { lookUp } from '../../datasets/vocabulary.ts'
import { type SeriesSummary, summariseEvent, summariseSeries } from '../../methods/event-summary.ts'
import type { PreferredSets } from '../../methods/recommended-set.ts'
import type { RecordSeries, SeriesDataset } from '../../methods/record-series.ts'
import { escapeCopy } from '../../storage/serialise-record.ts'
import { identifier, NO_END_RELEASE } from '../../storage/tables.ts'
import { requireCounted } from '../validate/preferred-sets.ts'
import { readByCursor } from './server-cursor.ts'
import { copyIn } from './versions.ts'

const BLOCK_CHARACTERS = 1 << 22

const summaryTables = ({ table }: SeriesDataset) => ({
  seriesTable: identifier(`${table}_series`),
  eventTable: identifier(`${table}_event`),
})

interface SummaryOptions {
  client: PoolClient
  dataset: SeriesDataset
  release: number
  index: IndexWriter
  all: boolean
  preferred: PreferredSets
  /** The events of which the latest release preferred something else. */
  preferredAnew: readonly string[]
}

/** `add` takes the rows of one touched series; `end` writes the summaries of the events. With `all`, of all events. */
export async function createEventSummaries({
  client,
  dataset,
  release,
  index,
  all,
  preferred,
  preferredAnew,
}: SummaryOptions) {
  const { seriesTable, eventTable } = summaryTables(dataset)
  if (!all)
    for await (const ids of index.touchedSeries(dataset))
      await client.query(sql`delete from ${seriesTable} where series_id = any(${ids})`)
  const sums = createCopyBuffer((block) =>
    copyIn(client, sql`copy ${seriesTable} (series_id, event, last_release, summary) from stdin`, block),
  )
  const events = createCopyBuffer((block) =>
    copyIn(client, sql`copy ${eventTable} (event, from_release, body) from stdin`, block),
  )

  return {
    /** `isCorrected` is true if the release also corrects a record of the series after these rows were read. */
    async add(rows: readonly SeriesRow[], series: RecordSeries, isCorrected: boolean): Promise<void> {
      const summary = summariseSeries(dataset, rows, series)
      const lastRelease = isCorrected ? release : summary.lastRelease
      const cells = [rows[0]?.[dataset.series.id] as string, summary.event, String(lastRelease)]
      await sums.add([...cells, JSON.stringify({ ...summary, lastRelease })])
    },
    async end(): Promise<void> {
      await sums.end()
      const names = all ? null : new Set([...(await index.touchedEvents()), ...preferredAnew])
      const touched =
        names === null
          ? sql`select event from ${seriesTable} union select event from ${eventTable} where to_release = ${NO_END_RELEASE}`
          : sql`select unnest(${[...names]}::text[])`
      await client.query(sql`
        update ${eventTable} set to_release = ${release} where to_release = ${NO_END_RELEASE} and event in (${touched})`)
      const rows = readByCursor<{ event: string; summary: SeriesSummary }>(
        client,
        'event_series',
        sql`select event, summary from ${seriesTable} where event in (${touched}) order by event, series_id`,
      )
      const unseen = new Set(Object.keys(preferred).filter((event) => names?.has(event) ?? true))
      let members: { event: string; summary: SeriesSummary }[] = []
      const writeEvent = async () => {
        const [first] = members
        if (first === undefined) return
        const wanted = lookUp(preferred, first.event)
        if (wanted !== undefined)
          requireCounted(
            first.event,
            wanted,
            members.map(({ summary }) => summary.comparison),
          )
        unseen.delete(first.event)
        const body = summariseEvent(
          dataset,
          first.event,
          members.map(({ summary }) => summary),
          wanted,
        )
        members = []
        await events.add([first.event, String(release), JSON.stringify(body)])
      }
      for await (const batch of rows) {
        for (const row of batch) {
          if (members.length > 0 && members[0]?.event !== row.event) await writeEvent()
          members.push(row)
        }
      }
      await writeEvent()
      for (const event of unseen) requireCounted(event, preferred[event] ?? {}, [])
      await events.end()
    },
  }
}

/** Collects lines for COPY and writes them in blocks. */
function createCopyBuffer(write: (block: Buffer) => Promise<void>) {
  let lines = ''
  async function flush(): Promise<void> {
    if (lines === '') return
    const block = Buffer.from(lines)
    lines = ''
    await write(block)
  }
  return {
    async add(cells: readonly string[]): Promise<void> {
      lines += `${cells.map(escapeCopy).join('\t')}\n`
      if (lines.length >= BLOCK_CHARACTERS) await flush()
    },
    end: flush,
  }
}
