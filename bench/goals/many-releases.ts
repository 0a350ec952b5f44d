// Goal 11: after many releases of one per cent each, pages, counts and publishing cost what they cost at first. Autovacuum
// runs as in production.
import { rm } from 'node:fs/promises'
import type { SynthRow } from '../../dev/synth/synthesise.ts'
import { setAutovacuum } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { percentile, ratios } from '../measure.ts'
import { PAGE_SIZE } from '../pages.ts'
import { publish, synthesiseBase, writeCorrections } from '../publish.ts'
import { drawFilters, type Facets, readFacetValues, toSearch } from '../questions.ts'
import type { Stage } from '../stage.ts'
import { createAsker, startReadyNode, type Target, waitForIndex } from '../target.ts'

interface Point {
  page: number
  count: number
  publishing: number
}

export async function measureManyReleases(stage: Stage): Promise<Measurements> {
  const { changing, options, scratch, postmaster } = stage
  const { records, releases } = options
  /** The first and the last releases that are compared. */
  const compared = Math.min(10, Math.floor(releases / 2))
  await setAutovacuum(changing.databaseUrl, 'on')
  const { target } = await startReadyNode(changing, {})
  const facets = await readFacetValues(target)
  const points: Point[] = []
  const blocks = repeatBlocks(records, Math.ceil(records / 100))
  try {
    for (let base = 1; base <= releases; base++) {
      const rows = blocks.next().value
      const directory = await writeCorrections(scratch, rows, base)
      const { seconds } = await publish(changing, directory, postmaster)
      await rm(directory, { recursive: true })
      const isCompared = base <= compared || base > releases - compared
      if (isCompared) points.push({ publishing: seconds, ...(await measureReads(stage, target, base + 1, facets)) })
    }
  } finally {
    await target.stop()
    await setAutovacuum(changing.databaseUrl, 'off')
  }
  const [first, last] = [points.slice(0, compared), points.slice(-compared)]
  const valuesOf = (side: readonly Point[], name: keyof Point) => side.map((point) => point[name])
  const compare = (goal: string, name: keyof Point, what: string) =>
    result(goal, `${releases} releases of 1 %: ${what}, last ${compared} / first ${compared}`, { atMost: 1.2 }, [
      ...ratios(valuesOf(last, name), valuesOf(first, name)),
    ])
  return {
    results: [
      compare('11a', 'page', 'p50 of pages'),
      compare('11b', 'count', 'p50 of counts'),
      compare('11c', 'publishing', 'publishing'),
    ],
    figures: (
      [
        ['page', 'ms', 'p50 of a page'],
        ['count', 'ms', 'p50 of an exact count'],
        ['publishing', 's', 'publishing 1 %'],
      ] as const
    ).flatMap(([name, unit, what]) => [
      figure(`${what}, first ${compared} releases`, unit, valuesOf(first, name)),
      figure(`${what}, last ${compared} releases`, unit, valuesOf(last, name)),
    ]),
    skipped: [],
  }
}

/** Blocks of neighbouring records, from the first record again after the last. */
function* repeatBlocks(records: number, size: number): Generator<SynthRow[], never> {
  for (;;) {
    let block: SynthRow[] = []
    for (const row of synthesiseBase(records)) {
      block.push(row)
      if (block.length < size) continue
      yield block
      block = []
    }
  }
}

/** Pages and counts of a release that was just published. */
async function measureReads({ options }: Stage, target: Target, release: number, facets: Facets) {
  await waitForIndex(target, release)
  const asker = createAsker(target)
  const times: { page: number[]; count: number[] } = { page: [], count: [] }
  const time = async (path: string) => {
    const began = performance.now()
    await asker.require(`${path}&release=${release}`)
    return performance.now() - began
  }
  for (let i = 0; i < options.questions; i++) {
    const offset = Math.floor(Math.random() * (options.records / PAGE_SIZE)) * PAGE_SIZE
    times.page.push(await time(`/v1/hed-outbreaks/outbreaks?num=${PAGE_SIZE}&offset=${offset}`))
    times.count.push(
      await time(`/v2/hed-outbreaks/outbreaks?num=1&fields=id&count=exact&${toSearch(drawFilters(facets))}`),
    )
  }
  asker.close()
  const median = (values: readonly number[]) =>
    percentile(
      values.toSorted((a, b) => a - b),
      50,
    )
  return { page: median(times.page), count: median(times.count) }
}
