// Decisions on what happens while data changes: numbered, immutable releases; a cursor stays on its own.
import { check, dataCheck, type Section } from '../../check.ts'
import {
  type Answer,
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
  Skipped,
} from '../../expect.ts'
import { readReleases } from '../../release-list.ts'
import { DATA_PATHS, readOnce, type Service, V1, V2 } from '../../service.ts'
import { v2Query } from '../../walk.ts'

const releaseOf = (answer: Answer) => answer.headers.get('outbreaks-release')

const readRelease = readOnce(async (service: Service) => {
  const release = Number(releaseOf(await service.get(`${V2}?num=1`)))
  if (!Number.isSafeInteger(release) || release < 1) throw new Failure('expected Outbreaks-Release, seen none')
  return release
})

/** Two releases that can be read: the newest, and an earlier one. */
async function readEarlier(service: Service): Promise<{ newest: number; earlier: number }> {
  const { releases } = await readReleases(service)
  const [newest, earlier] = releases.filter((release) => release.pruned_at === null).map(({ number }) => Number(number))
  if (newest === undefined || earlier === undefined) throw new Skipped('there is only one release to read')
  return { newest, earlier }
}

async function readPinnedCursor(service: Service): Promise<{ path: string; release: number }> {
  const answer = await service.get(`${V2}?num=2`)
  const cursor = readEnvelope(answer).next_page
  expectThat(typeof cursor === 'string', 'a cursor behind the first two records', cursor)
  return { path: v2Query(2, cursor), release: Number(releaseOf(answer)) }
}

const malformed: [words: string, raw: string][] = [
  ['0', '0'],
  ['-1', '-1'],
  ['left empty', ''],
  ['of letters', 'newest'],
  ['with a decimal point', '1.0'],
  ['with a leading zero', '01'],
]

export const releases: Section = {
  name: 'releases',
  checks: [
    ...DATA_PATHS.map((path) =>
      check(`each data answer names its release: ${path}`, async (service) =>
        expectHeader(await service.get(path), 'outbreaks-release', /^[1-9]\d*$/, 'with a positive integer'),
      ),
    ),
    ...DATA_PATHS.map((path) =>
      check(`release= pins the release that answers: ${path}`, async (service) => {
        const release = await readRelease(service)
        const answer = await service.get(`${path}?release=${release}`)
        expectStatus(answer, 200)
        expectEqual('Outbreaks-Release', releaseOf(answer), String(release))
      }),
    ),
    ...DATA_PATHS.map((path) =>
      check(`a release that does not exist is refused, naming release: ${path}`, async (service) => {
        const answer = await service.get(`${path}?release=${(await readRelease(service)) + 1_000_000}`)
        expectProblem(answer, 400, { parameter: 'release' })
      }),
    ),
    ...malformed.map(([words, raw]) =>
      check(`release ${words} is refused, naming release`, async (service) =>
        expectProblem(await service.get(`${V2}?num=1&release=${raw}`), 400, {
          code: 'invalid_parameter',
          parameter: 'release',
        }),
      ),
    ),
    check('the pinned release gives v1 the records v2 gives', async (service) => {
      const pin = `num=3&release=${await readRelease(service)}`
      const v2 = readEnvelope(await service.get(`${V2}?${pin}`)).data
      expectSameRecords(readRecords(await service.get(`${V1}?${pin}`)), v2)
    }),
    check('a pinned release gives the same bytes each time', async (service) => {
      const path = `${V1}?num=3&release=${await readRelease(service)}`
      const [first, second] = [await service.get(path), await service.get(path)]
      expectStatus(first, 200)
      expectThat(first.text === second.text, 'equal bodies', 'different ones')
    }),
    dataCheck('a walk stays on the release it started on', ({ pages, release }) => {
      const other = pages.find((page) => page.release === null || page.release !== release)
      expectThat(other === undefined, `release ${release} on each page`, other?.release)
    }),
    check('a cursor answers from its own release', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      const answer = await service.get(path)
      expectStatus(answer, 200)
      expectEqual('Outbreaks-Release', releaseOf(answer), String(release))
    }),
    check('a cursor beside its own release= is accepted', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      expectStatus(await service.get(`${path}&release=${release}`), 200)
    }),
    check('a cursor beside release=latest is accepted and stays on its release', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      const answer = await service.get(`${path}&release=latest`)
      expectStatus(answer, 200)
      expectEqual('Outbreaks-Release', releaseOf(answer), String(release))
    }),
    check(
      'a cursor of an earlier release beside a day on which a later one was published is accepted',
      async (service) => {
        const { earlier } = await readEarlier(service)
        const { releases: listed } = await readReleases(service)
        const day = String(listed[0]?.published_at).slice(0, 10)
        const first = readEnvelope(await service.get(`${V2}?num=2&release=${earlier}`))
        expectThat(typeof first.next_page === 'string', 'a cursor behind the first two records', first.next_page)
        const answer = await service.get(`${v2Query(2, first.next_page)}&release=${day}`)
        expectStatus(answer, 200)
        expectEqual('Outbreaks-Release', releaseOf(answer), String(earlier))
      },
    ),
    check('a cursor beside a day before its release was published is refused', async (service) => {
      const { path } = await readPinnedCursor(service)
      expectProblem(await service.get(`${path}&release=1970-01-01`), 400, { parameter: 'release' })
    }),
    check('Link names the next page by the number of the release where a day was given', async (service) => {
      const { newest } = await readReleases(service)
      const day = String(newest.published_at).slice(0, 10)
      const answer = await service.get(`${V2}?num=2&release=${day}`)
      expectStatus(answer, 200)
      const target = /<([^>]+)>;\s*rel="?next"?/.exec(answer.headers.get('link') ?? '')?.[1]
      expectThat(target !== undefined, 'Link with rel="next"', answer.headers.get('link'))
      const { searchParams } = new URL(target)
      expectEqual('release', searchParams.get('release'), releaseOf(answer))
      expectEqual('page', searchParams.get('page'), readEnvelope(answer).next_page)
    }),
    ...DATA_PATHS.map((path) =>
      check(`release=latest reads the newest release: ${path}`, async (service) => {
        const answer = await service.get(`${path}?release=latest`)
        expectStatus(answer, 200)
        const { newest } = await readReleases(service)
        expectThat(
          Number(releaseOf(answer)) >= Number(newest.number),
          `release ${String(newest.number)} or a later one`,
          releaseOf(answer),
        )
      }),
    ),
    ...DATA_PATHS.map((path) =>
      check(`an answer of an earlier release names the newest: ${path}`, async (service) => {
        const { newest, earlier } = await readEarlier(service)
        const answer = await service.get(`${path}?release=${earlier}`)
        expectStatus(answer, 200)
        const named = Number(answer.headers.get('outbreaks-newest-release'))
        expectThat(named >= newest, `Outbreaks-Newest-Release ${newest} or later`, named)
      }),
    ),
    check('a cursor beside another release= is refused', async (service) => {
      const { path, release } = await readPinnedCursor(service)
      const answer = await service.get(`${path}&release=${release === 1 ? 2 : release - 1}`)
      expectProblem(answer, 400)
      const { parameter } = readObject(answer)
      expectThat(parameter === 'release' || parameter === 'page', 'parameter release or page', parameter)
    }),
    dataCheck('an earlier release stays readable and holds nothing later', async (walk, service) => {
      const earliest = Math.min(...walk.records.map((record) => Number(record.first_release)))
      if (earliest >= Number(walk.release)) throw new Skipped('the records walked know no earlier release')
      const answer = await service.get(`${V1}?num=50&release=${earliest}`)
      const later = readRecords(answer).find((record) => !(Number(record.last_release) <= earliest))
      expectEqual('Outbreaks-Release', releaseOf(answer), String(earliest))
      expectThat(later === undefined, `last_release up to ${earliest}`, later?.last_release)
    }),
  ],
}
