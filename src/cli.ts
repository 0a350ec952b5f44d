#!/usr/bin/env -S node --max-semi-space-size=8
// outbreakctl, the operator's command line. Prints results on stdout and errors on stderr, without a stack trace if the
// operator, the configuration or the database caused the error.
import { inspect, styleText } from 'node:util'
import { Command } from 'commander'
import { listClients } from './auth/provisioning/clients.ts'
import { registerCredentialCommands } from './auth/provisioning/commands.ts'
import {
  ConfigError,
  explainConfig,
  type FileAccess,
  hasDatabase,
  readBaseUrl,
  readDatabaseConfig,
  readFilesLocation,
  readIndexDirectory,
  readOperatorConfig,
  readServiceConfig,
  secretValues,
} from './config.ts'
import { catalogue } from './datasets/catalogue.ts'
import { registerNotifyCommands } from './notify/commands.ts'
import { registerEndpointCommands } from './notify/endpoint-commands.ts'
import { registerAuditCommands } from './operate/audit-commands.ts'
import { beginAction, findActor, hasAuditLog, redactSecrets } from './operate/audit-log.ts'
import { registerOperateCommands } from './operate/commands.ts'
import { escapeInLines } from './platform/cli/escape-controls.ts'
import { createProgress } from './platform/cli/progress.ts'
import { type CommandOutput, formatOutput } from './platform/cli/terminal.ts'
import { deriveKeys } from './platform/derive-key.ts'
import { describeSystemError, OperatorError } from './platform/operator-error.ts'
import { checkConnectionSettings } from './platform/postgres/connection-check.ts'
import { type Database, openDatabase } from './platform/postgres/database.ts'
import { explainDatabaseError } from './platform/postgres/database-error.ts'
import { migrate } from './platform/postgres/migrate.ts'
import { checkSchema } from './platform/postgres/schema-version.ts'
import { Problem } from './platform/problem.ts'
import { version } from './platform/version.ts'
import { registerReleaseCommands } from './publish/commands.ts'
import type { FileStore } from './storage/files/file-store.ts'
import { openFileStore } from './storage/files/open-store.ts'

const progress = createProgress(process.stderr)

function print(result: CommandOutput | readonly CommandOutput[]): void {
  progress.clear()
  console.log(formatOutput(result, process.stdout))
}

/** What the operator should know, alongside the result. */
function printNote(text: string): void {
  progress.clear()
  console.error(escapeInLines(text))
}

/** Commands that change nothing. Every other one that uses the database is recorded in the audit log. */
const READING_COMMANDS = [
  'client list',
  'key list',
  'endpoint list',
  'release preview',
  'release verify',
  'release list',
  'audit list',
  'audit verify',
  'audit export',
  'notices',
  'watch list',
  'watch preview',
]
/** What an operator needs after going back a version: they work on a schema with newer migrations that only add. */
const COMMANDS_OF_THE_WAY_BACK = [
  ...READING_COMMANDS.filter((name) => name !== 'release preview'),
  'client disable',
  'client enable',
  'client rotate',
  'key disable',
  'key reseal',
  'release rollback',
]
let commandName = ''

/** Runs the work between two rows of the audit log: an action that took effect has at least the first one. */
async function audit<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  const endAction = await beginAction(database, findActor(process.env['SUDO_USER']), {
    command: commandName,
    arguments: process.argv.slice(2 + commandName.split(' ').length).map(redact),
  })
  const result = await work().catch(async (error: unknown) => {
    // The error of the action matters more than that of the log, which then shows an action without a result.
    await endAction(redact(describeFailure(error))).catch(() => {})
    throw error
  })
  await endAction(null).catch((cause: unknown) => {
    throw new OperatorError(
      `The command succeeded, but its result could not be written to the audit log (${describeFailure(cause)}). Do not run it again.`,
      { cause },
    )
  })
  return result
}

const redact = (text: string): string => redactSecrets(text, secretValues(process.env))

async function runAndPrint(
  work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>,
): Promise<void> {
  await runOnDatabase(async (database) => {
    // Printed before the last row: what is shown once, such as a secret, must not be lost if that row fails.
    const workAndPrint = async () => print(await work(database))
    await (READING_COMMANDS.includes(commandName) ? workAndPrint() : audit(database, workAndPrint))
  })
}

async function runOnDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({
    url: readDatabaseConfig(process.env).databaseUrl,
    role: 'outbreaks_operator',
    // One connection writes, the other reads published data at the same time.
    connections: 2,
  })
  try {
    await checkSchema(database, { mayBeExpanded: COMMANDS_OF_THE_WAY_BACK.includes(commandName) })
    await checkConnectionSettings(database, 'outbreaks_operator')
    await work(database)
  } finally {
    await database.close()
  }
}

/** With any login: the nodes' is enough. */
async function readClientNames(): Promise<ReadonlyMap<string, string>> {
  const database = openDatabase({ url: readDatabaseConfig(process.env).databaseUrl, role: null, connections: 1 })
  try {
    return new Map((await listClients(database)).map(({ client_id, name }) => [client_id, name]))
  } finally {
    await database.close()
  }
}

async function openFiles(access: FileAccess): Promise<FileStore | undefined> {
  const location = readFilesLocation(process.env, access)
  return location === null ? undefined : openFileStore(location)
}

const program = new Command('outbreakctl')
  .description('Manage the Outbreak Data Service: releases, clients, keys and the database schema')
  .version(version)
  .showHelpAfterError()
  .configureOutput({ writeErr: (text) => process.stderr.write(escapeInLines(text)) })
  .hook('preAction', (_program, command) => {
    const path = [command.name()]
    for (let { parent } = command; parent !== null && parent !== program; { parent } = parent)
      path.unshift(parent.name())
    commandName = path.join(' ')
  })

program
  .command('migrate')
  .description('update the database schema to this version, and rebuild the column index if needed')
  .action(async () => {
    const { databaseUrl } = readDatabaseConfig(process.env)
    const database = openDatabase({ url: databaseUrl, role: null, connections: 2 })
    const migrateAndPrint = async () => {
      const { renewIndexes } = await import('./publish/rebuild-index.ts')
      const applied = await migrate(databaseUrl)
      // Of an earlier version, to go back to it: the newer one may have written the index with other columns.
      await checkSchema(database, { mayBeExpanded: true })
      print({ applied, rebuilt: await renewIndexes(database, catalogue) })
    }
    try {
      if (await hasAuditLog(database)) return await audit(database, migrateAndPrint)
      // The first migration creates the log, so its rows come afterwards.
      await migrateAndPrint()
      await audit(database, async () => {})
    } finally {
      await database.close()
    }
  })
const deriveFor = (purpose: string) => () => {
  const { secret, fallbackSecrets } = readOperatorConfig(process.env)
  return deriveKeys([secret, ...fallbackSecrets], purpose)
}
registerCredentialCommands(program, {
  datasets: catalogue,
  runAndPrint,
  sealingKeys: deriveFor('signing keys'),
  linkKeys: deriveFor('link keys'),
})
registerEndpointCommands(program, { runAndPrint })
registerOperateCommands(program, {
  print,
  printNote,
  readNames: () => (hasDatabase(process.env) ? readClientNames() : null),
  readOptions: () => {
    const { filesLocation, indexDirectory, secret, fallbackSecrets, ...config } = readServiceConfig(process.env)
    return {
      ...config,
      indexDirectory,
      directories: [filesLocation, indexDirectory].filter((location) => location?.startsWith('/') === true) as string[],
      openFiles: async () => (filesLocation === null ? undefined : openFileStore(filesLocation)),
      sealingKeys: deriveKeys([secret, ...fallbackSecrets], 'signing keys'),
      datasets: catalogue,
    }
  },
})
program
  .command('config')
  .description('show every setting with its value and where it comes from; passwords and keys are hidden')
  .action(() => {
    const variables = explainConfig(process.env)
    print(variables)
    if (variables.some(({ problem }) => problem !== '')) process.exitCode = 1
  })
const runAndWrite = (work: (database: Database, write: (value: object) => void) => Promise<void>) =>
  runOnDatabase((database) => work(database, (value) => console.log(escapeInLines(JSON.stringify(value)))))
registerAuditCommands(program, { runAndPrint, runAndWrite })
registerNotifyCommands(program, {
  datasets: catalogue,
  runAndPrint,
  runAndWrite,
  baseUrl: () => readBaseUrl(process.env),
})
registerReleaseCommands(program, {
  datasets: catalogue,
  runAndPrint,
  print,
  printNote,
  progress: progress.update,
  openFiles,
  indexDirectory: () => readIndexDirectory(process.env),
})

try {
  await program.parseAsync()
} catch (error) {
  progress.clear()
  // A line that text from outside begins is indented, so that it does not look like one of this program.
  const message = escapeInLines(describeError(error) ?? inspect(error)).replace(/\n(?! {2})/g, '\n  ')
  console.error(`${styleText('red', 'outbreakctl:', { stream: process.stderr })} ${message}`)
  // A connection that failed to open may stay open until the server closes it, so the process does not wait for it.
  process.exit(1)
}

/** For the audit log, even of a bug. */
function describeFailure(error: unknown): string {
  return describeError(error) ?? String(error)
}

/** The original error below the sentence, if the sentence does not have it. */
function withCause({ message, cause }: Error): string {
  return cause instanceof Error && !message.includes(cause.message)
    ? `${message}\n  ${cause.message.split('\n', 1)[0]}`
    : message
}

/** The message for an error of the operator, the configuration or the database. Undefined for other errors, which are bugs. */
function describeError(error: unknown): string | undefined {
  const cause = error instanceof Problem ? error.cause : undefined
  const explained = explainDatabaseError(cause ?? error)
  if (explained !== undefined) return explained.message
  if (error instanceof Problem) return cause instanceof Error ? `${error.message} (${cause.message})` : error.message
  if (error instanceof OperatorError || error instanceof ConfigError) return withCause(error)
  return describeSystemError(error)
}
