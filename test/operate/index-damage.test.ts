// A byte is flipped in many places of index files and of parts, before a node starts and while it runs. No answer is wrong, none is a
// permanent error, and the node heals by itself, or after `release reindex` where a part is damaged. INDEX_DAMAGES=100 and
// INDEX_RECORDS=100000 for the measurement of docs/benchmarks.md.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findFreePort } from '../../dev/postgres.ts'
import { type Credentials, newSettings, type Service, type Settings, startService } from '../../dev/service.ts'
import { writeSynthRelease } from '../../dev/synth/synthesise.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../src/platform/postgres/database.ts'
import { rebuildIndex } from '../../src/publish/rebuild-index.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { prepareInProcess } from '../fixtures/operate/prepared-database.ts'
import { createDirectory } from '../fixtures/operate/program.ts'
import { LIVENESS_MS } from '../liveness.ts'

const DAMAGES = Number(process.env['INDEX_DAMAGES'] ?? 5)
const RECORDS = Number(process.env['INDEX_RECORDS'] ?? 2000)
/** Two fifths in files before a start, two fifths in files of running nodes, one fifth in parts. */
const IN_FILES = Math.ceil(DAMAGES * 0.4)
const IN_PARTS = DAMAGES - 2 * IN_FILES

/** A node waits for a minute at most before it tries again. */
const HEAL_MS = 60_000 + LIVENESS_MS

/** They read every table of the index. */
const QUERIES = [
  'outbreaks?cases_min=1&count=exact&num=3',
  'outbreaks?sort=-cases&num=5',
  'facets?cases_min=2',
  'coverage?by=country_code&interval=year',
  'search?q=a',
  'outbreaks?country_code=CD&count=exact&num=2',
]

describe(`a byte is flipped in ${DAMAGES} places, ${RECORDS} records`, () => {
  const directory = createDirectory()
  const intact = path.join(directory, 'intact')
  const used = path.join(directory, 'used')
  let settings: Settings
  let credentials: Credentials
  let operator: Database
  let superuser: pg.Client
  let port: number
  let token: string
  let queries: string[]
  let expected: string[]
  const running = new Set<Service>()
  const seen = { places: 0, right: 0, unavailable: 0, healed: [] as number[] }

  before(async () => {
    settings = newSettings(await createTestDatabase())
    const release = path.join(directory, 'release')
    await writeSynthRelease({ records: RECORDS, seed: 1, release: 1 }, release)
    credentials = await prepareInProcess(settings, release)
    operator = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator' })
    superuser = new pg.Client(settings.databaseUrl)
    await superuser.connect()
    port = await findFreePort()
    restoreFile('nothing')
    const service = await start()
    token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
    const { data } = JSON.parse((await ask('outbreaks?num=1')).body) as { data: [{ series_id: string }] }
    queries = [
      ...QUERIES,
      `series?interval=month&series_id=${data[0].series_id}`,
      `sums?group_by=country_code&series_id=${data[0].series_id}`,
    ]
    const answers = await Promise.all(queries.map(ask))
    for (const [i, { status, body }] of answers.entries()) assert.equal(status, 200, `${queries[i]}: ${body}`)
    expected = answers.map(({ body }) => body)
    // A node that stops writes everything into the file.
    await stop(service)
    cpSync(used, intact, { recursive: true })
  })
  after(async () => {
    for (const service of running) service.process.kill('SIGKILL')
    await operator.close()
    await superuser.end()
  })

  async function start(): Promise<Service> {
    // Without the cache of responses, so that every request reads the index.
    const service = await startService(settings, {
      OUTBREAKS_INDEX: used,
      OUTBREAKS_PORT: String(port),
      OUTBREAKS_CACHE_MB: '0',
    })
    running.add(service)
    return service
  }
  async function stop(service: Service): Promise<void> {
    await service.stop()
    running.delete(service)
  }

  function restoreFile(what: 'the intact file' | 'nothing'): string {
    rmSync(used, { recursive: true, force: true })
    mkdirSync(used)
    if (what === 'nothing') return ''
    cpSync(intact, used, { recursive: true })
    return path.join(used, readdirSync(used).find((name) => name.endsWith('.duckdb')) ?? assert.fail('no index file'))
  }

  async function flip(file: string, place: number): Promise<void> {
    const handle = await open(file, 'r+')
    try {
      const at = Math.floor(((place + 0.5) / IN_FILES) * (await handle.stat()).size)
      const byte = Buffer.alloc(1)
      await handle.read(byte, 0, 1, at)
      byte[0] = (byte[0] as number) ^ (1 << (place % 8))
      await handle.write(byte, 0, 1, at)
    } finally {
      await handle.close()
    }
  }

  async function ask(query: string) {
    const response = await fetch(`http://127.0.0.1:${port}/v2/hed-outbreaks/${query}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(LIVENESS_MS),
    })
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() }
  }

  /** Asks everything. True if every answer is right; others must be 503. */
  async function askAll(): Promise<boolean> {
    const answers = await Promise.all(queries.map(ask))
    for (const [i, { status, retryAfter, body }] of answers.entries()) {
      if (status === 503) {
        seen.unavailable += 1
        assert.ok(retryAfter !== null, 'a 503 says when to try again')
        continue
      }
      assert.equal(status, 200, `${queries[i]}: ${body}`)
      assert.equal(body, expected[i], `a wrong answer to ${queries[i]}`)
      seen.right += 1
    }
    return answers.every(({ status }) => status === 200)
  }

  /** Asks until every answer is right, twice: the second time no query finds more damage. Then stops the node. */
  async function expectHealed(service: Service, since: number): Promise<void> {
    const deadline = performance.now() + HEAL_MS
    let healedAt = 0
    for (let rightInARow = 0; rightInARow < 2; ) {
      rightInARow = (await askAll()) ? rightInARow + 1 : 0
      if (rightInARow === 0) await wait(100)
      if (rightInARow === 1) healedAt = performance.now()
      assert.ok(performance.now() < deadline, 'the node does not heal')
    }
    await stop(service)
    seen.places += 1
    if (service.output().includes('the index failed')) seen.healed.push((healedAt - since) / 1000)
  }

  function report(where: string): string {
    const { places, right, unavailable, healed } = seen
    const sorted = healed.toSorted((a, b) => a - b)
    const [median = 0, longest = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
    const counts = `${places} places, ${healed.length} met by the node; ${right} right answers, ${unavailable} × 503, 0 others`
    Object.assign(seen, { places: 0, right: 0, unavailable: 0, healed: [] })
    return `${where}: ${counts}; all answers right after ${median.toFixed(1)} s (median), ${longest.toFixed(1)} s (longest)`
  }

  test('in a file before the node starts', { timeout: 1_800_000 }, async (context) => {
    for (let place = 0; place < IN_FILES; place += 1) {
      await flip(restoreFile('the intact file'), place)
      const since = performance.now()
      await expectHealed(await start(), since)
    }
    context.diagnostic(report('files, before the start'))
  })

  test('in a file while the node runs', { timeout: 1_800_000 }, async (context) => {
    for (let place = 0; place < IN_FILES; place += 1) {
      const file = restoreFile('the intact file')
      const service = await start()
      await flip(file, place)
      await expectHealed(service, performance.now())
    }
    context.diagnostic(report('files, while running'))
  })

  test('in a part: a running node answers, one that starts does after release reindex', {
    timeout: 1_800_000,
  }, async (context) => {
    const { rows } = await superuser.query<{ kind: string; number: number; bytes: number }>(
      `select kind, number, length(content) as bytes from index_part order by kind, number`,
    )
    for (let place = 0; place < IN_PARTS; place += 1) {
      const { kind, number, bytes } = rows[place % rows.length] ?? assert.fail('no parts')
      const at = Math.floor(((place + 0.5) / IN_PARTS) * bytes)
      restoreFile('the intact file')
      const unaffected = await start()
      await superuser.query(
        `update index_part set content = set_byte(content, $3, get_byte(content, $3) # 1) where kind = $1 and number = $2`,
        [kind, number, at],
      )
      assert.equal(await askAll(), true, 'a node that has its index does not notice')
      await stop(unaffected)
      restoreFile('nothing')
      const service = await start()
      assert.equal(await askAll(), false)
      const page = await ask('outbreaks?num=1')
      assert.equal(page.status, 200, 'a page without filters is served')
      for (let i = 0; i < 10; i += 1) await askAll()
      const attempts = service.output().split('the index failed').length - 1
      assert.ok(attempts >= 1 && attempts <= 5, `${attempts} attempts for a hundred requests`)
      await rebuildIndex(operator, hedOutbreaks)
      await expectHealed(service, performance.now())
      // The intact file has the fingerprint of the earlier parts.
      rmSync(intact, { recursive: true, force: true })
      cpSync(used, intact, { recursive: true })
    }
    context.diagnostic(report('parts'))
  })
})
