// Runs pgbench with prepared statements, and psql: the bare PostgreSQL with which the service is compared.
import { execFile, spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { findBinaries } from './cluster.ts'

const run = promisify(execFile)

interface PgbenchRun {
  url: string
  /** The directory for the script. */
  scratch: string
  script: string
  clients: number
  seconds: number
}

/** Transactions per second. */
export async function runPgbench({ url, scratch, script, clients, seconds }: PgbenchRun): Promise<number> {
  const file = path.join(scratch, 'pgbench.sql')
  await writeFile(file, script)
  const options = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-T', String(seconds), '-f', file]
  const { stdout } = await run(path.join(findBinaries(), 'pgbench'), [...options, url])
  const tps = /^tps = ([\d.]+)/m.exec(stdout)?.[1]
  if (tps === undefined || !/failed transactions: 0 /.test(stdout)) throw new Error(`pgbench failed:\n${stdout}`)
  return Number(tps)
}

/** Gives the plain output of psql. With `discard` the output is dropped, for COPY to nowhere. */
export function runPsql(url: string, command: string, { discard = false, input = '' } = {}): Promise<string> {
  const options = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url, '-c', command]
  return new Promise((resolve, reject) => {
    const child = spawn(path.join(findBinaries(), 'psql'), options, {
      stdio: ['pipe', discard ? 'ignore' : 'pipe', 'pipe'],
    })
    let output = ''
    let stderr = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    if (input === '') child.stdin?.end()
    else createReadStream(input).pipe(child.stdin as NonNullable<typeof child.stdin>)
    child.on('error', reject)
    child.on('exit', (code) =>
      code === 0 ? resolve(output.trim()) : reject(new Error(`psql failed: ${stderr.trim()}`)),
    )
  })
}

/** The setting is stored in the cluster, because a setting of the command line cannot be changed while it runs. */
export async function setAutovacuum(url: string, value: 'on' | 'off'): Promise<void> {
  await runPsql(url, `alter system set autovacuum = ${value}`)
  await runPsql(url, 'select pg_reload_conf()')
}
