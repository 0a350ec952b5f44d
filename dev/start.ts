// npm run dev: a whole service on this machine, with real PostgreSQL and the sample release, from nothing but Node.
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createCluster } from './postgres.ts'
import { newSettings, prepareDatabase, startService } from './service.ts'

const sample = path.resolve(import.meta.dirname, '../sample')
const given = process.env['DATABASE_URL']
const cluster = given === undefined || given === '' ? await createCluster() : null
const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
// For outbreakctl and the service alike: releases are also written as files.
process.env['OUTBREAKS_FILES'] = files
const settings = newSettings(given || (cluster?.url ?? ''))
const credentials = await prepareDatabase(settings, sample)
const service = await startService(settings, { OUTBREAKS_PORT: process.env['OUTBREAKS_PORT'] ?? '8080' })

console.log(`
The service runs at ${service.baseUrl} with the sample release. Paste this into another terminal:

  TOKEN=$(curl -s ${service.baseUrl}/oauth/token -H 'Content-Type: application/json' -d '{
    "client_id": "${credentials.client_id}",
    "client_secret": "${credentials.client_secret}",
    "audience": "${service.baseUrl}",
    "grant_type": "client_credentials"
  }' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

  curl -s "${service.baseUrl}/v2/hed-outbreaks/event-names" -H "Authorization: Bearer $TOKEN"
  curl -s "${service.baseUrl}/v2/hed-outbreaks/outbreaks?num=2" -H "Authorization: Bearer $TOKEN"
  curl -s "${service.baseUrl}/v1/hed-outbreaks/outbreaks?offset=10&num=2" -H "Authorization: Bearer $TOKEN"
  curl -O "${service.baseUrl}/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.csv" -H "Authorization: Bearer $TOKEN"

The reference is at ${service.baseUrl}/reference. To run outbreakctl against it:

  export DATABASE_URL=${settings.databaseUrl} OUTBREAKS_SECRET=${settings.secret} OUTBREAKS_FILES=${files}
  npx outbreakctl client list

Ctrl-C ends it${cluster === null ? '' : ' and removes its database'}.`)

service.process.stdout?.pipe(process.stdout)
service.process.stderr?.pipe(process.stderr)
async function leave(): Promise<void> {
  await service.stop()
  await cluster?.stop()
  await rm(files, { recursive: true, force: true })
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void leave())
// Whoever read the output has gone: nobody is there any more to stop it.
process.stdout.once('error', () => void leave())
