// The routes of watches, endpoints and links in mails. The notifier answers them, judges and delivers; a node forwards them to it.

import { type DatasetOptions, shareAmongResources } from '../api/requests/resource-options.ts'
import { addOperationSuffix } from '../api/routes.ts'
import type { SeriesDataset } from '../methods/record-series.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { acceptJson } from '../platform/http/json-body.ts'
import { registerEndpointRoutes } from './delivery/endpoint-routes.ts'
import { registerMailLinks } from './delivery/mail-links.ts'
import { type DeliveryDeps, startDelivery } from './delivery/worker.ts'
import { forwardRequests } from './forward.ts'
import { createJudge } from './watches/judge-release.ts'
import { startJudging } from './watches/judging-loop.ts'
import { registerWatchRoutes } from './watches/watch-routes.ts'

/** What a process does with watches: `judge` for the notifier, otherwise where the notifier is, or null if there is none. */
export type NotifierRole = 'judge' | { readonly forwardTo: string | null }

type NotifyOptions = Omit<DatasetOptions, 'dataset'> & { readonly dataset: SeriesDataset }

/** Inside a guarded scope of the dataset. `delivery` is null on a process that only forwards. */
export function registerNotifyRoutes(
  scope: HttpServer,
  options: NotifyOptions,
  role: NotifierRole,
  delivery: DeliveryDeps | null,
): void {
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
  registerEndpointRoutes(scope, options.dataset.name, delivery)
}

/** Outside any guard: whoever has a mail can use its links. */
export function registerMailRoutes(
  scope: HttpServer,
  datasetName: string,
  role: NotifierRole,
  delivery: DeliveryDeps | null,
): void {
  if (role !== 'judge') forwardRequests(scope, role.forwardTo)
  registerMailLinks(scope, datasetName, delivery)
}

/** Delivers from the start of the server to its end. */
export function deliverWith(app: HttpServer, delivery: DeliveryDeps): void {
  let running: Awaited<ReturnType<typeof startDelivery>> | undefined
  app.addHook('onReady', async () => {
    running = await startDelivery(delivery)
  })
  app.addHook('onClose', async () => {
    await running?.stop()
    delivery.mailer?.close()
  })
}
