// Decisions on reading again what was read before: the list of releases, a release by its day, one record and its history.
import { createHash } from 'node:crypto'
import { check, dataCheck, type Section } from '../../check.ts'
import {
  expectEqual,
  expectHeader,
  expectProblem,
  expectSameRecords,
  expectStatus,
  expectThat,
  type Row,
  readEnvelope,
  readObject,
  readRecords,
  Skipped,
} from '../../expect.ts'
import { readReleases } from '../../release-list.ts'
import { CHANGES, DATA_PATHS, OPEN, RELEASES, type Service, V1, V2 } from '../../service.ts'
import { readCompleteWalk, readWalk } from '../../walk.ts'

const KEYS = [
  ...['number', 'title', 'licence', 'note', 'published_at', 'restores', 'pruned_at'],
  ...['records', 'added', 'corrected', 'withdrawn', 'rejected', 'reasons', 'warnings', 'digest', 'files'],
]
const COUNTS = ['records', 'added', 'corrected', 'withdrawn', 'rejected']
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const NEVER_GIVEN = Number.MAX_SAFE_INTEGER

const dayOf = (release: Row | undefined) => String(release?.published_at).slice(0, 10)
const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)

const readFirst = async (service: Service) => {
  const { releases, complete } = await readReleases(service)
  const first = releases.at(-1)
  if (!complete || first === undefined) throw new Skipped('the list of releases was not read to its end')
  return first
}

async function readSample(service: Service): Promise<{ record: Row; path: string; release: string }> {
  const walk = await readWalk(service)
  const record = walk.records[Math.floor(walk.records.length / 2)] ?? {}
  return { record, path: `${V2}/${String(record.id)}`, release: walk.release }
}

const linesOf = (page: string) => page.slice(page.indexOf('[') + 1, page.lastIndexOf('],"has_more"')).split(',\n')

/** SHA-256 over the SHA-256 of every hundred ids, of the records as lines. */
function signRecords(records: readonly string[]): string {
  const hundreds = Map.groupBy(records, (record) => Math.floor((Number(/^\{"id":(\d+)/.exec(record)?.[1]) - 1) / 100))
  const whole = createHash('sha256')
  for (const lines of hundreds.values())
    whole.update(
      createHash('sha256')
        .update(lines.map((line) => `${line}\n`).join(''))
        .digest(),
    )
  return whole.digest('hex')
}

const malformedNumbers = ['0', '01', '-1', '1.0', '%201', 'latest', '2147483648']
const malformedIds = ['0', '01', '-1', '1.0', '1e0', '%201', 'abc', '9007199254740992']
const malformedDays = [
  '2023-02-30',
  '2023-13-01',
  '2023-00-01',
  '2023-1-1',
  '2023-01-01T00:00:00Z',
  '20230101-',
  '2147483648',
]

export const readingAgain: Section = {
  name: 'reading-again',
  checks: [
    ...[RELEASES, `${RELEASES}/1`, `${V2}/1`, `${V2}/1/history`, `${CHANGES}?from=1`].map((path) =>
      check(`nobody passes without a token: ${path}`, async (service) =>
        expectStatus(await service.get(path, OPEN), 401),
      ),
    ),
    check('the releases come in an object of exactly data, has_more and next_page', async (service) => {
      const body = readObject(await service.get(RELEASES))
      expectEqual('keys', Object.keys(body).sort(), ['data', 'has_more', 'next_page'])
    }),
    check('the list of releases names the newest in its header', async (service) => {
      const answer = await service.get(RELEASES)
      const [newest] = readEnvelope(answer).data
      expectEqual('Outbreaks-Release', answer.headers.get('outbreaks-release'), String(newest?.number))
    }),
    check('the digest of a release is that of its records, as they were walked', async (service) => {
      const { pages, release } = await readCompleteWalk(service)
      const said = readObject(await service.get(`${RELEASES}/${release}`)).digest
      expectEqual('digest', signRecords(pages.flatMap(({ text }) => linesOf(text))), said)
    }),
    check('the newest release is first', async (service) => {
      const numbers = (await readReleases(service)).releases.map((release) => Number(release.number))
      expectEqual(
        'numbers',
        numbers,
        numbers.toSorted((a, b) => b - a),
      )
    }),
    dataCheck('the newest release is the one that is read where none is named', async (walk, service) =>
      expectEqual('newest', String((await readReleases(service)).newest.number), walk.release),
    ),
    check('each release has exactly the keys that are declared', async (service) => {
      for (const release of (await readReleases(service)).releases) expectEqual('keys', Object.keys(release), KEYS)
    }),
    check('the moment of publication is UTC to the millisecond', async (service) => {
      const other = (await readReleases(service)).releases.find((release) => !MOMENT.test(String(release.published_at)))
      expectThat(other === undefined, 'moments as 2023-01-31T12:00:00.000Z', other?.published_at)
    }),
    check('the counts of a release are whole numbers, never negative', async (service) => {
      const counts = (await readReleases(service)).releases.flatMap((release) => COUNTS.map((name) => release[name]))
      const other = counts.find((count) => !(Number.isSafeInteger(count) && Number(count) >= 0))
      expectThat(other === undefined, 'whole numbers', other)
    }),
    check('a release holds as many records as it says', async (service) => {
      const { number, records } = (await readReleases(service)).newest
      const end = await service.get(`${V1}?offset=${Number(records) - 1}&num=2&release=${String(number)}`)
      expectEqual('records from the last on', readRecords(end).length, 1)
    }),
    check('walking the releases one by one gives the same list', async (service) => {
      const { releases } = await readReleases(service)
      let page = ''
      for (const release of releases.slice(0, 5)) {
        const { data, next_page: next } = readEnvelope(await service.get(`${RELEASES}?num=1${page}`))
        expectEqual('page', data, [release])
        page = `&page=${encodeURIComponent(String(next))}`
      }
    }),
    check('a release by its number is the same as in the list', async (service) => {
      for (const release of (await readReleases(service)).releases.slice(0, 3)) {
        const answer = await service.get(`${RELEASES}/${String(release.number)}`)
        expectStatus(answer, 200)
        expectEqual('release', readObject(answer), release)
        expectEqual('Outbreaks-Release', answer.headers.get('outbreaks-release'), String(release.number))
      }
    }),
    check('404 for a release that does not exist', async (service) => {
      const { number } = (await readReleases(service)).newest
      expectProblem(await service.get(`${RELEASES}/${Number(number) + 1_000_000}`), 404, { code: 'not_found' })
    }),
    ...malformedNumbers.map((number) =>
      check(`404 for ${number} as the number of a release`, async (service) =>
        expectProblem(await service.get(`${RELEASES}/${number}`), 404, { code: 'not_found' }),
      ),
    ),
    ...DATA_PATHS.map((path) =>
      check(`a day names the newest release published by its end: ${path}`, async (service) => {
        const { releases } = await readReleases(service)
        for (const day of new Set([releases[0], releases.at(-1)].map(dayOf))) {
          const expected = releases.find((release) => dayOf(release) <= day)
          const answer = await service.get(`${path}?release=${day}`)
          expectStatus(answer, 200)
          expectEqual('Outbreaks-Release', answer.headers.get('outbreaks-release'), String(expected?.number))
        }
      }),
    ),
    check('a day before the first release is refused, saying when the first was published', async (service) => {
      const first = await readFirst(service)
      const answer = await service.get(`${V2}?release=${dayBefore(dayOf(first))}`)
      expectProblem(answer, 400, { code: 'invalid_parameter', parameter: 'release' })
      const { detail } = readObject(answer)
      expectThat(String(detail).includes(String(first.published_at)), `${String(first.published_at)} in detail`, detail)
    }),
    ...malformedDays.map((day) =>
      check(`${day} names no release and is refused, naming release`, async (service) =>
        expectProblem(await service.get(`${V2}?release=${day}`), 400, {
          code: 'invalid_parameter',
          parameter: 'release',
        }),
      ),
    ),
    check('one record is the same as in the walk', async (service) => {
      const { record, path, release } = await readSample(service)
      const answer = await service.get(`${path}?release=${release}`)
      expectStatus(answer, 200)
      expectSameRecords([readObject(answer)], [record])
      expectHeader(answer, 'outbreaks-release', new RegExp(`^${release}$`), release)
    }),
    check('404 for a record that was never published, and for its history', async (service) => {
      for (const path of [`${V2}/${NEVER_GIVEN}`, `${V2}/${NEVER_GIVEN}/history`])
        expectProblem(await service.get(path), 404, { code: 'not_found' })
    }),
    check('404 for a record in a release from before it came', async (service) => {
      const later = (await readWalk(service)).records.find((record) => Number(record.first_release) > 1)
      if (later === undefined) throw new Skipped('every record walked was there from the first release')
      const path = `${V2}/${String(later.id)}?release=${Number(later.first_release) - 1}`
      expectProblem(await service.get(path), 404, { code: 'not_found' })
    }),
    ...malformedIds.map((id) =>
      check(`404 for ${id} as the id of a record`, async (service) =>
        expectProblem(await service.get(`${V2}/${id}`), 404, { code: 'not_found' }),
      ),
    ),
    check('the history of a record ends with what the newest release holds', async (service) => {
      const { record, path } = await readSample(service)
      const last = readEnvelope(await service.get(`${path}/history?num=1000`)).data.at(-1)
      expectEqual('keys', Object.keys(last ?? {}), ['from_release', 'to_release', 'record'])
      expectEqual('from_release and to_release', [last?.from_release, last?.to_release], [record.last_release, null])
      expectSameRecords([last?.record as Row], [record])
    }),
    check('the versions of a record follow each other, the oldest first', async (service) => {
      const { record, path } = await readSample(service)
      const versions = readEnvelope(await service.get(`${path}/history?num=1000`)).data
      expectEqual('first from_release', versions[0]?.from_release, record.first_release)
      const at = versions.findIndex(
        (version, i) => i > 0 && !(Number(versions[i - 1]?.to_release) <= Number(version.from_release)),
      )
      expectThat(at === -1, 'each version behind the end of the one before', at)
    }),
  ],
}
