// The commands `outbreakctl audit …`, which read and verify the actions of operators.
import { type Command, InvalidArgumentError } from 'commander'
import type { CommandOutput } from '../platform/cli/terminal.ts'
import type { Database } from '../platform/postgres/database.ts'
import { listActions, readAudit, verifyAudit } from './audit-log.ts'

interface AuditCommands {
  /** Runs the work on the operator's database and prints its result. */
  runAndPrint: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
  /** Runs the work, which prints lines itself. */
  runAndWrite: (work: (database: Database, writeLine: (value: object) => void) => Promise<void>) => Promise<void>
}

const MAX_LIMIT = 100_000

export function registerAuditCommands(program: Command, { runAndPrint, runAndWrite }: AuditCommands): void {
  const audit = program.command('audit').description('list and verify what operators did')
  audit
    .command('list')
    .description('list operator actions, latest first')
    .option('--since <time>', 'only actions since this UTC date or time: 2026-01-31 or 2026-01-31T12:00:00Z', parseTime)
    .option('--limit <number>', 'maximum number of actions', parseLimit, 50)
    .action((options: { since?: Date; limit: number }) =>
      runAndPrint((database) => listActions(database, options.since ?? null, options.limit)),
    )
  audit
    .command('verify')
    .description('verify the audit log and print its head; keep the head outside the database')
    .option(
      '--head <digest>',
      'a head you kept earlier: fails if its row, or any row before it, is missing',
      parseDigest,
    )
    .action((options: { head?: string }) =>
      runAndPrint(async (database) => {
        const result = await verifyAudit(readAudit(database), options.head)
        if (!result.valid) process.exitCode = 1
        return result
      }),
    )
  audit
    .command('export')
    .description('print the whole log, one JSON object per line')
    .action(() =>
      runAndWrite(async (database, writeLine) => {
        for await (const row of readAudit(database)) writeLine(row)
      }),
    )
}

function parseTime(text: string): Date {
  const time = new Date(text)
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text) || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('It must be a date or time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z.')
  return time
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!/^[1-9]\d{0,5}$/.test(text) || limit > MAX_LIMIT)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LIMIT}.`)
  return limit
}

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new InvalidArgumentError('It must be 64 hexadecimal digits.')
  return text.toLowerCase()
}
