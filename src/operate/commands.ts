// The commands `outbreakctl doctor` and `outbreakctl usage`.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import type { CommandOutput } from '../platform/cli/terminal.ts'
import type { DoctorOptions } from './doctor.ts'
import { addUpUsage } from './usage.ts'

interface OperateCommands {
  print: (result: CommandOutput | readonly CommandOutput[]) => void
  /** Reads the configuration of the node. */
  readOptions: () => DoctorOptions
}

export function registerOperateCommands(program: Command, { print, readOptions }: OperateCommands): void {
  program
    .command('doctor')
    .description('check a node and everything that it uses; run it with the environment of the node')
    .action(async () => {
      const { diagnose } = await import('./doctor.ts')
      const findings = await diagnose(readOptions())
      print(findings.map(({ status, check, message, remedy = '' }) => ({ status, check, message, remedy })))
      if (findings.some(({ status }) => status === 'error')) process.exitCode = 1
    })
  program
    .command('usage')
    .description('add up the requests of each client and day from the log of the nodes')
    .argument('[files...]', 'log files; default: standard input')
    .action(async (files: string[]) => {
      const log = files.length === 0 ? process.stdin : Readable.from(readFiles(files), { objectMode: false })
      print(await addUpUsage(log))
    })
}

async function* readFiles(files: readonly string[]) {
  for (const file of files) {
    yield* createReadStream(file)
    // The last line of a file may lack its end.
    yield '\n'
  }
}
