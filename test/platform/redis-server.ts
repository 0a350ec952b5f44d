// A real Redis or Valkey as a throw-away process, for tests that say `skip: withoutRedis`.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import os from 'node:os'
import { after } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'

const START_MS = 5000
const binary = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0)

/** For the options of a test. */
export const withoutRedis = binary === undefined ? 'neither redis-server nor valkey-server is installed' : false

export interface RedisServer {
  url: string
  start(): Promise<void>
  signal(name: NodeJS.Signals): void
  /** As in a power cut. It keeps nothing on disk. */
  kill(): Promise<void>
}

export async function startRedis(...settings: string[]): Promise<RedisServer> {
  const port = await findFreePort()
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    child = spawn(binary ?? '', [...fixed, ...settings], { stdio: 'ignore', cwd: os.tmpdir() })
    const deadline = Date.now() + START_MS
    while (!(await listens(port))) {
      if (Date.now() > deadline) throw new Error('Redis did not start')
      await wait(20)
    }
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  await start()
  after(kill)
  return { url: `redis://127.0.0.1:${port}`, start, kill, signal: (name) => void child?.kill(name) }
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(false))
  })
