// Decisions on releases: they are numbered and immutable, and a cursor stays on its release.
import { check, dataCheck, type Section } from '../../check.ts'
import {
  expectEqual,
  expectHeader,
  expectProblem,
  expectSameRecords,
  expectStatus,
  expectThat,
  Failure,
  readEnvelope,
  readObject,
  readRecords,
  type ServiceResponse,
  Skipped,
} from '../../expect.ts'
import { readReleases } from '../../release-list.ts'
import { DATA_PATHS, readOnce, type Service, V1, V2 } from '../../service.ts'
import { v2Query } from '../../walk.ts'

const releaseOf = (response: ServiceResponse) => response.headers.get('outbreaks-release')

const readRelease = readOnce(async (service: Service) => {
  const release = Number(releaseOf(await service.get(`${V2}?num=1`)))
  if (!Number.isSafeInteger(release) || release < 1) throw new Failure('expected Outbreaks-Release, got none')
  return release
})

/** The newest release and an earlier one that is not pruned. */
async function readEarlier(service: Service): Promise<{ newest: number; earlier: number }> {
  const { releases } = await readReleases(service)
  const [newest, earlier] = releases.filter((release) => release.pruned_at === null).map(({ number }) => Number(number))
  if (newest === undefined || earlier === undefined) throw new Skipped('there is only one release to read')
  return { newest, earlier }
}

async function readPinnedCursor(service: Service): Promise<{ path: string; release: number }> {
  const response = await service.get(`${V2}?num=2`)
  const cursor = readEnvelope(response).next_page
  expectThat(typeof cursor === 'string', 'a cursor after the first two records', cursor)
  return { path: v2Query(2, cursor), release: Number(releaseOf(response)) }
}

const malformed: [words: string, raw: string][] = [
  ['0', '0'],
  ['-1', '-1'],
  ['that is empty', ''],
  ['of letters', 'newest'],
  ['with a decimal point', '1.0'],
  ['with a leading zero', '01'],
]

export const releases: Section = {
  name: 'releases',
  checks: [
    ...DATA_PATHS.map((path) =>
      check(`each data response has Outbreaks-Release: ${path}`, async (service) =>
        expectHeader(await service.get(path), 'outbreaks-release', /^[1-9]\d*$/, 'with a positive integer'),
      ),
    ),
    ...DATA_PATHS.map((path) =>
      check(`release= selects the release: ${path}`, async (service) => {
        const release = await readRelease(service)
        const response = await service.get(`${path}?release=${release}`)
        expectStatus(response, 200)
        expectEqual('Outbreaks-Release', releaseOf(response), String(release))
      }),
    ),
    ...DATA_PATHS.map((path) =>
      check(`a release that does not exist is 400 with parameter release: ${path}`, async (service) => {
        const response = await service.get(`${path}?release=${(await readRelease(service)) + 1_000_000}`)
        expectProblem(response, 400, { parameter: 'release' })
      }),
    ),
    ...malformed.map(([words, raw]) =>
      check(`release ${words} is 400 with parameter release`, async (service) =>
        expectProblem(await service.get(`${V2}?num=1&release=${raw}`), 400, {
          code: 'invalid_parameter',
          parameter: 'release',
        }),
      ),
    ),
    check('v1 and v2 return the same records of a release', async (service) => {
      const pin = `num=3&release=${await readRelease(service)}`
      const v2 = readEnvelope(await service.get(`${V2}?${pin}`)).data
      expectSameRecords(readRecords(await service.get(`${V1}?${pin}`)), v2)
    }),
    check('a repeated request for a release returns the same bytes', async (service) => {
      const path = `${V1}?num=3&release=${await readRelease(service)}`
      const [first, second] = [await service.get(path), await service.get(path)]
      expectStatus(first, 200)
      expectThat(first.text === second.text, 'equal bodies', 'different ones')
    }),
    dataCheck('a walk stays on the release it started on', ({ pages, release }) => {
      const other = pages.find((page) => page.release === null || page.release !== release)
      expectThat(other === undefined, `release ${release} on each page`, other?.release)
    }),
    check('a cursor reads its own release', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      const response = await service.get(path)
      expectStatus(response, 200)
      expectEqual('Outbreaks-Release', releaseOf(response), String(release))
    }),
    check('a cursor together with its own release= is accepted', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      expectStatus(await service.get(`${path}&release=${release}`), 200)
    }),
    check('a cursor together with release=latest stays on its release', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      const response = await service.get(`${path}&release=latest`)
      expectStatus(response, 200)
      expectEqual('Outbreaks-Release', releaseOf(response), String(release))
    }),
    check('a cursor of an earlier release together with the date of a later release is accepted', async (service) => {
      const { earlier } = await readEarlier(service)
      const { releases: listed } = await readReleases(service)
      const day = String(listed[0]?.as_of)
      const first = readEnvelope(await service.get(`${V2}?num=2&release=${earlier}`))
      expectThat(typeof first.next_page === 'string', 'a cursor after the first two records', first.next_page)
      const response = await service.get(`${v2Query(2, first.next_page)}&release=${day}`)
      expectStatus(response, 200)
      expectEqual('Outbreaks-Release', releaseOf(response), String(earlier))
    }),
    check('a cursor together with a date before its release is 400', async (service) => {
      const { path } = await readPinnedCursor(service)
      expectProblem(await service.get(`${path}&release=1970-01-01`), 400, { parameter: 'release' })
    }),
    check('if the request has a date, Link of the next page has the number of the release', async (service) => {
      const { newest } = await readReleases(service)
      const day = String(newest.as_of)
      const response = await service.get(`${V2}?num=2&release=${day}`)
      expectStatus(response, 200)
      const target = /<([^>]+)>;\s*rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
      expectThat(target !== undefined, 'Link with rel="next"', response.headers.get('link'))
      const { searchParams } = new URL(target)
      expectEqual('release', searchParams.get('release'), releaseOf(response))
      expectEqual('page', searchParams.get('page'), readEnvelope(response).next_page)
    }),
    ...DATA_PATHS.map((path) =>
      check(`release=latest reads the newest release: ${path}`, async (service) => {
        const response = await service.get(`${path}?release=latest`)
        expectStatus(response, 200)
        const { newest } = await readReleases(service)
        expectThat(
          Number(releaseOf(response)) >= Number(newest.number),
          `release ${String(newest.number)} or a later one`,
          releaseOf(response),
        )
      }),
    ),
    ...DATA_PATHS.map((path) =>
      check(`a response of an earlier release has Outbreaks-Newest-Release: ${path}`, async (service) => {
        const { newest, earlier } = await readEarlier(service)
        const response = await service.get(`${path}?release=${earlier}`)
        expectStatus(response, 200)
        const header = Number(response.headers.get('outbreaks-newest-release'))
        expectThat(header >= newest, `Outbreaks-Newest-Release ${newest} or later`, header)
      }),
    ),
    check('a cursor together with another release= is 400', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      const response = await service.get(`${path}&release=${release === 1 ? 2 : release - 1}`)
      expectProblem(response, 400)
      const { parameter } = readObject(response)
      expectThat(parameter === 'release' || parameter === 'page', 'parameter release or page', parameter)
    }),
    dataCheck('an earlier release stays readable and has no later changes', async (walk, service) => {
      const earliest = Math.min(...walk.records.map((record) => Number(record.first_release)))
      if (earliest >= Number(walk.release)) throw new Skipped('no record of the walk is from an earlier release')
      const response = await service.get(`${V1}?num=50&release=${earliest}`)
      const later = readRecords(response).find((record) => !(Number(record.last_release) <= earliest))
      expectEqual('Outbreaks-Release', releaseOf(response), String(earliest))
      expectThat(later === undefined, `last_release up to ${earliest}`, later?.last_release)
    }),
  ],
}
