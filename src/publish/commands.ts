// The commands `outbreakctl release …`, which publish and manage releases. Each loads what it runs: loading all of
// it would take half of the time of a short command.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Dataset } from '../datasets/define.ts'
import type { Progress } from '../platform/cli/progress.ts'
import type { CommandOutput } from '../platform/cli/terminal.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { FileStore } from '../storage/files/file-store.ts'
import { listReleases } from './list-releases.ts'

interface ReleaseCommands {
  datasets: readonly Dataset[]
  /** Runs the work on the operator's database and prints its result. */
  runAndPrint: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
  print: (result: CommandOutput | readonly CommandOutput[]) => void
  printNote: (text: string) => void
  progress: Progress
  /** Undefined if no place for files is configured. */
  openFiles: (access: 'read' | 'write') => Promise<FileStore | undefined>
  /** Null if no node on this machine keeps its column index. */
  indexDirectory: () => string | null
}

export function registerReleaseCommands(
  program: Command,
  { datasets, runAndPrint, print, printNote, progress, openFiles, indexDirectory }: ReleaseCommands,
): void {
  const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]))
  const release = program.command('release').description('publish and manage releases')
  const command = (name: string, description: string) =>
    release
      .command(name)
      .description(description)
      .addOption(
        new Option('--dataset <name>', 'the dataset to work on').choices([...byName.keys()]).default(datasets[0]?.name),
      )
  const findDataset = ({ dataset }: { dataset: string }): Dataset => byName.get(dataset) as Dataset

  /** Publishes, then writes the files if a place for them is configured. The release stays published if the files fail. */
  async function publishWithFiles(database: Database, dataset: Dataset, publish: () => Promise<{ release: number }>) {
    const store = await openFiles('write')
    const summary = await publish()
    const number = summary.release
    if (store === undefined) return { ...summary }
    const { exportRelease } = await import('./export/export-files.ts')
    try {
      return { ...summary, files: await exportRelease(database, store, dataset, number) }
    } catch (cause) {
      print({ ...summary })
      throw new OperatorError(
        `Release ${number} is published, but its files could not be written (${(cause as Error).message}). Run outbreakctl release export --release ${number}.`,
        { cause },
      )
    }
  }

  command('check', 'validate a directory; needs no database')
    .argument('<directory>', 'a directory with release.json and the records in CSV, NDJSON or Parquet')
    .action(async (directory: string, options: { dataset: string }) => {
      const { validateRelease } = await import('./validate/validate-release.ts')
      const report = await validateRelease(findDataset(options), directory, { progress })
      print({ ...report, findings: report.findings.map((finding) => ({ ...finding })) })
      if (report.errors > 0) process.exitCode = 1
    })
  command('preview', 'show what publishing a directory would change')
    .argument('<directory>', 'a directory with release.json and the records in CSV, NDJSON or Parquet')
    .option(...confirmRejectedOption)
    .option(...replaceSourceOption)
    .action((directory: string, options: PublishOptions) =>
      runAndPrint(async (database) => {
        const { previewRelease } = await import('./publish.ts')
        const preview = await previewRelease(database, findDataset(options), directory, {
          confirmedRejected: options.confirmRejected ?? 0,
          replacedSource: options.replaceSource,
          progress,
        })
        return { ...preview }
      }),
    )
  command('publish', 'publish a directory as the next release, completely or not at all')
    .argument('<directory>', 'a directory with release.json and the records in CSV, NDJSON or Parquet')
    .addOption(createConfirmWithdrawnOption())
    .option(...confirmRejectedOption)
    .option(...replaceSourceOption)
    .action((directory: string, options: PublishOptions) =>
      runAndPrint(async (database) => {
        const { publishRelease } = await import('./publish.ts')
        return publishWithFiles(database, findDataset(options), () =>
          publishRelease(database, findDataset(options), directory, {
            confirmedWithdrawn: options.confirmWithdrawn ?? 0,
            confirmedRejected: options.confirmRejected ?? 0,
            replacedSource: options.replaceSource,
            progress,
          }),
        )
      }),
    )
  command('rollback', 'publish a new release with the records of an earlier one')
    .requiredOption('--to <number>', 'the release to go back to', parseNumber)
    .requiredOption('--note <text>', 'the reason, for people who read the data')
    .addOption(createConfirmWithdrawnOption())
    .action((options: { dataset: string; to: number; note: string; confirmWithdrawn?: number }) =>
      runAndPrint(async (database) => {
        const { rollbackTo } = await import('./rollback.ts')
        return publishWithFiles(database, findDataset(options), () =>
          rollbackTo(database, findDataset(options), options.to, options.note, {
            confirmedWithdrawn: options.confirmWithdrawn ?? 0,
          }),
        )
      }),
    )
  command('prune', 'permanently delete the records of old releases')
    .requiredOption('--before <number>', 'the oldest release to keep', parseNumber)
    .option(
      '--confirm-pruned <number>',
      'confirm how many releases will be deleted; without it, show what would be',
      parseNumber,
    )
    .action((options: { dataset: string; before: number; confirmPruned?: number }) =>
      runAndPrint(async (database) => {
        const { pruneReleases, removeFiles } = await import('./prune.ts')
        const store = await openFiles('write')
        const summary = await pruneReleases(database, findDataset(options), options.before, options.confirmPruned ?? 0)
        return { ...summary, ...(store && (await removeFiles(database, store, findDataset(options)))) }
      }),
    )
  command('export', 'write the missing or damaged files of a release')
    .option('--release <number>', 'the release; default: the latest', parseNumber)
    .action((options: { dataset: string; release?: number }) =>
      runAndPrint(async (database) => {
        const store = await openFiles('write')
        if (store === undefined)
          throw new OperatorError('OUTBREAKS_FILES is not set. Set it to the directory or bucket for release files.')
        const number = options.release ?? (await listReleases(database, findDataset(options)))[0]?.number
        if (number === undefined)
          throw new OperatorError('There is no release to export yet. Run outbreakctl release publish DIR.')
        const { exportRelease } = await import('./export/export-files.ts')
        return exportRelease(database, store, findDataset(options), number)
      }),
    )
  command('verify', 'check all releases, their files and their column index against what was published').action(
    (options: { dataset: string }) =>
      runAndPrint(async (database) => {
        const { verifyReleases } = await import('./verify.ts')
        const places = { store: await openFiles('read'), indexDirectory: indexDirectory() }
        const releases = await verifyReleases(database, places, findDataset(options), progress)
        if (places.store === undefined)
          printNote('The files of releases were not checked, because OUTBREAKS_FILES is not set.')
        if (releases.some(({ differences }) => differences.length > 0)) process.exitCode = 1
        return releases
      }),
  )
  command('reindex', 'rebuild the column index of all releases, for example after damage').action(
    (options: { dataset: string }) =>
      runAndPrint(async (database) => {
        const { rebuildIndex } = await import('./rebuild-index.ts')
        return rebuildIndex(database, findDataset(options))
      }),
  )
  command('list', 'list all releases, latest first').action((options: { dataset: string }) =>
    runAndPrint((database) => listReleases(database, findDataset(options))),
  )
}

const createConfirmWithdrawnOption = () =>
  new Option('--confirm-withdrawn <number>', 'confirm how many records will be withdrawn; required above 5%').argParser(
    parseNumber,
  )

interface PublishOptions {
  dataset: string
  confirmWithdrawn?: number
  confirmRejected?: number
  replaceSource?: string
}

/** Rejected rows are kept in memory and stored with the release. */
const MAX_REJECTED = 10_000

const confirmRejectedOption = [
  '--confirm-rejected <number>',
  'confirm how many rows are invalid, and publish the rest',
  (text: string): number => {
    const number = parseNumber(text)
    if (number > MAX_REJECTED)
      throw new InvalidArgumentError(
        `It must be a whole number from 1 to ${MAX_REJECTED}. If more rows are invalid, fix the input.`,
      )
    return number
  },
] as const

const replaceSourceOption = [
  '--replace-source <name>',
  'replace the records of one source with the complete table in the directory',
] as const

function parseNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.')
  return Number(text)
}
