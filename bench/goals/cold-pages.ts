// Goals 1 to 3: a page that is not cached, at any depth, compared with bare PostgreSQL reading the same records.
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { load } from '../client.ts'
import { runPgbench } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import { PAGE_SIZE } from '../pages.ts'
import { RECORD_TABLE } from '../record-table.ts'
import type { Stage } from '../stage.ts'
import type { Encoding } from '../target.ts'

const CLIENTS = 4
const CHUNKS = PAGE_SIZE / 100 + 1
const IN_RELEASE = 'from_release <= 1 and to_release > 1'

export async function measureColdPages({ cold, pages, options, store, scratch }: Stage): Promise<Measurements> {
  const randomPage = (): string => pages[Math.floor(Math.random() * pages.length)] ?? ''
  const randomOffset = (): number => Math.floor(Math.random() * Math.max(1, options.records - PAGE_SIZE))
  const measureRate = (path: () => string, encoding: Encoding) => async () => {
    const plan = { connections: CLIENTS, duration: options.seconds }
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
      `\\set id :page * ${PAGE_SIZE} + 1\nselect ${columns} from ${RECORD_TABLE} where id >= :id order by id limit ${PAGE_SIZE};`,
    )

  const service = {
    gzip: measureRate(randomPage, 'gzip'),
    identity: measureRate(randomPage, 'identity'),
    offset: measureRate(() => `/v1/hed-outbreaks/outbreaks?num=${PAGE_SIZE}&offset=${randomOffset()}`, 'gzip'),
  }
  // The JIT compiler needs more requests than one round to optimise the code.
  for (const warmUp of Object.values(service)) await warmUp()

  const measured = await measureInTurns(options.rounds, {
    columns: rows(hedOutbreaks.fields.map(({ name }) => name).join(', ')),
    ...service,
    chunks: query(
      `\\set number :page * ${PAGE_SIZE / 100}\nselect number, records, bytes, crc32, deflated from hed_outbreak_chunk where number >= :number and ${IN_RELEASE} order by number limit ${CHUNKS};`,
    ),
    bodies: rows('body'),
  })
  const ratioOf = (name: keyof typeof measured, to: keyof typeof measured) => ratios(measured[name], measured[to])
  return {
    results: [
      result('1', 'cold gzip page / columns in pgbench', { atLeast: 5 }, ratioOf('gzip', 'columns')),
      result('2', 'cold gzip page / chunk query in pgbench', { atLeast: 0.8 }, ratioOf('gzip', 'chunks')),
      result('3', 'cold identity page / rendered rows in pgbench', { atLeast: 0.6 }, ratioOf('identity', 'bodies')),
      result('1b', 'cold gzip page of v1, any offset / columns in pgbench', null, ratioOf('offset', 'columns')),
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
