// Goal 4: one client that reads everything, page after page, beside psql that copies the same records to nowhere.
import { openConnection } from '../client.ts'
import { runPsql } from '../engine.ts'
import { type Findings, figure, result } from '../goal.ts'
import { ratios, takeTurns } from '../measure.ts'
import { walkInflating } from '../pages.ts'
import type { Stage } from '../stage.ts'

const COPY =
  'copy (select body from hed_outbreak_version where from_release <= 1 and to_release > 1 order by id) to stdout'

export async function measureWalk({ cold, pages, options, store }: Stage): Promise<Findings> {
  const timed = (work: () => Promise<unknown>) => async () => {
    const began = performance.now()
    await work()
    return (options.records * 1000) / (performance.now() - began)
  }
  /** A client that stores what it gets; where each page is was found by an earlier walk. */
  async function walkStoring(): Promise<void> {
    const connection = openConnection(cold.address, { keep: true })
    for (const page of pages) await connection.ask(cold.get(page, 'gzip'))
    connection.close()
  }
  const measured = await takeTurns(
    // A walk is as steady as it is long.
    options.records > 1_000_000 ? 2 : options.rounds,
    {
      copy: timed(() => runPsql(store.databaseUrl, COPY, { discard: true })),
      inflating: timed(() => walkInflating(cold)),
      storing: timed(walkStoring),
    },
    { isWarm: true },
  )
  return {
    results: [
      result(
        '4a',
        'walk of all pages, decompressed and verified / psql COPY',
        { atLeast: 1 },
        ratios(measured.inflating, measured.copy),
      ),
      result('4b', 'the same, not decompressed / psql COPY', { atLeast: 2.5 }, ratios(measured.storing, measured.copy)),
    ],
    figures: [
      figure('psql: COPY of rendered rows, discarded', 'records/s', measured.copy),
      figure('service: one client walks and decompresses', 'records/s', measured.inflating),
      figure('service: one client walks', 'records/s', measured.storing),
    ],
    skipped: [],
  }
}
