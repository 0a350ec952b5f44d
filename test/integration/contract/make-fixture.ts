// Creates a fixture: a database with releases and files as this version of the program writes them, and its responses.
// Run once for a version: `POSTGRES_BIN=/usr/lib/postgresql/15/bin node test/integration/contract/make-fixture.ts NAME`.
// A committed fixture is never created again, because later programs must read what this one wrote.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createCluster } from '../../../dev/postgres.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { migrate } from '../../../src/platform/postgres/migrate.ts'
import { exportRelease } from '../../../src/publish/export/export-files.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { openDirectoryStore } from '../../../src/storage/files/directory-store.ts'
import { writeChanges, writeNdjson } from '../../fixtures/releases.ts'
import { type FixtureResponses, KEPT_RELEASES, readResponses } from './responses.ts'
import { changedRows, firstRows, secondRows, withdrawnKeys } from './rows.ts'

const [name] = process.argv.slice(2)
if (name === undefined || !/^[\w.-]+$/.test(name)) throw new Error('give the name of the fixture')
const directory = path.resolve(import.meta.dirname, name)
mkdirSync(path.join(directory, 'files'), { recursive: true })

const cluster = await createCluster()
try {
  await migrate(cluster.url)
  const operator = openDatabase({ url: cluster.url, role: 'outbreaks_operator' })
  const publish = (input: string) => publishRelease(operator, hedOutbreaks, input, { confirmedWithdrawn: 1 })
  await publish(await writeNdjson(firstRows))
  await publish(await writeNdjson(secondRows))
  await publish(await writeChanges(2, changedRows, withdrawnKeys))
  await rollbackTo(operator, hedOutbreaks, 2, 'A source withdrew its report.', { confirmedWithdrawn: 1 })
  await pruneReleases(operator, hedOutbreaks, KEPT_RELEASES[0])
  const store = openDirectoryStore(path.join(directory, 'files'))
  for (const release of KEPT_RELEASES) await exportRelease(operator, store, hedOutbreaks, release)
  await operator.close()
  const responses: FixtureResponses = await readResponses(cluster.url, hedOutbreaks)
  writeFileSync(path.join(directory, 'answers.json'), `${JSON.stringify(responses, null, 2)}\n`)
  const pgDump = path.join(process.env['POSTGRES_BIN'] ?? '', 'pg_dump')
  const dump = execFileSync(pgDump, ['--inserts', '--no-owner', cluster.url], { encoding: 'utf8' })
  const sql = dump.split('\n').filter((line) => !/^(\\|--|$)/.test(line))
  writeFileSync(path.join(directory, 'database.sql'), `${sql.join('\n')}\n`)
} finally {
  await cluster.stop()
}
