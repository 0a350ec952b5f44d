// Goal 12: how long a node takes until it answers filtered requests, and how much memory it uses when it answers them.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { figure, type Measurements, result } from '../goal.ts'
import { PAGES_PATH } from '../pages.ts'
import { drawFilters, pickRandom, readFacetValues, toSearch } from '../questions.ts'
import type { Stage } from '../stage.ts'
import { createAsker, startReadyNode } from '../target.ts'
import { readCpuSeconds, readPeakMegabytes, readResidentMegabytes } from '../usage.ts'

const CACHED_STARTS = 2

export async function measureNode({ store, pages, scratch, options }: Stage): Promise<Measurements> {
  const directory = path.join(scratch, 'node-index')
  await mkdir(directory, { recursive: true })
  const start = () => startReadyNode(store, { OUTBREAKS_INDEX: directory })
  const { target: first, seconds: fromEmpty } = await start()
  const [buildPeak, buildCpu] = [readPeakMegabytes(first.pid), readCpuSeconds(first.pid)]
  await first.stop()
  const cached: number[] = []
  const cpu: number[] = []
  const peaks: number[] = []
  const resident: number[] = []
  for (let round = 0; round < CACHED_STARTS; round++) {
    const { target, seconds } = await start()
    cached.push(seconds)
    cpu.push(readCpuSeconds(target.pid))
    const facets = await readFacetValues(target)
    const asker = createAsker(target)
    for (let i = 0; i < options.questions; i++) {
      const search = toSearch(drawFilters(facets))
      await asker.require(pickRandom(pages))
      await asker.require(`${PAGES_PATH}&count=exact&${search}`)
      await asker.require(`/v2/hed-outbreaks/facets?${search}`)
    }
    asker.close()
    resident.push(readResidentMegabytes(target.pid))
    peaks.push(readPeakMegabytes(target.pid))
    await target.stop()
  }
  return {
    results: [
      result('12a', 'highest resident memory of a node that answers', { atMost: 600 }, peaks, 'MB'),
      result('12b', 'start until filtered answers, index file present', { atMost: 3 }, cached, 's'),
      result('12c', 'start until filtered answers, empty directory', { atMost: 60 }, [fromEmpty], 's'),
    ],
    figures: [
      figure('service: CPU until filtered answers, index file present', 's', cpu),
      figure('service: CPU until filtered answers, empty directory', 's', [buildCpu]),
      figure('service: resident memory after the questions', 'MB', resident),
      figure('service: highest resident memory while the index is built', 'MB', [buildPeak]),
    ],
    skipped: [],
  }
}
