// Runs a program that reads the service through the breaking proxy, while two nodes of the service are killed and started again
// and tokens are revoked:
//   node clients/torture/run.ts [--seconds 60] [--records 3000] [--faults 40] -- COMMAND …
// The program gets OUTBREAKS_URL, OUTBREAKS_CLIENT_ID, OUTBREAKS_CLIENT_SECRET, TORTURE_SECONDS and OUTBREAKS_TRUTH, a
// directory with the files of all releases. It must exit with 0 if everything it read was right or an error of its client.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findFreePort } from '../../dev/postgres.ts'
import { outbreakctl, type Service, type Settings, startService } from '../../dev/service.ts'
import { publishSynthetic } from '../service.ts'

const RELEASES = 3
const REVOKE_EVERY_MS = 15_000
const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    records: { type: 'string', default: '3000' },
    faults: { type: 'string', default: '40' },
  },
  allowPositionals: true,
})
const [command, ...commandArguments] = positionals
if (command === undefined) throw new Error('a command is missing')

const cleanups: (() => unknown)[] = []

async function startProxy(target: string): Promise<string> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'proxy.ts'), target], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TORTURE_FAULTS: values.faults },
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  child.stdout.pipe(process.stderr)
  cleanups.push(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  return line.toString().trim()
}

/** Kills the service after it has run for some seconds, and starts it again, until the signal. Returns how often. */
async function killAndStart(start: () => Promise<Service>, signal: AbortSignal): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    const service = await start()
    const isEnd = await wait(2000 + Math.random() * 6000, false, { signal }).catch(() => true)
    service.process.kill('SIGKILL')
    await service.exited
    if (isEnd) return kills
  }
}

/** Disables the client and enables it again, which revokes its tokens, until the signal. Returns how often. */
async function revoke(settings: Settings, clientId: string, signal: AbortSignal): Promise<number> {
  for (let times = 0; ; times += 1) {
    const isEnd = await wait(REVOKE_EVERY_MS, false, { signal }).catch(() => true)
    if (isEnd) return times
    await outbreakctl(settings, 'client', 'disable', clientId)
    await outbreakctl(settings, 'client', 'enable', clientId)
  }
}

async function run(): Promise<void> {
  const { settings, credentials, files, remove } = await publishSynthetic({
    records: Number(values.records),
    releases: RELEASES,
  })
  cleanups.push(remove)
  const ports = [await findFreePort(), await findFreePort()]
  const baseUrl = await startProxy(ports.map((port) => `http://127.0.0.1:${port}`).join(','))
  const end = new AbortController()
  const start = (port: number) => startService(settings, { OUTBREAKS_PORT: String(port), OUTBREAKS_BASE_URL: baseUrl })
  const kills = Promise.all(ports.map((port) => killAndStart(() => start(port), end.signal)))
  const revocations = revoke(settings, credentials.client_id, end.signal)
  const child = spawn(command ?? '', commandArguments, {
    stdio: 'inherit',
    env: {
      ...process.env,
      OUTBREAKS_URL: baseUrl,
      OUTBREAKS_CLIENT_ID: credentials.client_id,
      OUTBREAKS_CLIENT_SECRET: credentials.client_secret,
      OUTBREAKS_TRUTH: files,
      TORTURE_SECONDS: values.seconds,
    },
  })
  cleanups.push(() => child.kill())
  const exited = once(child, 'exit') as Promise<[number | null]>
  // The service runs until the end: if it cannot be started, that is an error.
  const code = await Promise.race([exited.then(([status]) => status), kills.then(() => 1), revocations.then(() => 1)])
  end.abort()
  console.error(
    `two nodes of the service were killed ${(await kills).join(' and ')} times, the tokens revoked ${await revocations} times`,
  )
  process.exitCode = code ?? 1
}

try {
  await run()
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
