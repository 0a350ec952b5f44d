// The client against a spawned service with three synthetic releases: every method, compared with the files of the releases.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  startService,
} from '../../../../dev/service.ts'
import { writeSynthRelease } from '../../../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../../../../test/database.ts'
import { InvalidParameter, NotAllowed, NotComparable, type OutbreakRecord, Outbreaks } from '../../src/client.ts'
import { saveFile, updateCopy } from '../../src/node.ts'

const RECORDS = 3000
const RELEASES = [1, 2, 3]

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-client-'))
after(() => rm(directory, { recursive: true, force: true }))
const files = path.join(directory, 'files')
await mkdir(files)
process.env['OUTBREAKS_FILES'] = files
const settings = newSettings(await createTestDatabase())

let service: Service
let credentials: Credentials
let client: Outbreaks
before(async () => {
  credentials = await prepareDatabase(settings)
  for (const release of RELEASES) {
    const input = path.join(directory, `synthetic-${release}`)
    await writeSynthRelease({ records: RECORDS, seed: 1, release }, input)
    await outbreakctl(settings, 'release', 'publish', input, '--confirm-withdrawn', '3')
  }
  service = await startService(settings)
  client = open(credentials)
})
after(() => service.stop())

const open = ({ client_id, client_secret }: Credentials) =>
  new Outbreaks({ baseUrl: service.baseUrl, clientId: client_id, clientSecret: client_secret })

const readFileOf = async (release: number): Promise<OutbreakRecord[]> => {
  const download = await client.download('ndjson', { release })
  const bytes = Buffer.concat(await Array.fromAsync(download.text()))
  const lines = bytes.toString().split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as OutbreakRecord)
}

test('a walk, the lines of a query and the file of each release have the same records', async () => {
  for (const release of RELEASES) {
    const expected = await readFileOf(release)
    const walk = client.records({ release, num: 700 })
    assert.deepEqual(await walk.toArray(), expected)
    assert.equal(walk.release, release)
    const lines = await Array.fromAsync(client.recordLines({ release }))
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      expected,
    )
    const { records, digest } = await client.verify(release)
    assert.equal(records, expected.length)
    assert.equal(digest, (await client.release(release)).digest)
  }
})

test('filters select the same records as a program', async () => {
  const all = await readFileOf(3)
  const counted = all.filter(({ cases }) => cases !== null && cases >= 5)
  const codes = [...new Set(counted.map(({ country_code }) => country_code))].slice(0, 2)
  const expected = counted.filter(({ country_code }) => codes.includes(country_code))
  assert.ok(expected.length > 0)
  const parameters = { country_code: codes, cases_min: 5, release: 3 }
  assert.deepEqual(await client.records(parameters).toArray(), expected)
  assert.equal((await Array.fromAsync(client.recordLines(parameters))).length, expected.length)
})

test('a walk goes on with its cursor after a crash, also after a new release', async () => {
  const walk = client.records({ num: 500 })
  const ids: number[] = []
  for await (const { id } of walk) {
    ids.push(id)
    if (ids.length === 1234) break
  }
  const another = open(credentials)
  for await (const { id } of another.records({ num: 500 }, { cursor: walk.cursor })) ids.push(id)
  assert.deepEqual(
    [...new Set(ids)],
    (await readFileOf(3)).map(({ id }) => id),
  )
})

test('a copy is brought up to date step by step and at once', async () => {
  const [first, second] = [path.join(directory, 'first.ndjson'), path.join(directory, 'second.ndjson')]
  const published = path.join(directory, 'published.ndjson')
  for (const copy of [first, second]) await saveFile(client, 'ndjson', copy, { release: 1 })
  await saveFile(client, 'ndjson', published, { release: 3 })
  const { added, corrected, withdrawn } = await client.release(2)
  assert.deepEqual(await updateCopy(client, first, { from: 1, to: 2 }), { added, corrected, withdrawn })
  await updateCopy(client, first, { from: 2 })
  await updateCopy(client, second, { from: 1, to: 'latest' })
  const expected = await readFile(published)
  assert.deepEqual(await readFile(first), expected)
  assert.deepEqual(await readFile(second), expected)
  await assert.rejects(updateCopy(client, second, { from: 1, to: 2 }), { name: 'Damaged' })
  assert.deepEqual(await readFile(second), expected)
})

test('every file of a release is saved and verified', async () => {
  const { files: listed } = await client.release(2)
  for (const { name, bytes, sha256 } of listed) {
    const target = path.join(directory, name)
    assert.equal(await saveFile(client, name.slice(name.indexOf('.') + 1), target, { release: 2 }), sha256)
    assert.equal((await readFile(target)).length, bytes)
  }
})

test('releases, changes and history agree', async () => {
  const releases = await client.releases().toArray()
  assert.deepEqual(
    releases.map(({ number }) => number),
    [3, 2, 1],
  )
  assert.equal((await client.release()).number, 3)
  const changes = await client.changes({ from: 2, to: 3 }).toArray()
  const { added, corrected, withdrawn } = releases[0] ?? assert.fail()
  assert.equal(changes.length, added + corrected + withdrawn)
  const change = changes.find((one) => one.change === 'corrected') ?? assert.fail('nothing was corrected')
  const versions = await client.history(change.id).toArray()
  assert.deepEqual(versions.at(-1)?.record, change.after)
  assert.equal(versions.at(-1)?.from_release, 3)
})

test('asOf reads an earlier release', async () => {
  const earlier = client.asOf(1)
  const walk = earlier.records({ num: 1000 })
  assert.equal((await walk.toArray()).length, (await earlier.release()).records)
  assert.equal(walk.release, 1)
  const today = client.asOf(new Date().toISOString().slice(0, 10)).records({ num: 1 })
  for await (const _ of today) break
  assert.equal(today.release, 3)
})

test('events, search, facets, coverage, series, sums, vintages and citations', async () => {
  const events = await client.events({ release: 3 }).toArray()
  const { event, records } = events.toSorted((a, b) => b.records - a.records)[0] ?? assert.fail()
  assert.equal((await client.records({ event, release: 3 }).toArray()).length, records)
  const found = await client.search(event.replaceAll('_', ' '), { release: 3 })
  assert.ok(found.data.some(({ value }) => value === event))
  const facets = await client.facets({ event, release: 3 })
  assert.equal(
    facets.country_code.values.reduce((sum, value) => sum + value.records, 0),
    records,
  )

  const coverage = await client.coverage({ event, by: 'country_code', interval: 'month', release: 3 })
  const periods = coverage.data.flatMap((group) => group.periods)
  assert.equal(periods.reduce((sum, period) => sum + period.records, 0) + coverage.undated, records)

  const question = { event, interval: 'month', release: 3 } as const
  const error: unknown = await client.series({ ...question, strict: true }).catch((caught: unknown) => caught)
  assert.ok(error instanceof NotComparable)
  const [choice] = error.choices
  assert.ok(choice)
  const followed = await client.follow(choice)
  const filters = Object.fromEntries(new URLSearchParams(choice.query ?? ''))
  const sums = await client.sums({ event, release: 3, ...filters })
  assert.equal(followed.records, sums.records)
  assert.equal(followed.notice, `Counted as ${choice.words}.`)
  await assert.rejects(client.follow({ ...choice, url: null }), InvalidParameter)
  const vintages = await client.vintages({ event, interval: 'year', ...filters })
  assert.deepEqual([...new Set(vintages.data.map(({ release }) => release))], RELEASES)
  assert.match(await client.cite({ event, release: 2 }), /release 2/)
  assert.match(await client.cite({ event, release: 2, format: 'bibtex' }), /^@misc\{/)
})

test('a link opens its question without a token, and no other', async () => {
  const question = { event: 'Measles_United_States_2025', interval: 'month', release: 3 } as const
  const series = await client.series(question)
  const link = await client.link('series', { ...question, columns: 'period,new_cases' }, { days: 1 })
  const answer = await fetch(link)
  assert.deepEqual((await answer.text()).trim().split('\r\n'), [
    'period,new_cases',
    ...(series.points ?? []).map(({ period, new: added }) => `${period},${added.cases ?? ''}`),
  ])
  assert.equal((await fetch(`${link}&counts=deaths`)).status, 401)
  assert.match(await client.asOf(2).link('records', { country_code: ['FR', 'DE'] }), /country_code=FR.*release=2/)
})

test('a filter value that no record has gives a warning', async () => {
  const walk = client.records({ disease: 'Colera' })
  assert.deepEqual(await walk.toArray(), [])
  assert.match(walk.warnings.join(), /disease=Colera/)
})

test('a mistyped parameter, a record and a release that do not exist, and a disabled client are errors', async () => {
  const mistyped = { evnt: 'x' } as object
  await assert.rejects(client.records(mistyped).toArray(), { name: 'InvalidParameter', parameter: 'evnt' })
  await assert.rejects(client.history(999_999).toArray(), { name: 'NotFound' })
  await assert.rejects(client.release(99), { name: 'NotFound' })
  await assert.rejects(client.download('xlsx'), { name: 'NotFound', code: 'no_such_file' })
  const wrong = open({ ...credentials, client_secret: 'wrong' })
  await assert.rejects(wrong.release(), (error) => error instanceof NotAllowed && error.code === 'invalid_client')
})

test('a pruned release is gone', async () => {
  await outbreakctl(settings, 'release', 'prune', '--before', '2', '--confirm-pruned', '1')
  await assert.rejects(
    async () => {
      const deadline = Date.now() + 10_000
      while (Date.now() < deadline) await client.records({ release: 1, num: 1000 }).toArray()
    },
    { name: 'Gone', code: 'release_pruned' },
  )
})
