// The entry point of the suite. With URLs it tests a running deployment. Without them it starts the service as a
// process on a new database with two releases and tests that. The last line is `conformance: N passed, M failed`.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createCluster, findFreePort } from '../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, type Settings, startService } from '../dev/service.ts'
import type { Target } from './service.ts'
import { runSuite } from './suite.ts'

const sample = path.resolve(import.meta.dirname, '../sample/releases/1')

async function testDeployment(target: Target): Promise<void> {
  const { passed, failed } = await runSuite(target, console.log)
  console.log(`conformance: ${passed} passed, ${failed} failed`)
  if (failed > 0 || passed === 0) process.exitCode = 1
}

/** The issuer and the API have different URLs, as in some deployments. */
async function testNewService(): Promise<void> {
  const cluster = await createCluster()
  try {
    const settings = newSettings(cluster.url)
    const credentials = await prepareDatabase(settings, sample)
    await publishWithoutLastRecords(settings)
    const port = String(await findFreePort())
    const authUrl = `http://localhost:${port}`
    const service = await startService(settings, { OUTBREAKS_PORT: port, OUTBREAKS_AUTH_URL: authUrl })
    await testDeployment({
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

if (baseUrl === undefined) await testNewService()
else if (authUrl !== undefined && clientId !== undefined && clientSecret !== undefined) {
  await testDeployment({ baseUrl, authUrl, clientId, clientSecret })
} else {
  console.error(
    'To test a deployment, give --base-url, --client-id and --client-secret, and --auth-url if the issuer has another URL.',
  )
  process.exitCode = 2
}
