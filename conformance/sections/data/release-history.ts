// Decisions on history: the list of releases, a release by date, one record and its versions.
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
import { CHANGES, DATA_PATHS, NO_TOKEN, RELEASES, type Service, V1, V2 } from '../../service.ts'
import { readCompleteWalk, readWalk } from '../../walk.ts'

const KEYS = [
  ...['number', 'title', 'licence', 'note', 'published_at', 'as_of', 'restores', 'pruned_at'],
  ...['records', 'added', 'corrected', 'withdrawn', 'rejected', 'reasons', 'preferred', 'warnings', 'digest', 'files'],
]
const COUNTS = ['records', 'added', 'corrected', 'withdrawn', 'rejected']
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const UNUSED_ID = Number.MAX_SAFE_INTEGER

const dayOf = (release: Row | undefined) => String(release?.as_of)
const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)

const readFirstRelease = async (service: Service) => {
  const { releases, complete } = await readReleases(service)
  const first = releases.at(-1)
  if (!complete || first === undefined) throw new Skipped('the list of releases was not read to the end')
  return first
}

async function readSampleRecord(service: Service): Promise<{ record: Row; path: string; release: string }> {
  const walk = await readWalk(service)
  const record = walk.records[Math.floor(walk.records.length / 2)] ?? {}
  return { record, path: `${V2}/${String(record.id)}`, release: walk.release }
}

const linesOf = (page: string) => page.slice(page.indexOf('[') + 1, page.lastIndexOf('],"has_more"')).split(',\n')

/** SHA-256 of the concatenated SHA-256 digests of every hundred ids, each over its records as lines. */
function digestRecords(records: readonly string[]): string {
  const hundreds = Map.groupBy(records, (record) => Math.floor((Number(/^\{"id":(\d+)/.exec(record)?.[1]) - 1) / 100))
  const total = createHash('sha256')
  for (const lines of hundreds.values())
    total.update(
      createHash('sha256')
        .update(lines.map((line) => `${line}\n`).join(''))
        .digest(),
    )
  return total.digest('hex')
}

const malformedNumbers = ['0', '01', '-1', '1.0', '%201', 'newest', '2147483648']
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

export const releaseHistory: Section = {
  name: 'release-history',
  checks: [
    ...[RELEASES, `${RELEASES}/1`, `${V2}/1`, `${V2}/1/history`, `${CHANGES}?from=1`].map((path) =>
      check(`401 without a token: ${path}`, async (service) => expectStatus(await service.get(path, NO_TOKEN), 401)),
    ),
    check('the list of releases is an object with exactly data, has_more and next_page', async (service) => {
      const body = readObject(await service.get(RELEASES))
      expectEqual('keys', Object.keys(body).sort(), ['data', 'has_more', 'next_page'])
    }),
    check('Outbreaks-Release of the list is the newest release', async (service) => {
      const response = await service.get(RELEASES)
      const [newest] = readEnvelope(response).data
      expectEqual('Outbreaks-Release', response.headers.get('outbreaks-release'), String(newest?.number))
    }),
    check('the digest of a release is the digest of its records', async (service) => {
      const { pages, release } = await readCompleteWalk(service)
      const declared = readObject(await service.get(`${RELEASES}/${release}`)).digest
      expectEqual('digest', digestRecords(pages.flatMap(({ text }) => linesOf(text))), declared)
    }),
    check('the releases are listed newest first', async (service) => {
      const numbers = (await readReleases(service)).releases.map((release) => Number(release.number))
      expectEqual(
        'numbers',
        numbers,
        numbers.toSorted((a, b) => b - a),
      )
    }),
    dataCheck('v2 reads the newest release by default', async (walk, service) =>
      expectEqual('newest', String((await readReleases(service)).newest.number), walk.release),
    ),
    check('each release has exactly the declared keys', async (service) => {
      for (const release of (await readReleases(service)).releases) expectEqual('keys', Object.keys(release), KEYS)
    }),
    check('published_at is UTC to the millisecond', async (service) => {
      const other = (await readReleases(service)).releases.find(
        (release) => !TIMESTAMP.test(String(release.published_at)),
      )
      expectThat(other === undefined, 'timestamps such as 2023-01-31T12:00:00.000Z', other?.published_at)
    }),
    check('as_of is a day, and not after the day of publication', async (service) => {
      const other = (await readReleases(service)).releases.find(
        (release) => !DAY.test(dayOf(release)) || dayOf(release) > String(release.published_at).slice(0, 10),
      )
      expectThat(other === undefined, 'days such as 2023-01-31, up to published_at', other)
    }),
    check('the counts of a release are non-negative integers', async (service) => {
      const counts = (await readReleases(service)).releases.flatMap((release) => COUNTS.map((name) => release[name]))
      const other = counts.find((count) => !(Number.isSafeInteger(count) && Number(count) >= 0))
      expectThat(other === undefined, 'non-negative integers', other)
    }),
    check('a release has as many records as its metadata says', async (service) => {
      const { number, records } = (await readReleases(service)).newest
      const end = await service.get(`${V1}?offset=${Number(records) - 1}&num=2&release=${String(number)}`)
      expectEqual('records from the last on', readRecords(end).length, 1)
    }),
    check('pages with num=1 give the same list of releases', async (service) => {
      const { releases } = await readReleases(service)
      let page = ''
      for (const release of releases.slice(0, 5)) {
        const { data, next_page: next } = readEnvelope(await service.get(`${RELEASES}?num=1${page}`))
        expectEqual('page', data, [release])
        page = `&page=${encodeURIComponent(String(next))}`
      }
    }),
    check('the metadata of a release is the same as in the list', async (service) => {
      for (const release of (await readReleases(service)).releases.slice(0, 3)) {
        const response = await service.get(`${RELEASES}/${String(release.number)}`)
        expectStatus(response, 200)
        expectEqual('release', readObject(response), release)
        expectEqual('Outbreaks-Release', response.headers.get('outbreaks-release'), String(release.number))
      }
    }),
    check('latest is the newest release, and must be revalidated', async (service) => {
      const { newest } = await readReleases(service)
      const response = await service.get(`${RELEASES}/latest`)
      expectStatus(response, 200)
      expectEqual('release', readObject(response), newest)
      expectHeader(response, 'cache-control', /\bno-cache\b/, 'with no-cache')
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
      check(`a date selects the newest release as of that day or earlier: ${path}`, async (service) => {
        const { releases } = await readReleases(service)
        for (const day of new Set([releases[0], releases.at(-1)].map(dayOf))) {
          const expected = releases.find((release) => dayOf(release) <= day)
          const response = await service.get(`${path}?release=${day}`)
          expectStatus(response, 200)
          expectEqual('Outbreaks-Release', response.headers.get('outbreaks-release'), String(expected?.number))
        }
      }),
    ),
    check('a date before the first release is 400, and detail says the day of the first', async (service) => {
      const first = await readFirstRelease(service)
      const response = await service.get(`${V2}?release=${dayBefore(dayOf(first))}`)
      expectProblem(response, 400, { code: 'invalid_parameter', parameter: 'release' })
      const { detail } = readObject(response)
      expectThat(String(detail).includes(dayOf(first)), `${dayOf(first)} in detail`, detail)
    }),
    ...malformedDays.map((day) =>
      check(`release=${day} is 400 with parameter release`, async (service) =>
        expectProblem(await service.get(`${V2}?release=${day}`), 400, {
          code: 'invalid_parameter',
          parameter: 'release',
        }),
      ),
    ),
    check('a single record is the same as in the walk', async (service) => {
      const { record, path, release } = await readSampleRecord(service)
      const response = await service.get(`${path}?release=${release}`)
      expectStatus(response, 200)
      expectSameRecords([readObject(response)], [record])
      expectHeader(response, 'outbreaks-release', new RegExp(`^${release}$`), release)
    }),
    check('404 for a record that was never published, and for its history', async (service) => {
      for (const path of [`${V2}/${UNUSED_ID}`, `${V2}/${UNUSED_ID}/history`])
        expectProblem(await service.get(path), 404, { code: 'not_found' })
    }),
    check('404 for a record in a release before it was added', async (service) => {
      const later = (await readWalk(service)).records.find((record) => Number(record.first_release) > 1)
      if (later === undefined) throw new Skipped('every record of the walk is from the first release')
      const path = `${V2}/${String(later.id)}?release=${Number(later.first_release) - 1}`
      expectProblem(await service.get(path), 404, { code: 'not_found' })
    }),
    ...malformedIds.map((id) =>
      check(`404 for ${id} as the id of a record`, async (service) =>
        expectProblem(await service.get(`${V2}/${id}`), 404, { code: 'not_found' }),
      ),
    ),
    check('the history of a record ends with the version of the newest release', async (service) => {
      const { record, path } = await readSampleRecord(service)
      const last = readEnvelope(await service.get(`${path}/history?num=1000`)).data.at(-1)
      expectEqual('keys', Object.keys(last ?? {}), ['from_release', 'to_release', 'record'])
      expectEqual('from_release and to_release', [last?.from_release, last?.to_release], [record.last_release, null])
      expectSameRecords([last?.record as Row], [record])
    }),
    check('the versions of a record do not overlap and are listed oldest first', async (service) => {
      const { record, path } = await readSampleRecord(service)
      const versions = readEnvelope(await service.get(`${path}/history?num=1000`)).data
      expectEqual('first from_release', versions[0]?.from_release, record.first_release)
      const at = versions.findIndex(
        (version, i) => i > 0 && !(Number(versions[i - 1]?.to_release) <= Number(version.from_release)),
      )
      expectThat(at === -1, 'each version to start after the end of the previous one', at)
    }),
  ],
}
