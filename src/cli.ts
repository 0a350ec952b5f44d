#!/usr/bin/env -S node --max-semi-space-size=8
// outbreakctl, the operator's command line. Prints results on stdout and errors on stderr, without a stack trace if the
// operator, the configuration or the database caused the error.
import { styleText } from 'node:util'
import { Command } from 'commander'
import { registerCredentialCommands } from './auth/provisioning/commands.ts'
import {
  ConfigError,
  type FileAccess,
  readDatabaseConfig,
  readFilesLocation,
  readOperatorConfig,
  readServiceConfig,
} from './config.ts'
import { catalogue } from './datasets/catalogue.ts'
import { registerOperateCommands } from './operate/commands.ts'
import { createProgress } from './platform/cli/progress.ts'
import { type CommandOutput, formatOutput } from './platform/cli/terminal.ts'
import { deriveKeys } from './platform/derive-key.ts'
import { OperatorError } from './platform/operator-error.ts'
import { checkConnectionSettings } from './platform/postgres/connection-check.ts'
import { type Database, openDatabase } from './platform/postgres/database.ts'
import { describeDatabaseError } from './platform/postgres/database-error.ts'
import { migrate } from './platform/postgres/migrate.ts'
import { checkSchema } from './platform/postgres/schema-version.ts'
import { findPrimary } from './platform/postgres/server-list.ts'
import { Problem } from './platform/problem.ts'
import { version } from './platform/version.ts'
import { registerReleaseCommands } from './publish/commands.ts'
import { renewIndexes } from './publish/rebuild-index.ts'
import type { FileStore } from './storage/files/file-store.ts'
import { openFileStore } from './storage/files/open-store.ts'

const progress = createProgress(process.stderr)

function print(result: CommandOutput | readonly CommandOutput[]): void {
  progress.clear()
  console.log(formatOutput(result, process.stdout))
}

async function runAndPrint(
  work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>,
): Promise<void> {
  const database = openDatabase({
    url: await findPrimary(readDatabaseConfig(process.env).databaseUrl),
    role: 'outbreaks_operator',
    // One connection writes, the other reads published data at the same time.
    connections: 2,
  })
  try {
    await checkSchema(database)
    await checkConnectionSettings(database, 'outbreaks_operator')
    print(await work(database))
  } finally {
    await database.close()
  }
}

async function openFiles(access: FileAccess): Promise<FileStore | undefined> {
  const location = readFilesLocation(process.env, access)
  return location === null ? undefined : openFileStore(location)
}

const program = new Command('outbreakctl')
  .description('Manages the Outbreak Data Service: schema, credentials, releases.')
  .version(version)
  .showHelpAfterError()

program
  .command('migrate')
  .description('migrate the database to the current schema, and rebuild a column index that this version cannot use')
  .action(async () => {
    const databaseUrl = await findPrimary(readDatabaseConfig(process.env).databaseUrl)
    const applied = await migrate(databaseUrl)
    const database = openDatabase({ url: databaseUrl, role: null, connections: 2 })
    try {
      print({ applied, rebuilt: await renewIndexes(database, catalogue) })
    } finally {
      await database.close()
    }
  })
registerCredentialCommands(program, {
  scopes: catalogue.map((dataset) => dataset.scope),
  runAndPrint,
  sealingKeys: () => {
    const { secret, furtherSecrets } = readOperatorConfig(process.env)
    return deriveKeys([secret, ...furtherSecrets], 'signing keys')
  },
})
registerOperateCommands(program, {
  print,
  readOptions: () => {
    const { filesLocation, indexDirectory, secret, furtherSecrets, ...config } = readServiceConfig(process.env)
    return {
      ...config,
      directories: [filesLocation, indexDirectory].filter((location) => location?.startsWith('/') === true) as string[],
      openFiles: async () => (filesLocation === null ? undefined : openFileStore(filesLocation)),
      sealingKeys: deriveKeys([secret, ...furtherSecrets], 'signing keys'),
      datasets: catalogue,
    }
  },
})
registerReleaseCommands(program, { datasets: catalogue, runAndPrint, print, progress: progress.update, openFiles })

try {
  await program.parseAsync()
} catch (error) {
  progress.clear()
  console.error(`${styleText('red', 'outbreakctl:', { stream: process.stderr })} ${describeError(error)}`)
  // A connection that failed to open may stay open until the server closes it, so the process does not wait for it.
  process.exit(1)
}

/** The message for an error of the operator, the configuration or the database. Rethrows other errors, which are bugs. */
function describeError(error: unknown): string {
  const cause = error instanceof Problem ? error.cause : undefined
  const sentence = describeDatabaseError(cause ?? error)
  if (sentence !== undefined) return sentence
  if (error instanceof Problem) return cause instanceof Error ? `${error.message} (${cause.message})` : error.message
  if (error instanceof OperatorError || error instanceof ConfigError) return error.message
  throw error
}
