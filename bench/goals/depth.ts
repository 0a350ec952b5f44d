// Goals 10d to 10f: neither the depth of a page nor the number of records makes it slower. The two sides alternate.
import { openRetryingConnection } from '../client.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { percentile, ratios } from '../measure.ts'
import { PAGE_SIZE } from '../pages.ts'
import type { Stage } from '../stage.ts'
import { startTarget, type Target, UNCACHED } from '../target.ts'

interface Side {
  target: Target
  path: () => string
}

export async function measureDepth({ cold, small, smallRecords, pages, options, store }: Stage): Promise<Measurements> {
  const v1 = (offset: number): Side => ({
    target: cold,
    path: () => `/v1/hed-outbreaks/outbreaks?num=${PAGE_SIZE}&offset=${offset}`,
  })
  const v2 = (page: string | undefined): Side => ({ target: cold, path: () => page ?? '' })
  const randomPage = (target: Target, records: number): Side => ({
    target,
    path: () => pages[Math.floor((Math.random() * records) / PAGE_SIZE)] ?? '',
  })
  const [first, last] = [v2(pages[0]), v2(pages.at(-1))]
  const offsets = await compareTimes(options, v1(options.records - PAGE_SIZE), v1(0))
  const cursors = await compareTimes(options, last, first)
  // A new process, like the one it is compared with: a process with more requests is better optimised.
  const all = await startTarget(store, UNCACHED)
  const sizes = await compareTimes(options, randomPage(all, options.records), randomPage(small, smallRecords))
  await all.stop()
  return {
    results: [
      result('10d', 'p50 of the last page / of the first, v1', { atMost: 1 }, ratios(...offsets)),
      result('10e', 'p50 of the last page / of the first, v2', { atMost: 1 }, ratios(...cursors)),
      result('10f', `p50 of a page at all records / at ${smallRecords}`, { atMost: 1.03 }, ratios(...sizes)),
    ],
    figures: [
      figure('service: p50 of the first page, v1', 'ms', offsets[1]),
      figure('service: p50 of the last page, v1', 'ms', offsets[0]),
      figure('service: p50 of the first page, v2', 'ms', cursors[1]),
      figure('service: p50 of the last page, v2', 'ms', cursors[0]),
      figure('service: p50 of any page, all records', 'ms', sizes[0]),
      figure(`service: p50 of any page, ${smallRecords} records`, 'ms', sizes[1]),
    ],
    skipped: [],
  }
}

/** The median time of each side in each round. */
async function compareTimes(
  { rounds, seconds }: Stage['options'],
  ...sides: [Side, Side]
): Promise<[number[], number[]]> {
  const connections = sides.map(({ target }) => openRetryingConnection(target.address))
  const medians: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const times: [number[], number[]] = [[], []]
    const end = performance.now() + seconds * 1000
    for (let turn = 0; performance.now() < end; turn++) {
      for (const side of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const { target, path } = sides[side]
        const began = performance.now()
        await connections[side]?.send(target.get(path(), 'gzip'))
        times[side].push(performance.now() - began)
      }
    }
    // The first round warms up.
    if (round === 0) continue
    for (const side of [0, 1] as const)
      medians[side].push(
        percentile(
          times[side].toSorted((a, b) => a - b),
          50,
        ),
      )
  }
  for (const connection of connections) connection.close()
  return medians
}
