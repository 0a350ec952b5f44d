// outbreakctl release …: what the team that curates the data does with releases.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Dataset } from '../datasets/define.ts'
import type { Progress } from '../platform/cli/progress.ts'
import type { CommandOutput } from '../platform/cli/terminal.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { FileStore } from '../storage/file-store.ts'
import { exportRelease } from './export/export-files.ts'
import { listReleases } from './list-releases.ts'
import { pruneReleases } from './prune.ts'
import { previewRelease, publishRelease } from './publish.ts'
import { rollbackTo } from './rollback.ts'
import { checkRelease } from './validate/check-release.ts'

interface ReleaseCommands {
  datasets: readonly Dataset[]
  /** Runs the work on the operator's database and prints its result. */
  runAndPrint: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
  print: (result: CommandOutput | readonly CommandOutput[]) => void
  progress: Progress
  /** Undefined where the operator wants no files. */
  openFiles: () => FileStore | undefined
}

export function registerReleaseCommands(
  program: Command,
  { datasets, runAndPrint, print, progress, openFiles }: ReleaseCommands,
): void {
  const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]))
  const release = program.command('release').description('what is published')
  const command = (name: string, description: string) =>
    release
      .command(name)
      .description(description)
      .addOption(new Option('--dataset <name>', 'which dataset').choices([...byName.keys()]).default(datasets[0]?.name))
  const find = ({ dataset }: { dataset: string }): Dataset => byName.get(dataset) as Dataset

  /** Publishes, then writes the files where there is a place for them. The release stays published if they fail. */
  async function publishWithFiles(database: Database, dataset: Dataset, publish: () => Promise<{ release: number }>) {
    const store = openFiles()
    const summary = await publish()
    const number = summary.release
    if (store === undefined) return { ...summary }
    try {
      return { ...summary, files: await exportRelease(database, store, dataset, number) }
    } catch (cause) {
      print({ ...summary })
      throw new OperatorError(
        `release ${number} is published; its files are not: run outbreakctl release export --release ${number} (${(cause as Error).message})`,
        { cause },
      )
    }
  }

  command('check', 'say what is wrong with a directory, without a database')
    .argument('<directory>', 'release.json with the records in CSV, NDJSON or Parquet beside it')
    .action(async (directory: string, options: { dataset: string }) => {
      const report = await checkRelease(find(options), directory, { progress })
      print({ ...report, findings: report.findings.map((finding) => ({ ...finding })) })
      if (report.errors > 0) process.exitCode = 1
    })
  command('preview', 'say what publishing a directory would change, and change nothing')
    .argument('<directory>', 'release.json with the records in CSV, NDJSON or Parquet beside it')
    .option(...confirmRejected)
    .action((directory: string, { confirmRejected: rejected = 0, ...options }: PublishOptions) =>
      runAndPrint(async (database) => ({
        ...(await previewRelease(database, find(options), directory, { rejected, progress })),
      })),
    )
  command('publish', 'publish a directory as the next release: the whole of it, or nothing')
    .argument('<directory>', 'release.json with the records in CSV, NDJSON or Parquet beside it')
    .addOption(confirmation())
    .option(...confirmRejected)
    .action((directory: string, options: PublishOptions) =>
      runAndPrint((database) =>
        publishWithFiles(database, find(options), () =>
          publishRelease(database, find(options), directory, {
            confirmed: options.confirmWithdrawn ?? 0,
            rejected: options.confirmRejected ?? 0,
            progress,
          }),
        ),
      ),
    )
  command('rollback', 'publish a new release that is equal to an earlier one')
    .requiredOption('--to <number>', 'number of the release to return to', parseNumber)
    .requiredOption('--note <text>', 'why; consumers read it')
    .addOption(confirmation())
    .action((options: { dataset: string; to: number; note: string; confirmWithdrawn?: number }) =>
      runAndPrint((database) =>
        publishWithFiles(database, find(options), () =>
          rollbackTo(database, find(options), options.to, options.note, { confirmed: options.confirmWithdrawn ?? 0 }),
        ),
      ),
    )
  command('prune', 'let go of the records of old releases, for good')
    .requiredOption('--before <number>', 'the oldest release to keep', parseNumber)
    .action((options: { dataset: string; before: number }) =>
      runAndPrint((database) => pruneReleases(database, find(options), options.before)),
    )
  command('export', 'write the files of a release, or those of them that are missing or damaged')
    .option('--release <number>', 'which; the newest where it is left out', parseNumber)
    .action((options: { dataset: string; release?: number }) =>
      runAndPrint(async (database) => {
        const store = openFiles()
        if (store === undefined) throw new OperatorError('OUTBREAKS_FILES does not say where to write files')
        const number = options.release ?? (await listReleases(database, find(options)))[0]?.number
        if (number === undefined) throw new OperatorError('nothing has been published yet')
        return exportRelease(database, store, find(options), number)
      }),
    )
  command('list', 'all releases, newest first').action((options: { dataset: string }) =>
    runAndPrint((database) => listReleases(database, find(options))),
  )
}

const confirmation = () =>
  new Option('--confirm-withdrawn <number>', 'how many records this withdraws, where that is more than 5 %').argParser(
    parseNumber,
  )

interface PublishOptions {
  dataset: string
  confirmWithdrawn?: number
  confirmRejected?: number
}

/** All of them are kept in memory, and with the release. */
const MOST_REJECTED = 10_000

const confirmRejected = [
  '--confirm-rejected <number>',
  'how many rows are rejected; the others are published',
  (text: string): number => {
    const number = parseNumber(text)
    if (number > MOST_REJECTED) throw new InvalidArgumentError(`a whole number from 1 to ${MOST_REJECTED}`)
    return number
  },
] as const

function parseNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 999999999')
  return Number(text)
}
