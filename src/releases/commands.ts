// outbreakctl release …: what the team that curates the data does with releases.
import { type Command, Option } from 'commander'
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import type { Answer } from '../platform/terminal.ts'
import { publishRelease } from './publish.ts'

interface ReleaseCommands {
  datasets: readonly Dataset[]
  answer: (work: (database: Database) => Promise<Answer | readonly Answer[]>) => Promise<void>
}

export function registerReleaseCommands(program: Command, { datasets, answer }: ReleaseCommands): void {
  const names = datasets.map((dataset) => dataset.name)
  program
    .command('release')
    .description('what is published')
    .command('publish')
    .argument('<directory>', 'release.json with the records in CSV or NDJSON beside it')
    .description('publish a directory as the next release: the whole of it, or nothing')
    .addOption(new Option('--dataset <name>', 'which dataset').choices(names).default(names[0]))
    .action((directory: string, options: { dataset: string }) => {
      const dataset = datasets.find(({ name }) => name === options.dataset)
      if (dataset === undefined) throw new Error(`no dataset is called ${options.dataset}`)
      return answer(async (database) => ({ ...(await publishRelease(database, dataset, directory)) }))
    })
}
