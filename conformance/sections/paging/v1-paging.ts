// Specification section 4, v1: offset-based paging. What is refused as an offset stands in parameters.ts.
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

/** What v1 itself says the first five are, so that these checks do not hang on v2. */
const readFive = readOnce(async (service) => {
  const five = await readPage(service, 0, 5)
  if (five.length !== 5) throw new Failure(`the dataset has ${five.length} records; the data checks need at least 5`)
  return five
})

export const v1Paging: Section = {
  name: 'v1-paging',
  checks: [
    check('the answer is a plain JSON array, with no envelope', async (service) => {
      const body = readJson(await service.get(`${V1}?offset=0&num=2`))
      expectThat(Array.isArray(body), 'an array', typeof body)
    }),
    check('the array holds records and nothing else', async (service) => {
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
    check('offset left out is offset=0', async (service) =>
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
    check('the offset of the last record returns it alone', async (service) => {
      const { records, release } = await readCompleteWalk(service)
      expectSameRecords(await readPage(service, records.length - 1, 3, `&release=${release}`), records.slice(-1))
    }),
    check('the offset behind the last record returns an empty array', async (service) => {
      const { records, release } = await readCompleteWalk(service)
      expectEqual('records', idsOf(await readPage(service, records.length, 3, `&release=${release}`)), [])
    }),
    check('with one token every offset is of one release', async (service) => {
      const answers = []
      for (const offset of [0, 1, 2, 9007199254740991]) answers.push(await service.get(`${V1}?num=1&offset=${offset}`))
      for (const answer of answers) expectStatus(answer, 200)
      const releases = new Set(answers.map((answer) => answer.headers.get('outbreaks-release')))
      expectEqual('number of releases', releases.size, 1)
    }),
    check('with a new token v1 reads the newest release, or the newest of a minute before', async (service) => {
      const began = Date.now()
      const answer = await service.get(`${V1}?num=1`, { authorization: `Bearer ${await service.newToken()}` })
      expectStatus(answer, 200)
      const { releases } = await readReleases(service)
      const settled = releases.find((release) => Date.parse(String(release.published_at)) <= began - 120_000)
      const oldest = Number((settled ?? releases.at(-1))?.number)
      const read = Number(answer.headers.get('outbreaks-release'))
      expectThat(read >= oldest, `release ${oldest} or a later one`, read)
    }),
    check('release=latest reads the newest release, whatever the token', async (service) => {
      const answer = await service.get(`${V1}?num=1&release=latest`)
      expectStatus(answer, 200)
      const read = Number(answer.headers.get('outbreaks-release'))
      const { newest } = await readReleases(service)
      expectThat(read >= Number(newest.number), `release ${String(newest.number)} or a later one`, read)
      expectEqual('Outbreaks-Newest-Release', answer.headers.get('outbreaks-newest-release'), null)
    }),
    check('the same offset and num twice give the same bytes', async (service) => {
      const [first, second] = [await service.get(`${V1}?num=3`), await service.get(`${V1}?num=3`)]
      expectStatus(first, 200)
      expectThat(first.text === second.text, 'equal bodies', 'different ones')
    }),
  ],
}
