// Goal 10b: one client that reads all pages, compared with psql that copies the same records to nowhere.
import { openRetryingConnection } from '../client.ts'
import { RECORD_TABLE } from '../contenders/record-table.ts'
import { runPsql } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import { walkInflating } from '../pages.ts'
import type { Stage } from '../stage.ts'

const COPY = `copy (select body from ${RECORD_TABLE} order by id) to stdout`

export async function measureWalk({ cold, pages, options, recordsUrl }: Stage): Promise<Measurements> {
  const timed = (work: () => Promise<unknown>) => async () => {
    const began = performance.now()
    await work()
    return (options.records * 1000) / (performance.now() - began)
  }
  /** A client that keeps the compressed pages. An earlier walk found their paths. */
  async function walkWithoutInflating(): Promise<void> {
    const connection = openRetryingConnection(cold.address, { keepBody: true })
    for (const page of pages) await connection.send(cold.get(page, 'gzip'))
    connection.close()
  }
  const measured = await measureInTurns(
    // Long walks vary little, so two rounds are enough.
    options.records > 1_000_000 ? 2 : options.rounds,
    {
      copy: timed(() => runPsql(recordsUrl, COPY, { discard: true })),
      inflating: timed(() => walkInflating(cold)),
      storing: timed(walkWithoutInflating),
    },
    { isWarm: true },
  )
  return {
    results: [
      result(
        '10b',
        'walk of all pages, decompressed and verified / psql COPY',
        { atLeast: 1.8 },
        ratios(measured.inflating, measured.copy),
      ),
      result('10c', 'the same, not decompressed / psql COPY', null, ratios(measured.storing, measured.copy)),
    ],
    figures: [
      figure('psql: COPY of rendered rows, discarded', 'records/s', measured.copy),
      figure('service: one client walks and decompresses', 'records/s', measured.inflating),
      figure('service: one client walks', 'records/s', measured.storing),
    ],
    skipped: [],
  }
}
