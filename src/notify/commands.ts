// The commands `outbreakctl notices` and `outbreakctl watch`. Each loads what it runs.
import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { hasSeries, type SeriesDataset } from '../methods/record-series.ts'
import type { CommandOutput } from '../platform/cli/terminal.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'

interface NotifyCommands {
  datasets: readonly Dataset[]
  /** Runs the work on the operator's database and prints its result. */
  runAndPrint: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
  /** Runs the work, which writes lines. */
  runAndWrite: (work: (database: Database, write: (value: object) => void) => Promise<void>) => Promise<void>
  baseUrl: () => string
}

const POLL_MS = 1000
const PAGE = 100

export function registerNotifyCommands(program: Command, commands: NotifyCommands): void {
  const { datasets, runAndPrint, runAndWrite, baseUrl } = commands
  const watchable = datasets.filter((dataset) => hasSeries(dataset))
  const chooseDataset = (choices: readonly Dataset[]) =>
    new Option('--dataset <name>', 'which dataset').choices(choices.map(({ name }) => name)).default(choices[0]?.name)
  const findDataset = ({ dataset }: { dataset: string }): SeriesDataset =>
    watchable.find(({ name }) => name === dataset) as SeriesDataset

  program
    .command('notices')
    .description('print what was published, rolled back and pruned, as lines with CloudEvents')
    .addOption(chooseDataset(datasets))
    .option('--after <number>', 'the number of the last notice that you know', parseNumber, 0)
    .option('--follow', 'wait for more notices, until Ctrl-C')
    .action(({ dataset, after, follow }: { dataset: string; after: number; follow?: true }) =>
      runAndWrite(async (database, write) => {
        const { readNotices } = await import('../api/feeds/read-notices.ts')
        const place = { datasetName: dataset, baseUrl: baseUrl() }
        for (let last = after; ; ) {
          const notices = await readNotices(database, place, { after: last, limit: PAGE })
          for (const notice of notices) write(notice)
          last = notices.at(-1)?.data.seq ?? last
          if (notices.length === PAGE) continue
          if (follow === undefined) return
          await wait(POLL_MS)
        }
      }),
    )

  const watch = program.command('watch').description('manage the watches of clients')
  watch
    .command('list')
    .description('list all watches, or those of a client')
    .option('--client <client-id>', 'only those of this client')
    .action(({ client }: { client?: string }) =>
      runAndPrint((database) =>
        database.query<Record<string, string | number | null>>(sql`
          select id::text, client_id, dataset, name, question, condition as "when", endpoint::text, state, reason, judged
          from watch where ${client ?? null}::text is null or client_id = ${client ?? null} order by client_id, created_at, id`),
      ),
    )
  watch
    .command('create')
    .description('watch a question for a client')
    .addOption(chooseDataset(watchable))
    .requiredOption('--client <client-id>', 'whose watch it is')
    .requiredOption('--question <query>', 'a question of /sums, such as country_code=GN&counts=cases')
    .requiredOption('--when <condition>', 'changes, changes:cases:10, crosses:cases:1000, appears or corrects')
    .option('--name <name>', 'for people; default: the question in words')
    .option('--endpoint <id>', 'where notices are delivered; default: they are only kept')
    .action((options: CreateOptions) =>
      runAndPrint(async (database) => {
        const { createWatchParser, nameWatch } = await import('./watches/parse-watch.ts')
        const { addWatch } = await import('./watches/store-watches.ts')
        const dataset = findDataset(options)
        const watched = createWatchParser(dataset)(options.question, options.when)
        const { question } = watched
        const [latest] = await database.query<{ number: number | null; is_client: boolean }>(sql`
          select max(number) as number,
            exists (select from client where client_id = ${options.client} and disabled_at is null
              and scopes @> array[${dataset.scope}]) as is_client
          from release where dataset = ${dataset.name}`)
        if (latest?.is_client !== true)
          throw new OperatorError(
            `No client ${options.client} may read ${dataset.name}. Run outbreakctl client list to see all of them.`,
          )
        if (latest.number === null) throw new OperatorError('no release has been published yet')
        const { name = nameWatch(dataset, watched), endpoint = null } = options
        const { id, judged } = await addWatch(
          database,
          { clientId: options.client, dataset: dataset.name },
          { name, question: question.canonical, condition: options.when, endpoint, after: latest.number },
        )
        return { id, name, question: question.canonical, when: options.when, judged }
      }),
    )
  watch
    .command('preview')
    .description('show what a watch would have said about the last ten releases')
    .addOption(chooseDataset(watchable))
    .requiredOption('--question <query>', 'a question of /sums')
    .requiredOption('--when <condition>', 'changes, changes:cases:10, crosses:cases:1000, appears or corrects')
    .action((options: Pick<CreateOptions, 'dataset' | 'question' | 'when'>) =>
      runAndWrite(async (database, write) => {
        const { previewWatch } = await import('./watches/preview-watch.ts')
        const place = { dataset: findDataset(options), baseUrl: baseUrl() }
        for (const notice of await previewWatch(database, place, options)) write(notice)
      }),
    )
  for (const [name, description, change] of [
    ['pause', 'stop judging a watch', sql`update watch set state = 'paused' where state = 'active'`],
    [
      'resume',
      'continue a paused watch, from the next release',
      sql`update watch set state = 'active', judged = greatest(judged, (
            select max(number) from release where release.dataset = watch.dataset)) where state = 'paused'`,
    ],
    ['delete', 'delete a watch; its notices can no longer be read', sql`delete from watch where true`],
  ] as const)
    watch
      .command(name)
      .description(description)
      .argument('<watch-id>')
      .action((id: string) =>
        runAndPrint(async (database) => {
          const rows = await database.query(sql`${change} and id::text = ${id} returning id`)
          if (rows.length === 0)
            throw new OperatorError(`No watch ${id} can be changed so. Run outbreakctl watch list to see all of them.`)
          return { id, done: name }
        }),
      )
}

interface CreateOptions {
  dataset: string
  client: string
  question: string
  when: string
  name?: string
  endpoint?: string
}

function parseNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
