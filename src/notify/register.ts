// The routes of watches and endpoints of a dataset. The notifier answers them; a node forwards them to the notifier.

import { type DatasetOptions, shareAmongResources } from '../api/requests/resource-options.ts'
import { addOperationSuffix } from '../api/routes.ts'
import type { SeriesDataset } from '../methods/record-series.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { acceptJson } from '../platform/http/json-body.ts'
import { forwardRequests } from './forward.ts'
import { createJudge } from './watches/judge-release.ts'
import { startJudging } from './watches/judging-loop.ts'
import { registerWatchRoutes } from './watches/watch-routes.ts'

/** What a process does with watches: `judge` for the notifier, otherwise where the notifier is, or null if there is none. */
export type NotifierRole = 'judge' | { readonly forwardTo: string | null }

type NotifyOptions = Omit<DatasetOptions, 'dataset'> & { readonly dataset: SeriesDataset }

/** Inside a guarded scope of the dataset. */
export function registerNotifyRoutes(scope: HttpServer, options: NotifyOptions, role: NotifierRole): void {
  const { database } = options
  const routes = { ...shareAmongResources(options), dataset: options.dataset }
  const judge = createJudge(routes)
  acceptJson(scope)
  addOperationSuffix(scope, options.dataset)
  if (role === 'judge') {
    const { log } = scope
    let judging: ReturnType<typeof startJudging> | undefined
    scope.addHook('onListen', async () => {
      judging = startJudging({ database, routes, judge, log })
    })
    scope.addHook('onClose', async () => judging?.stop())
  } else forwardRequests(scope, role.forwardTo)
  registerWatchRoutes(scope, { routes, database, judge })
}
