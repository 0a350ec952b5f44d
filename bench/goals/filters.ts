// Goals 1 and 2: a filtered page costs little more than an unfiltered one, whatever its filters are and match.
import { figure, type Measurements, result } from '../goal.ts'
import { percentile, ratios } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import { drawFilters, NO_MATCHES, pickRandom, readFacetValues, toSearch } from '../questions.ts'
import type { Stage } from '../stage.ts'
import { createAsker } from '../target.ts'
import { readThreadsMs } from '../usage.ts'

const PAGE_NAMES = {
  unfiltered: 'an unfiltered page',
  filtered: 'a filtered page',
  empty: 'a filtered page without matches',
}
type PageName = keyof typeof PAGE_NAMES

export async function measureFilters({ cold, pages, options }: Stage): Promise<Measurements> {
  const facets = await readFacetValues(cold)
  const paths: Record<PageName, () => string> = {
    unfiltered: () => pickRandom(pages),
    filtered: () => `${PAGES_PATH}&${toSearch(drawFilters(facets))}`,
    empty: () => `${PAGES_PATH}&${toSearch(NO_MATCHES)}`,
  }
  const names = Object.keys(paths) as PageName[]
  const asker = createAsker(cold)
  const rounds: Record<PageName, { p50: number; p99: number; cpuMs: number }>[] = []
  // The first round warms up.
  for (let round = 0; round <= options.rounds; round++) {
    const times: Record<PageName, number[]> = { unfiltered: [], filtered: [], empty: [] }
    const cpu: Record<PageName, number> = { unfiltered: 0, filtered: 0, empty: 0 }
    for (let i = 0; i < options.questions; i++) {
      for (const name of names) {
        const [before, began] = [readThreadsMs(cold.pid), performance.now()]
        await asker.require(paths[name]())
        times[name].push(performance.now() - began)
        cpu[name] += readThreadsMs(cold.pid) - before
      }
    }
    const summaries = names.map((name) => {
      const sorted = times[name].toSorted((a, b) => a - b)
      return [
        name,
        {
          p50: percentile(sorted, 50),
          p99: percentile(sorted, 99),
          cpuMs: cpu[name] / options.questions,
        },
      ] as const
    })
    if (round > 0) rounds.push(Object.fromEntries(summaries) as (typeof rounds)[number])
  }
  asker.close()
  const valuesOf = (name: PageName, value: 'p50' | 'p99' | 'cpuMs') => rounds.map((round) => round[name][value])
  const ratioOf = (name: PageName, value: 'p50' | 'p99' | 'cpuMs') =>
    ratios(valuesOf(name, value), valuesOf('unfiltered', value))
  return {
    results: [
      result('1a', 'random filtered page / unfiltered page, p99', { atMost: 8 }, ratioOf('filtered', 'p99')),
      result('1b', 'the same, p50', { atMost: 8 }, ratioOf('filtered', 'p50')),
      result('1c', 'the same, CPU of the service', null, ratioOf('filtered', 'cpuMs')),
      result('2', 'filtered page without matches / unfiltered page, p50', { atMost: 2 }, ratioOf('empty', 'p50')),
    ],
    figures: names.flatMap((name) => [
      figure(`service: p50 of ${PAGE_NAMES[name]}`, 'ms', valuesOf(name, 'p50')),
      figure(`service: p99 of ${PAGE_NAMES[name]}`, 'ms', valuesOf(name, 'p99')),
    ]),
    skipped: [],
  }
}
