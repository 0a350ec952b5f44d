#!/usr/bin/env -S node --max-semi-space-size=8
// outbreakctl, the operator's door. Answers on stdout, says what is wrong on stderr; never prints a stack for a user's fault.
import { styleText } from 'node:util'
import { Command, InvalidArgumentError } from 'commander'
import { ConfigFault, readDatabaseConfig, readFilesDirectory, readOperatorConfig } from './config.ts'
import { catalogue } from './datasets/catalogue.ts'
import { registerCredentialCommands } from './oauth/commands.ts'
import { type Database, openDatabase } from './platform/database.ts'
import { describeDatabaseFailure } from './platform/database-failure.ts'
import { deriveKey } from './platform/derive-key.ts'
import { migrate } from './platform/migrate.ts'
import { OperatorFault } from './platform/operator-fault.ts'
import { Problem } from './platform/problem.ts'
import { createProgress } from './platform/progress.ts'
import { checkSchema } from './platform/schema-version.ts'
import { type Answer, formatAnswer } from './platform/terminal.ts'
import { type FileStore, openFileStore } from './records/file-store.ts'
import { registerReleaseCommands } from './releases/commands.ts'
import { writeSynthRelease } from './synth/synthesise.ts'

const progress = createProgress(process.stderr)

function print(result: Answer | readonly Answer[]): void {
  progress.clear()
  console.log(formatAnswer(result, process.stdout))
}

async function answer(work: (database: Database) => Promise<Answer | readonly Answer[]>): Promise<void> {
  const database = openDatabase({
    url: readDatabaseConfig(process.env).databaseUrl,
    role: 'outbreaks_operator',
    // One that writes, and one that reads what is published meanwhile.
    connections: 2,
  })
  try {
    await checkSchema(database)
    print(await work(database))
  } finally {
    await database.close()
  }
}

function openFiles(): FileStore | undefined {
  const directory = readFilesDirectory(process.env)
  return directory === null ? undefined : openFileStore(directory)
}

const program = new Command('outbreakctl')
  .description('Runs the Outbreak Data Service: schema, credentials, releases.')
  .showHelpAfterError()

program
  .command('migrate')
  .description('bring the database to the current schema')
  .action(async () => print({ applied: await migrate(readDatabaseConfig(process.env).databaseUrl) }))
registerCredentialCommands(program, {
  scopes: catalogue.map((dataset) => dataset.scope),
  answer,
  sealingKey: () => deriveKey(readOperatorConfig(process.env).secret, 'signing keys'),
})
registerReleaseCommands(program, { datasets: catalogue, answer, print, progress: progress.update, openFiles })
program
  .command('synth')
  .description('write a synthetic release, for tests and benchmarks')
  .requiredOption('--records <number>', 'how many records', parseCount)
  .requiredOption('--out <directory>', 'where to')
  .option('--seed <number>', 'the same seed gives the same bytes', parseCount, 1)
  .option('--release <number>', 'the state after so many releases, each changing about 1 %', parseCount, 1)
  .action(async ({ out, ...plan }: { records: number; seed: number; release: number; out: string }) =>
    print({ directory: out, ...(await writeSynthRelease(plan, out)) }),
  )

try {
  await program.parseAsync()
} catch (error) {
  progress.clear()
  console.error(`${styleText('red', 'outbreakctl:', { stream: process.stderr })} ${explain(error)}`)
  // A connection that failed while it was opened may stay open until the server gives up; nobody waits for that.
  process.exit(1)
}

/** A fault of the operator, of the configuration or of the database in a sentence; anything else is ours and is thrown again. */
function explain(error: unknown): string {
  const cause = error instanceof Problem ? error.cause : undefined
  const sentence = describeDatabaseFailure(cause ?? error)
  if (sentence !== undefined) return sentence
  if (error instanceof Problem) return cause instanceof Error ? `${error.message} (${cause.message})` : error.message
  if (error instanceof OperatorFault || error instanceof ConfigFault) return error.message
  throw error
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 999999999')
  return Number(text)
}
