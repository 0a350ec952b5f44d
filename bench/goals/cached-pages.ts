// 9: a page from the cache of the service. Only reported: what a user feels of it is the network.
import { figure, type Measurements } from '../goal.ts'
import { measureInTurns } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'
import { cpuMsOf, measureRate, perSecondOf } from '../usage.ts'

const CLIENTS = 4

export async function measureCachedPages({ cached, options }: Stage): Promise<Measurements> {
  const page = cached.get(PAGES_PATH, 'gzip')
  const { service } = await measureInTurns(options.rounds, {
    service: () => measureRate(cached, () => page, { connections: CLIENTS, duration: options.seconds }),
  })
  return {
    results: [],
    figures: [
      figure('service: cached gzip page', 'pages/s', perSecondOf(service)),
      figure('service: CPU for a cached gzip page', 'ms', cpuMsOf(service)),
    ],
    skipped: [],
  }
}
