// The routes of watches, endpoints and links in mails. The notifier answers them, judges and delivers; a node forwards them to it.

import { Registry } from 'prom-client'
import { type DatasetOptions, shareAmongResources } from '../api/requests/resource-options.ts'
import { addOperationSuffix } from '../api/routes.ts'
import { catalogue } from '../datasets/catalogue.ts'
import type { SeriesDataset } from '../methods/record-series.ts'
import { deriveKeys } from '../platform/derive-key.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { acceptJson } from '../platform/http/json-body.ts'
import { registerEndpointRoutes } from './delivery/endpoint-routes.ts'
import { openMailer } from './delivery/mail.ts'
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

export interface DeliverySettings {
  /** Origins of receivers that need no challenge, and may have any address and port. */
  readonly trustedOrigins: readonly string[]
  readonly proxyUrl: string | null
  /** Null if no mail is sent. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | null
}

interface DeliveryParts extends Pick<DeliveryDeps, 'database' | 'baseUrl' | 'log'> {
  readonly secrets: readonly [Buffer, ...Buffer[]]
  readonly metrics: Registry | undefined
}

const NO_SETTINGS: DeliverySettings = { trustedOrigins: [], proxyUrl: null, mail: null }

/** Delivers from the start of the server to its end. */
export function openDelivery(
  app: HttpServer,
  { mail, ...egress }: DeliverySettings = NO_SETTINGS,
  { secrets, metrics = new Registry(), ...parts }: DeliveryParts,
): DeliveryDeps {
  const delivery = {
    ...parts,
    datasets: catalogue,
    sealingKeys: deriveKeys(secrets, 'endpoint secrets'),
    linkKeys: deriveKeys(secrets, 'mail links'),
    egress,
    mailer: mail && openMailer(mail.smtpUrl, mail.from),
    metrics,
  }
  let running: Awaited<ReturnType<typeof startDelivery>> | undefined
  app.addHook('onReady', async () => {
    running = await startDelivery(delivery)
  })
  app.addHook('onClose', async () => {
    await running?.stop()
    delivery.mailer?.close()
  })
  return delivery
}
