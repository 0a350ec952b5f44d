// The files of a real and of a synthetic release are downloaded, verified and read by other programs, and equal the records
// of the API. An export that is killed, or has no disk space left, leaves no incomplete file.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { columnType } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { type ReadRecord, readCsvFile, readNdjsonFile, readParquetFile } from '../../fixtures/read-files.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../../..')
const CLI = path.join(root, 'src/cli.ts')
const RECORDS = 5000
const KILLS = Math.min(6, Number(process.env['KILL_ROUNDS'] ?? 6))

interface ListedFile {
  name: string
  records: number
  bytes: number
  sha256: string
  href: string
}
type ExportedFiles = { name: string; written: boolean }[]

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-journey-'))
after(() => rm(directory, { recursive: true, force: true }))
const files = path.join(directory, 'files')
await mkdir(files)
const settings = newSettings(await createTestDatabase())
const environment = { ...process.env, DATABASE_URL: settings.databaseUrl, OUTBREAKS_FILES: files }

let service: Service
let token: string
before(async () => {
  process.env['OUTBREAKS_FILES'] = files
  const synthetic = path.join(directory, 'synthetic')
  await writeSynthRelease({ records: RECORDS, seed: 1, release: 1 }, synthetic)
  const credentials = await prepareDatabase(settings, path.join(root, 'sample/releases/1'))
  const published = await outbreakctl<{ release: number; files: ExportedFiles }>(
    settings,
    ...['release', 'publish', synthetic, '--confirm-withdrawn', '187'],
  )
  assert.equal(published.release, 2)
  assert.deepEqual(
    published.files.map(({ name, written }) => [name, written]),
    ['csv.gz', 'ndjson.gz', 'parquet'].map((extension) => [`hed-outbreaks-2.${extension}`, true]),
  )
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
})
after(() => service.stop())

const get = (address: string) =>
  fetch(address, { headers: { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(20_000) })

async function readApi(release: number): Promise<ReadRecord[]> {
  const records: ReadRecord[] = []
  let page = ''
  for (;;) {
    const response = await get(`${service.baseUrl}/v2/hed-outbreaks/outbreaks?release=${release}&num=1000${page}`)
    const body = (await response.json()) as { data: ReadRecord[]; next_page: string | null }
    records.push(...body.data)
    if (body.next_page === null) return records
    page = `&page=${body.next_page}`
  }
}

async function download(release: number): Promise<Map<string, Buffer>> {
  const manifest = await get(`${service.baseUrl}/v2/hed-outbreaks/releases/${release}`)
  const listed = ((await manifest.json()) as { files: ListedFile[] }).files
  const downloads = new Map<string, Buffer>()
  for (const { name, bytes, sha256, href } of listed) {
    const response = await get(href)
    const body = Buffer.from(await response.arrayBuffer())
    assert.deepEqual([response.status, body.length, hash('sha256', body)], [200, bytes, sha256])
    downloads.set(name.slice(name.indexOf('.') + 1), body)
  }
  assert.deepEqual([...downloads.keys()], ['csv.gz', 'ndjson.gz', 'parquet'])
  return downloads
}

for (const release of [1, 2]) {
  test(`release ${release}: the files have the records of the API, with the same types and nulls`, async (t) => {
    const records = await readApi(release)
    assert.equal(records.length, release === 1 ? 187 : RECORDS)
    const downloads = await download(release)
    const read = (extension: string) => downloads.get(extension) ?? assert.fail(`no ${extension}`)
    assert.deepEqual(readNdjsonFile(gunzipSync(read('ndjson.gz'))), records)
    assert.deepEqual(readCsvFile(hedOutbreaks, gunzipSync(read('csv.gz'))), records)
    assert.deepEqual(await readParquetFile(hedOutbreaks, read('parquet')), records)
    for (const [extension, bytes] of downloads)
      t.diagnostic(`${extension}: ${records.length} records, ${bytes.length} bytes`)
  })

  test(`release ${release}: DuckDB reads the same records`, async (t) => {
    const python = process.env['DUCKDB_PYTHON']
    if (python === undefined) return t.skip('DUCKDB_PYTHON is not set to an interpreter with duckdb')
    const records = await readApi(release)
    for (const [extension, bytes] of await download(release)) {
      const file = path.join(directory, `read.${extension}`)
      await writeFile(file, bytes)
      const read = await readWithDuckdb(python, file)
      assert.deepEqual(read.types, duckdbTypes)
      assert.deepEqual(read.records, records)
      t.diagnostic(
        `${extension}: ${read.records.length} records of ${Object.keys(read.types).length} columns are equal`,
      )
    }
  })
}

const duckdbTypes = Object.fromEntries(
  hedOutbreaks.fields.map((field) => {
    const types: Record<string, string> = { 'double precision': 'DOUBLE', text: 'VARCHAR', jsonb: 'VARCHAR' }
    const type = columnType(field)
    return [field.name, types[type] ?? type.toUpperCase()]
  }),
)

async function readWithDuckdb(python: string, file: string) {
  const script = path.join(root, 'test/fixtures/oracle/read_files.py')
  const { stdout } = await run(python, [script, file, JSON.stringify(duckdbTypes)], {
    maxBuffer: 1 << 28,
    timeout: 60_000,
  })
  const [types = {}, ...records] = readNdjsonFile(Buffer.from(stdout))
  return {
    types,
    records: records.map((record) => ({ ...record, extra: JSON.parse(String(record['extra'])) as unknown })),
  }
}

test('401 without a token', async () => {
  const response = await fetch(`${service.baseUrl}/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.csv.gz`)
  assert.equal(response.status, 401)
  await response.body?.cancel()
})

/** The digests of the files with a final name. */
async function readStore(store: string): Promise<Map<string, string>> {
  const names = (await readdir(store)).filter((name) => !name.startsWith('.')).sort()
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, hash('sha256', await readFile(path.join(store, name)))] as const),
    ),
  )
}

/** Kills an export `afterMs` after a file with this prefix appears in the directory. */
async function killExport(store: string, prefix: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [CLI, 'release', 'export', '--release', '2'], {
    env: { ...environment, OUTBREAKS_FILES: store },
    stdio: 'ignore',
  })
  const exited = new Promise((resolve) => child.on('exit', resolve))
  while (child.exitCode === null && !(await readdir(store)).some((name) => name.startsWith(prefix))) await wait(1)
  await wait(afterMs)
  child.kill('SIGKILL')
  await exited
  // PostgreSQL releases the lock of the killed process after a moment.
  await wait(300)
}

test(`an export killed with SIGKILL leaves no incomplete file, and the next export finishes (${KILLS} rounds)`, async (t) => {
  const expected = [...(await readStore(files))].filter(([name]) => name.includes('-2.'))
  let complete = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const store = path.join(directory, `killed-${kill}`)
    await mkdir(store)
    // Kills it while it writes, and while it renames the files.
    await (kill % 2 === 0 ? killExport(store, '.', kill * 30) : killExport(store, 'hed', 0))
    const remaining = await readStore(store)
    for (const [name, digest] of remaining) assert.equal(digest, new Map(expected).get(name))
    complete += remaining.size
    await run(process.execPath, [CLI, 'release', 'export', '--release', '2'], {
      env: { ...environment, OUTBREAKS_FILES: store },
    })
    assert.deepEqual([...(await readStore(store))], expected)
    assert.equal((await readdir(store)).length, 3)
  }
  t.diagnostic(`${complete} of ${KILLS * 3} files existed after ${KILLS} kills, all complete`)
})

test('on a full disk the release is published without files, and the error says how to export them', async (t) => {
  const store = path.join(directory, 'full')
  await mkdir(store)
  const next = path.join(directory, 'next')
  await writeSynthRelease({ records: RECORDS, seed: 1, release: 2 }, next)
  const script = `mount -t tmpfs -o size=128k tmpfs "$OUTBREAKS_FILES" || { echo no mount; exit; }
    "$0" "$@" >/dev/null; echo "code $?"; ls -A "$OUTBREAKS_FILES"`
  const command = [process.execPath, CLI, 'release', 'publish', next]
  const { stdout, stderr } = await run('unshare', ['--map-root-user', '--mount', 'bash', '-c', script, ...command], {
    env: { ...environment, OUTBREAKS_FILES: store },
  }).catch((error: { stdout: string; stderr: string }) => error)
  if (!stdout.startsWith('code')) return t.skip(`this system does not allow mounting a small disk: ${stdout}${stderr}`)
  assert.equal(stdout, 'code 1\n')
  assert.match(
    stderr,
    /^outbreakctl: Release 3 is published, but its files could not be written \(hed-outbreaks-3\.[\w.]+ could not be written: ENOSPC.*. Run outbreakctl release export --release 3/,
  )
  const exported = await outbreakctl<ExportedFiles>(settings, 'release', 'export', '--release', '3')
  assert.ok(exported.every(({ written }) => written))
  await wait(1500)
  await download(3)
})

test('an export without a directory, or of a release that does not exist, is an error', async () => {
  const exportError = async (env: NodeJS.ProcessEnv, args: string[]) => {
    const failure = await run(process.execPath, [CLI, 'release', 'export', ...args], { env }).catch(
      (error: { stderr: string }) => error,
    )
    return failure.stderr.trim()
  }
  const withoutFiles = { ...environment, OUTBREAKS_FILES: '' }
  assert.equal(
    await exportError(withoutFiles, []),
    'outbreakctl: OUTBREAKS_FILES is not set. Set it to the directory or bucket for release files.',
  )
  assert.equal(
    await exportError(environment, ['--release', '99']),
    'outbreakctl: Release 99 does not exist. Run outbreakctl release list to see all of them.',
  )
  assert.match(
    await exportError({ ...environment, OUTBREAKS_FILES: 'here' }, []),
    /OUTBREAKS_FILES must be the absolute path/,
  )
})
