// Measures the delay of a busy machine: round trips to a minimal HTTP server in a separate process.
// Tests with time limits add a multiple of the slowest round trip, so that they pass on a busy machine. They still fail
// if the service hangs, because the minimal server does not hang with it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

export interface MachineDelay {
  /** The limit plus the time that the machine may have added since the start or the last reset. */
  addTo(ms: number): number
  reset(): void
  stop(): Promise<void>
}

const SERVER = `const server = require('node:http').createServer((_request, response) => response.end('ok'))
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())`
const INTERVAL_MS = 25
const RESPONSE_TIMEOUT_MS = 30_000
/** A request waits for a processor several times, each time as long as one round trip. */
const WAITS_PER_REQUEST = 6

export async function measureMachineDelay(): Promise<MachineDelay> {
  const child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  const agent = new Agent({ keepAlive: true })
  const stopped = new AbortController()
  let maxDelay = 0
  let sentAt = performance.now()

  const sendRequest = () =>
    new Promise<void>((resolve, reject) => {
      const request = get({ port, host: '127.0.0.1', agent, timeout: RESPONSE_TIMEOUT_MS }, (response) =>
        response.resume().on('end', resolve),
      )
      request.on('error', reject).on('timeout', () => request.destroy(new Error('the minimal server does not respond')))
    })
  const currentDelay = () => Math.max(maxDelay, performance.now() - sentAt)
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      await sendRequest()
      maxDelay = currentDelay()
      // The time by which the pause is too long counts too.
      sentAt = performance.now() + INTERVAL_MS
      await wait(INTERVAL_MS)
      maxDelay = currentDelay()
      sentAt = performance.now()
    }
  })()

  return {
    addTo: (ms) => ms + WAITS_PER_REQUEST * currentDelay(),
    reset() {
      maxDelay = 0
    },
    async stop() {
      stopped.abort()
      await loop
      agent.destroy()
      child.disconnect()
    },
  }
}
