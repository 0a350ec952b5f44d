// What the machine itself is late by at the moment: a bare HTTP server in a process of its own, asked all the time.
// A bound in milliseconds is kept on a busy machine too if it grows by a few of the witness's slowest round trips; a
// service that hangs is noticed all the same, because the witness does not hang with it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

export interface MachineDelay {
  /** The bound, and what the machine may have added to it since the witness began or was last asked to forget. */
  allow(ms: number): number
  forget(): void
  stop(): Promise<void>
}

const SERVER = `const server = require('node:http').createServer((_request, response) => response.end('here'))
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())`
const INTERVAL_MS = 25
const ANSWER_MS = 30_000
/** A request and its answer wait for a processor at several places, each as long as a round trip of the witness does. */
const TURNS = 6

export async function startWitness(): Promise<MachineDelay> {
  const child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  const agent = new Agent({ keepAlive: true })
  const stopped = new AbortController()
  let slowest = 0
  let askedAt = performance.now()

  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const request = get({ port, host: '127.0.0.1', agent, timeout: ANSWER_MS }, (response) =>
        response.resume().on('end', resolve),
      )
      request.on('error', reject).on('timeout', () => request.destroy(new Error('the witness does not answer')))
    })
  const late = () => Math.max(slowest, performance.now() - askedAt)
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      await ask()
      slowest = late()
      // The pause counts too, as far as it takes longer than it should.
      askedAt = performance.now() + INTERVAL_MS
      await wait(INTERVAL_MS)
      slowest = late()
      askedAt = performance.now()
    }
  })()

  return {
    allow: (ms) => ms + TURNS * late(),
    forget() {
      slowest = 0
    },
    async stop() {
      stopped.abort()
      await loop
      agent.destroy()
      child.disconnect()
    },
  }
}
