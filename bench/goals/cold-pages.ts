// Goals 5 and 10a: a page that is not cached, at any depth, compared with bare PostgreSQL reading the same records; and a page
// of v1, which may begin at any record, compared with a page of v2.
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { RECORD_TABLE } from '../contenders/record-table.ts'
import { runPgbench } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import { PAGE_SIZE } from '../pages.ts'
import { pickRandom } from '../questions.ts'
import type { Stage } from '../stage.ts'
import { cpuMsOf, measureRate, perSecondOf, type Rate } from '../usage.ts'

const CLIENTS = 4

export async function measureColdPages(stage: Stage): Promise<Measurements> {
  const { cold, pages, options, recordsUrl, scratch } = stage
  const randomOffset = (): number => Math.floor(Math.random() * Math.max(1, options.records - PAGE_SIZE))
  const request = (path: () => string) => () =>
    measureRate(cold, () => cold.get(path(), 'gzip'), { connections: CLIENTS, duration: options.seconds })
  const columns = hedOutbreaks.fields.map(({ name }) => name).join(', ')
  const script = `\\set id random(0, ${pages.length - 1}) * ${PAGE_SIZE} + 1
    select ${columns} from ${RECORD_TABLE} where id >= :id order by id limit ${PAGE_SIZE};`
  const service = {
    v2: request(() => pickRandom(pages)),
    v1: request(() => `/v1/hed-outbreaks/outbreaks?num=${PAGE_SIZE}&offset=${randomOffset()}`),
  }
  // The JIT compiler needs more requests than one round to optimise the code.
  for (const warmUp of Object.values(service)) await warmUp()

  const measured = await measureInTurns(options.rounds, {
    async pgbench(): Promise<Rate> {
      const plan = { clients: CLIENTS, seconds: options.seconds }
      return { perSecond: await runPgbench({ url: recordsUrl, scratch, script, ...plan }), cpuMs: Number.NaN }
    },
    ...service,
  })
  return {
    results: [
      result(
        '5',
        'page of v1 at any offset / page of v2, CPU of the service',
        { atMost: 1.4 },
        ratios(cpuMsOf(measured.v1), cpuMsOf(measured.v2)),
      ),
      result(
        '10a',
        'cold gzip page / columns in pgbench',
        { atLeast: 5.4 },
        ratios(perSecondOf(measured.v2), perSecondOf(measured.pgbench)),
      ),
    ],
    figures: [
      figure('pgbench: select columns', 'pages/s', perSecondOf(measured.pgbench)),
      figure('service: cold gzip page', 'pages/s', perSecondOf(measured.v2)),
      figure('service: cold gzip page of v1, any offset', 'pages/s', perSecondOf(measured.v1)),
      figure('service: CPU for a cold gzip page', 'ms', cpuMsOf(measured.v2)),
      figure('service: CPU for a cold gzip page of v1, any offset', 'ms', cpuMsOf(measured.v1)),
    ],
    skipped: [],
  }
}
