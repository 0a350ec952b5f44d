// The commands `outbreakctl endpoint`: who receives notices, whether it works, ending it, and delivering again.
import { type Command, InvalidArgumentError } from 'commander'
import sql from 'sql-template-tag'
import type { CommandOutput } from '../platform/cli/terminal.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import { again } from './delivery/delivery-log.ts'
import { isUuid } from './delivery/endpoints.ts'
import { BY_OPERATOR, endDeliveries, KEPT_DAYS } from './delivery/queue.ts'

interface EndpointCommands {
  /** Runs the work on the operator's database and prints its result. */
  runAndPrint: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
}

export function registerEndpointCommands(program: Command, { runAndPrint }: EndpointCommands): void {
  const endpoint = program.command('endpoint').description('manage where clients receive notices')
  endpoint
    .command('list')
    .description('list all endpoints, with what is pending and what failed')
    .action(() => runAndPrint(listAll))
  endpoint
    .command('disable')
    .argument('<endpoint-id>', 'the id that list shows', parseId)
    .description('deliver nothing more to an endpoint; its client cannot enable it again')
    .action((id: string) => runAndPrint((database) => disableEndpoint(database, id)))
  endpoint
    .command('redeliver')
    .argument('<endpoint-id>', 'the id that list shows', parseId)
    .description('try failed deliveries again, with the same ids, after a receiver was repaired')
    .option('--hours <hours>', 'those of the last hours', parseHours, 24)
    .action((id: string, { hours }: { hours: number }) =>
      runAndPrint((database) => redeliverFailed(database, id, hours)),
    )
}

type EndpointSummary = {
  id: string
  client_id: string
  dataset: string
  /** The origin of a webhook, whose path may be a password; or the mail address. */
  to: string
  state: string
  reason: string | null
  digest: string | null
  failing_since: Date | null
  pending: number
  failed: number
}

const listAll = (database: Database): Promise<EndpointSummary[]> =>
  database.query<EndpointSummary>(sql`
    select e.id, e.client_id, e.dataset, coalesce(substring(e.address from '^https://[^/]+'), e.address) as to, e.state, e.reason,
      e.digest, e.failing_since, count(d.id) filter (where d.state = 'pending')::integer as pending,
      count(d.id) filter (where d.state = 'failed')::integer as failed
    from endpoint e left join delivery d on d.endpoint = e.id
    where e.deleted_at is null group by e.id order by e.client_id, e.created_at, e.id`)

async function disableEndpoint(database: Database, id: string) {
  const [row] = await database.query<{ id: string; state: string; reason: string }>(sql`
    update endpoint set state = 'disabled', reason = ${BY_OPERATOR}
    where id = ${id} and deleted_at is null returning id, state, reason`)
  if (row === undefined) throw noEndpoint(id)
  await endDeliveries(database)
  return row
}

async function redeliverFailed(database: Database, id: string, hours: number) {
  const [row] = await database.query<{ state: string }>(
    sql`select state from endpoint where id = ${id} and deleted_at is null`,
  )
  if (row === undefined) throw noEndpoint(id)
  if (row.state !== 'active')
    throw new OperatorError(`The endpoint ${id} is ${row.state}. Its client must confirm it first.`)
  const deliveries = await database.query(
    again(
      sql`endpoint = ${id} and state = 'failed' and created_at > now() - make_interval(hours => ${hours}::integer)`,
    ),
  )
  return { endpoint: id, deliveries: deliveries.length }
}

const noEndpoint = (id: string) =>
  new OperatorError(`No endpoint has the id ${id}. Run outbreakctl endpoint list to see all of them.`)

function parseId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be an id that outbreakctl endpoint list shows.')
  return text
}

function parseHours(text: string): number {
  const hours = Number(text)
  if (!/^[1-9]\d{0,2}$/.test(text) || hours > KEPT_DAYS * 24)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${KEPT_DAYS * 24}.`)
  return hours
}
