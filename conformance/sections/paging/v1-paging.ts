// Specification section 4, v1: offset-based paging. parameters.ts checks invalid offsets.
import { check, type Section } from '../../check.ts'
import {
  expectEqual,
  expectSameRecords,
  expectStatus,
  expectThat,
  Failure,
  idsOf,
  readJson,
  readRecords,
} from '../../expect.ts'
import { readReleases } from '../../release-list.ts'
import { readOnce, type Service, V1 } from '../../service.ts'
import { readCompleteWalk } from '../../walk.ts'

const readPage = async (service: Service, offset: number, num: number, pin = '') =>
  readRecords(await service.get(`${V1}?offset=${offset}&num=${num}${pin}`))

/** The first five records according to v1, so that these checks do not depend on v2. */
const readFive = readOnce(async (service) => {
  const five = await readPage(service, 0, 5)
  if (five.length !== 5) throw new Failure(`the dataset has ${five.length} records; the data checks need at least 5`)
  return five
})

export const v1Paging: Section = {
  name: 'v1-paging',
  checks: [
    check('the response is a plain JSON array without an envelope', async (service) => {
      const body = readJson(await service.get(`${V1}?offset=0&num=2`))
      expectThat(Array.isArray(body), 'an array', typeof body)
    }),
    check('the array contains only records', async (service) => {
      const other = (await readFive(service)).find((entry) => !Number.isInteger(entry.id))
      expectThat(other === undefined, 'each entry to have an integer id', other?.id)
    }),
    check('num=N with offset=0 returns the first N records', async (service) =>
      expectSameRecords(await readPage(service, 0, 2), (await readFive(service)).slice(0, 2)),
    ),
    check('offset=N returns the next N', async (service) =>
      expectSameRecords(await readPage(service, 2, 2), (await readFive(service)).slice(2, 4)),
    ),
    check('offset=2N returns the next N after that', async (service) => {
      const page = await readPage(service, 4, 2)
      expectSameRecords(page.slice(0, 1), (await readFive(service)).slice(4))
    }),
    check('offset is zero-based', async (service) =>
      expectSameRecords(await readPage(service, 1, 1), (await readFive(service)).slice(1, 2)),
    ),
    check('offset need not be a multiple of num', async (service) =>
      expectSameRecords(await readPage(service, 1, 3), (await readFive(service)).slice(1, 4)),
    ),
    check('offset defaults to 0', async (service) =>
      expectSameRecords(readRecords(await service.get(`${V1}?num=3`)), (await readFive(service)).slice(0, 3)),
    ),
    check('the order of the parameters does not matter', async (service) =>
      expectSameRecords(readRecords(await service.get(`${V1}?num=2&offset=3`)), (await readFive(service)).slice(3)),
    ),
    check('records ascend by id', async (service) => {
      const ids = idsOf(await readFive(service)).map(Number)
      expectThat(
        ids.every((id, index) => index === 0 || id > Number(ids[index - 1])),
        'ascending ids',
        ids,
      )
    }),
    check('an offset beyond the end returns an empty array', async (service) =>
      expectEqual('records', readRecords(await service.get(`${V1}?offset=9007199254740991&num=1`)), []),
    ),
    check('the offset of the last record returns only that record', async (service) => {
      const { records, release } = await readCompleteWalk(service)
      expectSameRecords(await readPage(service, records.length - 1, 3, `&release=${release}`), records.slice(-1))
    }),
    check('the offset after the last record returns an empty array', async (service) => {
      const { records, release } = await readCompleteWalk(service)
      expectEqual('records', idsOf(await readPage(service, records.length, 3, `&release=${release}`)), [])
    }),
    check('all offsets with one token read the same release', async (service) => {
      const responses = []
      for (const offset of [0, 1, 2, 9007199254740991])
        responses.push(await service.get(`${V1}?num=1&offset=${offset}`))
      for (const response of responses) expectStatus(response, 200)
      const releases = new Set(responses.map((response) => response.headers.get('outbreaks-release')))
      expectEqual('number of releases', releases.size, 1)
    }),
    check(
      'with a new token v1 reads the newest release, or the newest that is older than a minute',
      async (service) => {
        const began = Date.now()
        const response = await service.get(`${V1}?num=1`, { authorization: `Bearer ${await service.newToken()}` })
        expectStatus(response, 200)
        const { releases } = await readReleases(service)
        const visible = releases.find((release) => Date.parse(String(release.published_at)) <= began - 120_000)
        const oldest = Number((visible ?? releases.at(-1))?.number)
        const read = Number(response.headers.get('outbreaks-release'))
        expectThat(read >= oldest, `release ${oldest} or a later one`, read)
      },
    ),
    check('release=latest reads the newest release with any token', async (service) => {
      const response = await service.get(`${V1}?num=1&release=latest`)
      expectStatus(response, 200)
      const read = Number(response.headers.get('outbreaks-release'))
      const { newest } = await readReleases(service)
      expectThat(read >= Number(newest.number), `release ${String(newest.number)} or a later one`, read)
      expectEqual('Outbreaks-Newest-Release', response.headers.get('outbreaks-newest-release'), null)
    }),
    check('a repeated request returns the same bytes', async (service) => {
      const [first, second] = [await service.get(`${V1}?num=3`), await service.get(`${V1}?num=3`)]
      expectStatus(first, 200)
      expectThat(first.text === second.text, 'equal bodies', 'different ones')
    }),
  ],
}
