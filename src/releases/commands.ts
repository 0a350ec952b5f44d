// outbreakctl release …: what the team that curates the data does with releases.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import type { Answer } from '../platform/terminal.ts'
import { checkRelease } from './check-release.ts'
import { listReleases } from './list-releases.ts'
import { previewRelease, publishRelease, withdrawTo } from './publish.ts'

interface ReleaseCommands {
  datasets: readonly Dataset[]
  /** Runs the work on the operator's database and prints its answer. */
  answer: (work: (database: Database) => Promise<Answer | readonly Answer[]>) => Promise<void>
  print: (answer: Answer | readonly Answer[]) => void
}

export function registerReleaseCommands(program: Command, { datasets, answer, print }: ReleaseCommands): void {
  const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]))
  const release = program.command('release').description('what is published')
  const command = (name: string, description: string) =>
    release
      .command(name)
      .description(description)
      .addOption(new Option('--dataset <name>', 'which dataset').choices([...byName.keys()]).default(datasets[0]?.name))
  const find = ({ dataset }: { dataset: string }): Dataset => byName.get(dataset) as Dataset

  command('check', 'say what is wrong with a directory, without a database')
    .argument('<directory>', 'release.json with the records in CSV or NDJSON beside it')
    .action(async (directory: string, options: { dataset: string }) => {
      const report = await checkRelease(find(options), directory)
      print({ ...report, findings: report.findings.map((finding) => ({ ...finding })) })
      if (report.errors > 0) process.exitCode = 1
    })
  command('preview', 'say what publishing a directory would change, and change nothing')
    .argument('<directory>', 'release.json with the records in CSV or NDJSON beside it')
    .action((directory: string, options: { dataset: string }) =>
      answer(async (database) => ({ ...(await previewRelease(database, find(options), directory)) })),
    )
  command('publish', 'publish a directory as the next release: the whole of it, or nothing')
    .argument('<directory>', 'release.json with the records in CSV or NDJSON beside it')
    .option('--confirm-withdrawn <number>', 'how many records this withdraws, where that is more than 5 %', parseNumber)
    .action((directory: string, options: { dataset: string; confirmWithdrawn?: number }) =>
      answer(async (database) => ({
        ...(await publishRelease(database, find(options), directory, options.confirmWithdrawn)),
      })),
    )
  command('withdraw', 'take back what was published since an earlier release, by a new release equal to it')
    .requiredOption('--to <number>', 'the release to go back to', parseNumber)
    .requiredOption('--note <text>', 'why; consumers read it')
    .action((options: { dataset: string; to: number; note: string }) =>
      answer(async (database) => ({ ...(await withdrawTo(database, find(options), options.to, options.note)) })),
    )
  command('list', 'all releases, newest first').action((options: { dataset: string }) =>
    answer((database) => listReleases(database, find(options))),
  )
}

function parseNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 999999999')
  return Number(text)
}
