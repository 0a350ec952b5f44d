// Goals 14 and 15: a filtered page costs little more than an unfiltered one, whatever its filters are and match.
import { openConnection } from '../client.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { percentile } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'

const FILTERED_PAGES = 500
/** No record has this country; the facet counts of the release show it. */
const EMPTY = 'country_code=AQ'

const PAGE_NAMES = {
  unfiltered: 'an unfiltered page',
  filtered: 'a filtered page',
  empty: 'a filtered page without matches',
}

type Facets = Record<string, { values: { value: string | boolean }[] }>

export async function measureFilters({ cold, pages }: Stage): Promise<Measurements> {
  const connection = openConnection(cold.address, { keepBody: true })
  const time = async (path: string) => {
    const began = performance.now()
    await connection.send(cold.get(path, 'gzip'))
    return performance.now() - began
  }
  const facets = await readValues((path) => connection.send(cold.get(path, 'identity')))
  const times: { unfiltered: number[]; filtered: number[]; empty: number[] } = {
    unfiltered: [],
    filtered: [],
    empty: [],
  }
  for (let i = 0; i < FILTERED_PAGES; i++) {
    times.unfiltered.push(await time(pages[Math.floor(Math.random() * pages.length)] ?? ''))
    times.filtered.push(await time(`${PAGES_PATH}&${drawFilters(facets)}`))
    times.empty.push(await time(`${PAGES_PATH}&${EMPTY}`))
  }
  connection.close()
  const at = (name: keyof typeof times, percent: number) =>
    percentile(
      times[name].toSorted((a, b) => a - b),
      percent,
    )
  return {
    results: [
      result('14', `p99 of ${FILTERED_PAGES} random filtered pages / of unfiltered pages`, { atMost: 4 }, [
        at('filtered', 99) / at('unfiltered', 99),
      ]),
      result('14b', 'the same, p50', null, [at('filtered', 50) / at('unfiltered', 50)]),
      result('15', 'p50 of a filtered page without matches / of an unfiltered page', { atMost: 1 }, [
        at('empty', 50) / at('unfiltered', 50),
      ]),
    ],
    figures: (['unfiltered', 'filtered', 'empty'] as const).flatMap((name) =>
      [50, 99].map((percent) => figure(`service: p${percent} of ${PAGE_NAMES[name]}`, 'ms', [at(name, percent)])),
    ),
    skipped: [],
  }
}

async function readValues(send: (path: string) => Promise<Buffer>): Promise<Map<string, string[]>> {
  const response = JSON.parse((await send('/v2/hed-outbreaks/facets?num=1000')).toString()) as Facets
  return new Map(
    Object.entries(response).map(([field, { values }]) => [field, values.map(({ value }) => String(value))]),
  )
}

const pickRandom = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)]

/** One to four fields with one to three of their values, and sometimes a day. Many of them match no record. */
function drawFilters(facets: ReadonlyMap<string, readonly string[]>): string {
  const query = new URLSearchParams()
  for (let fields = 1 + Math.floor(Math.random() * 4); fields > 0; fields--) {
    const [field, values] = pickRandom([...facets].filter(([name]) => !query.has(name))) ?? ['', []]
    const chosen = new Set(Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => pickRandom(values) ?? ''))
    for (const value of chosen) if (value !== '') query.append(field, value)
  }
  if (Math.random() < 0.3) query.append('date_from', `${2000 + Math.floor(Math.random() * 26)}-06-01`)
  return query.toString()
}
