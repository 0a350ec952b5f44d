// npm run test:cluster: a PostgreSQL cluster that test runs use instead of starting one each, until Ctrl-C removes it.
import { createCluster } from './postgres.ts'

const ended = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ended.resolve())
// The reader of the output has gone, and with it the terminal.
process.stdout.on('error', () => ended.resolve())

const cluster = await createCluster()
try {
  console.log(`export TEST_CLUSTER_URL=${cluster.url}`)
  console.error('Paste this line where you run the tests. Ctrl-C ends the cluster and removes it.')
  // A promise alone keeps no process running.
  const running = setInterval(() => {}, 60_000)
  await ended.promise
  clearInterval(running)
} finally {
  await cluster.stop()
}
