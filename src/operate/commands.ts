// The commands `outbreakctl doctor` and `outbreakctl usage`.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import type { CommandOutput } from '../platform/cli/terminal.ts'
import type { DoctorOptions } from './doctor.ts'
import { type Finding, findingsOf } from './finding.ts'
import { addUpUsage } from './usage.ts'

interface OperateCommands {
  print: (result: CommandOutput | readonly CommandOutput[]) => void
  /** Writes a line to standard error. */
  printNote: (text: string) => void
  /** Reads the configuration of the node. */
  readOptions: () => DoctorOptions
  /** The names of all clients by id; null if no database is configured. */
  readNames: () => Promise<ReadonlyMap<string, string>> | null
}

export function registerOperateCommands(
  program: Command,
  { print, printNote, readOptions, readNames }: OperateCommands,
): void {
  program
    .command('doctor')
    .description("check a node and everything it depends on; needs the node's environment")
    .action(async () => {
      const findings = await diagnoseNode(readOptions)
      print(findings.map(({ status, check, message, remedy = '' }) => ({ status, check, message, remedy })))
      printNote(summarise(findings))
      if (findings.some(({ status }) => status === 'error')) process.exitCode = 1
    })
  program
    .command('usage')
    .description('count requests by client and day, from node logs; with DATABASE_URL, name the clients too')
    .argument('[files...]', 'log files; default: standard input')
    .action(async (files: string[]) => {
      const log = files.length === 0 ? process.stdin : Readable.from(readFiles(files), { objectMode: false })
      const usage = await addUpUsage(log)
      if (usage.length === 0)
        printNote('No line is about a request of a client. Nodes write them with OUTBREAKS_LOG_LEVEL=info.')
      const names = await readNames()?.catch((error: Error) => {
        printNote(`The clients' names could not be read: ${error.message}`)
        return null
      })
      print(names ? usage.map(({ day, ...rest }) => ({ day, name: names.get(rest.client_id) ?? '', ...rest })) : usage)
    })
}

/** A configuration that cannot be read is a finding too. */
async function diagnoseNode(readOptions: () => DoctorOptions): Promise<Finding[]> {
  let options: DoctorOptions
  try {
    options = readOptions()
  } catch (error) {
    const message = (error as Error).message.replaceAll(/\s*\n\s*/g, ' ')
    return [
      findingsOf('configuration').error(
        message,
        "correct it where the node's variables are set, with systemd in /etc/outbreaks/node.env",
      ),
    ]
  }
  const { diagnose } = await import('./doctor.ts')
  return diagnose(options)
}

function summarise(findings: readonly Finding[]): string {
  const errors = findings.filter(({ status }) => status === 'error')
  const warnings = findings.filter(({ status }) => status === 'warning')
  const found = (all: readonly Finding[], what: string) => `${all.length} ${what}${all.length === 1 ? '' : 's'}`
  if (errors.length === 0) return `No errors, ${found(warnings, 'warning')}.`
  return `${found(errors, 'error')}, ${found(warnings, 'warning')}. Do this first: ${errors[0]?.remedy?.replace(/\.$/, '')}.`
}

async function* readFiles(files: readonly string[]) {
  for (const file of files) {
    yield* createReadStream(file)
    // The last line of a file may lack its end.
    yield '\n'
  }
}
