// Machines as network namespaces on a bridge: each has an address, its processes end with it, and its cable can be pulled.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'

const PREFIX = '10.77.0'
const BRIDGE = 'outbreaks0'

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' })
const ignoring = (work: () => unknown) => {
  try {
    work()
  } catch {
    // It was not there.
  }
}

export interface Machine {
  readonly name: string
  readonly address: string
  /** Runs a program on the machine; as user postgres with `asPostgres`. Its output goes to the log file. */
  start(program: string, args: readonly string[], options: { log: string; asPostgres?: boolean }): ChildProcess
  run(program: string, ...args: string[]): string
  /** Ends every process of the machine at once, as a power failure does. */
  kill(signal?: NodeJS.Signals): void
  pullCable(): void
  plugCable(): void
}

/** The address of the machine that runs the test. */
export const HOST = `${PREFIX}.1`

export function openNetwork(): void {
  closeNetwork([])
  ip('link', 'add', BRIDGE, 'type', 'bridge')
  ip('addr', 'add', `${HOST}/24`, 'dev', BRIDGE)
  ip('link', 'set', BRIDGE, 'up')
}

export function closeNetwork(machines: readonly Machine[]): void {
  for (const machine of machines) machine.kill()
  for (const { name } of machines) ignoring(() => ip('netns', 'del', name))
  ignoring(() => ip('link', 'del', BRIDGE))
}

export function createMachine(name: string, number: number): Machine {
  const address = `${PREFIX}.${number}`
  const cable = `ob-${number}`
  ignoring(() => ip('netns', 'del', name))
  ignoring(() => ip('link', 'del', cable))
  ip('netns', 'add', name)
  ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  ip('link', 'set', cable, 'master', BRIDGE, 'up')
  const inside = (...args: string[]) =>
    execFileSync('ip', ['netns', 'exec', name, ...args], { encoding: 'utf8', stdio: 'pipe' })
  inside('ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0')
  inside('ip', 'link', 'set', 'eth0', 'up')
  inside('ip', 'link', 'set', 'lo', 'up')

  function listProcesses(): number[] {
    try {
      return execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .filter(Boolean)
        .map(Number)
    } catch {
      return []
    }
  }

  return {
    name,
    address,
    start(program, args, { log, asPostgres = false }) {
      const command = asPostgres
        ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', program]
        : [program]
      const child = spawn('ip', ['netns', 'exec', name, ...command, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        cwd: '/',
      })
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => appendFileSync(log, text))
      return child
    },
    run: inside,
    kill(signal = 'SIGKILL') {
      for (const pid of listProcesses()) ignoring(() => process.kill(pid, signal))
    },
    pullCable: () => void ip('link', 'set', cable, 'down'),
    plugCable: () => void ip('link', 'set', cable, 'up'),
  }
}
