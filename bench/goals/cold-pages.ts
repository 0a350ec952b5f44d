// Goals 1 to 3: a page that no cache holds, at any depth, beside what the bare engine needs for the same records.
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { load } from '../client.ts'
import { runPgbench } from '../engine.ts'
import { type Findings, figure, result } from '../goal.ts'
import { ratios, takeTurns } from '../measure.ts'
import { PAGE } from '../pages.ts'
import type { Stage } from '../stage.ts'
import type { Encoding } from '../target.ts'

const CLIENTS = 4
const CHUNKS = PAGE / 100 + 1
const HELD = 'from_release <= 1 and to_release > 1'

export async function measureColdPages({ cold, pages, options, store, scratch }: Stage): Promise<Findings> {
  const anyPage = (): string => pages[Math.floor(Math.random() * pages.length)] ?? ''
  const anyOffset = (): number => Math.floor(Math.random() * Math.max(1, options.records - PAGE))
  const ask = (path: () => string, encoding: Encoding) => async () => {
    const plan = { connections: CLIENTS, goesOn: options.seconds }
    return (await load(cold.address, () => cold.get(path(), encoding), plan)).perSecond
  }
  const query = (text: string) => () =>
    runPgbench({
      url: store.databaseUrl,
      scratch,
      script: `\\set page random(0, ${pages.length - 1})\n${text}\n`,
      clients: CLIENTS,
      seconds: options.seconds,
    })
  const rows = (columns: string) =>
    query(
      `\\set id :page * ${PAGE} + 1\nselect ${columns} from hed_outbreak_version where id >= :id and ${HELD} order by id limit ${PAGE};`,
    )

  const service = {
    gzip: ask(anyPage, 'gzip'),
    identity: ask(anyPage, 'identity'),
    offset: ask(() => `/v1/hed-outbreaks/outbreaks?num=${PAGE}&offset=${anyOffset()}`, 'gzip'),
  }
  // What has answered little is not compiled well yet, and one round is not enough for that.
  for (const warmUp of Object.values(service)) await warmUp()

  const measured = await takeTurns(options.rounds, {
    columns: rows(hedOutbreaks.fields.map(({ name }) => name).join(', ')),
    ...service,
    chunks: query(
      `\\set number :page * ${PAGE / 100}\nselect number, records, bytes, crc32, deflated from hed_outbreak_chunk where number >= :number and ${HELD} order by number limit ${CHUNKS};`,
    ),
    bodies: rows('body'),
  })
  const of = (name: keyof typeof measured, to: keyof typeof measured) => ratios(measured[name], measured[to])
  return {
    results: [
      result('1', 'cold gzip page / columns in pgbench', { atLeast: 5 }, of('gzip', 'columns')),
      result('2', 'cold gzip page / chunk query in pgbench', { atLeast: 0.8 }, of('gzip', 'chunks')),
      result('3', 'cold identity page / rendered rows in pgbench', { atLeast: 0.6 }, of('identity', 'bodies')),
      result('1b', 'cold gzip page of v1, any offset / columns in pgbench', null, of('offset', 'columns')),
    ],
    figures: [
      figure('pgbench: select columns', 'pages/s', measured.columns),
      figure('pgbench: select rendered rows', 'pages/s', measured.bodies),
      figure('pgbench: select chunks', 'pages/s', measured.chunks),
      figure('service: cold gzip page', 'pages/s', measured.gzip),
      figure('service: cold identity page', 'pages/s', measured.identity),
      figure('service: cold gzip page of v1, any offset', 'pages/s', measured.offset),
    ],
    skipped: [],
  }
}
