// Makes a link for a client on the operator's command line. Nothing is stored.
import { toKeyObjects } from '../../platform/derive-key.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { loadClients } from '../client-registry.ts'
import { makeLink } from '../links/make-link.ts'
import { assertSecretMatches, type SealingKeys } from './keys.ts'

/** A dataset that a link can open. */
export interface LinkedDataset {
  readonly name: string
  readonly scope: string
}

interface LinkOptions {
  readonly datasets: readonly LinkedDataset[]
  /** The keys that sign links, and those that decrypt signing keys: both come from one secret. */
  readonly linkKeys: SealingKeys
  readonly sealingKeys: SealingKeys
  readonly days: number
}

/** The address is whole, such as https://data.example.org/v2/hed-outbreaks/sums?q=ebola. */
export async function linkForClient(
  database: Database,
  clientId: string,
  address: string,
  { datasets, linkKeys, sealingKeys, days }: LinkOptions,
) {
  const dataset = datasets.find(({ name }) => address.includes(`/v2/${name}/`))
  const [baseUrl = ''] = address.split(`/v2/${dataset?.name}/`)
  if (dataset === undefined || !URL.canParse(baseUrl))
    throw new OperatorError(
      `${address} is not the URL of a dataset. Give all of it, such as https://data.example.org/v2/${datasets[0]?.name}/sums?q=ebola&format=csv.`,
    )
  const client = (await loadClients(database)).get(clientId)
  if (client === undefined)
    throw new OperatorError(`No client has the id ${clientId}. Run outbreakctl client list to see all of them.`)
  if (client.disabled || !client.scopes.includes(dataset.scope))
    throw new OperatorError(
      `The client ${clientId} ${client.disabled ? 'is disabled' : `cannot read ${dataset.name}`}, so its links would open nothing.`,
    )
  // Nodes with another secret would reject the link.
  await database.transaction((connection) => assertSecretMatches(connection, sealingKeys))
  return makeLink({
    keys: toKeyObjects([...linkKeys]),
    client,
    baseUrl,
    datasetName: dataset.name,
    url: address,
    days,
  })
}
