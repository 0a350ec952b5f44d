// The suite's door. With addresses it is pointed at a running deployment; without, it starts a service of its own,
// as a real process on a fresh database with two releases. Ends with `conformance: N passed, M failed`.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createCluster, findFreePort } from '../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, type Settings, startService } from '../dev/service.ts'
import type { Target } from './service.ts'
import { runSuite } from './suite.ts'

const sample = path.resolve(import.meta.dirname, '../sample')

async function examine(target: Target): Promise<void> {
  const { passed, failed } = await runSuite(target, console.log)
  console.log(`conformance: ${passed} passed, ${failed} failed`)
  if (failed > 0 || passed === 0) process.exitCode = 1
}

/** Under two addresses, as a deployment may be: the issuer's differs from the API's. */
async function examineOwnService(): Promise<void> {
  const cluster = await createCluster()
  try {
    const settings = newSettings(cluster.url)
    const credentials = await prepareDatabase(settings, sample)
    await publishWithoutLastRecords(settings)
    const port = String(await findFreePort())
    const authUrl = `http://localhost:${port}`
    const service = await startService(settings, { OUTBREAKS_PORT: port, OUTBREAKS_AUTH_URL: authUrl })
    await examine({
      baseUrl: service.baseUrl,
      authUrl,
      clientId: credentials.client_id,
      clientSecret: credentials.client_secret,
    })
    await service.stop()
  } finally {
    await cluster.stop()
  }
}

async function publishWithoutLastRecords(settings: Settings): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-release-'))
  await cp(sample, directory, { recursive: true })
  const records = path.join(directory, 'outbreaks.csv')
  const lines = (await readFile(records, 'utf8')).trimEnd().split('\n')
  await writeFile(records, `${lines.slice(0, -3).join('\n')}\n`)
  await outbreakctl(settings, 'release', 'publish', directory)
  await rm(directory, { recursive: true })
}

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: { 'base-url': text, 'auth-url': text, 'client-id': text, 'client-secret': text },
})
const { 'base-url': baseUrl, 'auth-url': authUrl = baseUrl, 'client-id': clientId } = values
const clientSecret = values['client-secret'] ?? process.env['OUTBREAKS_CLIENT_SECRET']

if (baseUrl === undefined) await examineOwnService()
else if (authUrl !== undefined && clientId !== undefined && clientSecret !== undefined) {
  await examine({ baseUrl, authUrl, clientId, clientSecret })
} else {
  console.error(
    'A deployment needs --base-url, --client-id and --client-secret, and --auth-url where the issuer has its own address.',
  )
  process.exitCode = 2
}
