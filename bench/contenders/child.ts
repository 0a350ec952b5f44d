// Starts a server as its own process, so that no contender shares the thread of the client.
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'

const START_TIMEOUT_MS = 30_000

export interface Contender {
  address: string
  pid: number
  stop(): Promise<void>
}

interface Command {
  program: string
  /** Default: a free port. */
  port?: number | undefined
  args: (port: number) => string[] | Promise<string[]>
  environment?: (port: number) => Record<string, string>
  cwd?: string
}

export async function startChild({ program, args, environment, cwd, ...given }: Command): Promise<Contender> {
  const port = given.port ?? (await findFreePort())
  const child = spawn(program, await args(port), {
    env: { ...process.env, ...environment?.(port) },
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exited = new Promise<void>((resolve) => {
    child
      .on('exit', () => resolve())
      .on('error', (error) => {
        stderr += error.message
        resolve()
      })
  })
  const end = () => child.kill('SIGTERM')
  process.once('exit', end)
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!(await acceptsConnections(port))) {
    if (child.exitCode !== null || child.pid === undefined || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`${program} did not start: ${stderr.slice(-500)}`)
    }
    await wait(50)
  }
  return {
    address: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      process.removeListener('exit', end)
      end()
      await exited
    },
  }
}

const acceptsConnections = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 })
    const finish = (connected: boolean) => {
      socket.destroy()
      resolve(connected)
    }
    socket
      .on('connect', () => finish(true))
      .on('error', () => finish(false))
      .on('timeout', () => finish(false))
  })
