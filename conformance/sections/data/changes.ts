// Decisions on what differs between two releases: the difference, not the steps between them.
import { check, type Section } from '../../check.ts'
import {
  expectEqual,
  expectProblem,
  expectSameRecords,
  expectStatus,
  expectThat,
  idsOf,
  type Row,
  readEnvelope,
  readObject,
  Skipped,
} from '../../expect.ts'
import { readReleases } from '../../release-list.ts'
import { CHANGES, readOnce, type Service, V2 } from '../../service.ts'

const MOST_CHANGES = 5_000

/** The newest two releases; a deployment with one release cannot show a difference. */
async function readPair(service: Service): Promise<{ from: Row; to: Row; path: string }> {
  const [to, from] = (await readReleases(service)).releases
  if (from === undefined || to === undefined) throw new Skipped('there is only one release')
  return { from, to, path: `${CHANGES}?from=${String(from.number)}&to=${String(to.number)}` }
}

async function walkChanges(service: Service, path: string, num: number, most: number): Promise<Row[]> {
  const changes: Row[] = []
  for (let page = ''; changes.length < most; ) {
    const { data, has_more: more, next_page: next } = readEnvelope(await service.get(`${path}&num=${num}${page}`))
    changes.push(...data)
    if (more !== true) break
    page = `&page=${encodeURIComponent(String(next))}`
  }
  return changes
}

const readChanges = readOnce(async (service: Service) => {
  const { from, to, path } = await readPair(service)
  const said = ['added', 'corrected', 'withdrawn'].map((kind) => Number(to[kind]))
  const complete = said.reduce((sum, count) => sum + count) <= MOST_CHANGES
  return { from, to, path, said, complete, changes: await walkChanges(service, path, 1000, complete ? Infinity : 1) }
})

/** The cursor behind the first change of the newest two releases. */
async function readCursor(service: Service) {
  const { path, from, to } = await readPair(service)
  const { next_page: next } = readEnvelope(await service.get(`${path}&num=1`))
  if (typeof next !== 'string') throw new Skipped('the newest two releases differ in one record or none')
  return { path, from: Number(from.number), to: Number(to.number), page: `page=${encodeURIComponent(next)}` }
}

const changeOf = ({ before, after }: Row) => (before === null ? 'added' : after === null ? 'withdrawn' : 'corrected')

export const changes: Section = {
  name: 'changes',
  checks: [
    check('a release does not differ from itself', async (service) => {
      const { number } = (await readReleases(service)).newest
      const answer = await service.get(`${CHANGES}?from=${String(number)}&to=${String(number)}`)
      expectStatus(answer, 200)
      expectEqual('answer', readObject(answer), { data: [], has_more: false, next_page: null })
      expectEqual('Outbreaks-Release', answer.headers.get('outbreaks-release'), String(number))
    }),
    check('to left out means the newest release', async (service) => {
      const { number } = (await readReleases(service)).newest
      const answer = await service.get(`${CHANGES}?from=${String(number)}`)
      expectEqual('Outbreaks-Release', answer.headers.get('outbreaks-release'), String(number))
    }),
    check('from and to take days', async (service) => {
      const day = String((await readReleases(service)).newest.published_at).slice(0, 10)
      expectEqual('changes', readEnvelope(await service.get(`${CHANGES}?from=${day}&to=${day}`)).data, [])
    }),
    check('from left out is refused, naming from', async (service) =>
      expectProblem(await service.get(CHANGES), 400, { code: 'invalid_parameter', parameter: 'from' }),
    ),
    check('from behind to is refused, naming from', async (service) => {
      const { from, to } = await readPair(service)
      const answer = await service.get(`${CHANGES}?from=${String(to.number)}&to=${String(from.number)}`)
      expectProblem(answer, 400, { code: 'invalid_parameter', parameter: 'from' })
    }),
    ...['from', 'to'].flatMap((parameter) =>
      ['0', '', '01', 'newest', '2023-02-30', '2147483647', '0001-01-01'].map((value) =>
        check(
          `${parameter} ${value === '' ? 'left empty' : value} is refused, naming ${parameter}`,
          async (service) => {
            const query = parameter === 'from' ? `from=${value}` : `from=1&to=${value}`
            expectProblem(await service.get(`${CHANGES}?${query}`), 400, { code: 'invalid_parameter', parameter })
          },
        ),
      ),
    ),
    check('the newest two releases differ by what the newest says of itself', async (service) => {
      const { changes: seen, said, complete } = await readChanges(service)
      if (!complete) throw new Skipped(`the newest two releases differ in more than ${MOST_CHANGES} records`)
      const count = (kind: string) => seen.filter(({ change }) => change === kind).length
      expectEqual('added, corrected and withdrawn', ['added', 'corrected', 'withdrawn'].map(count), said)
    }),
    check('changes ascend by id', async (service) => {
      const ids = idsOf((await readChanges(service)).changes).map(Number)
      const at = ids.findIndex((id, index) => index > 0 && id <= Number(ids[index - 1]))
      expectThat(at === -1, 'ascending ids', ids.slice(Math.max(at - 1, 0), at + 1))
    }),
    check('each change is named after what was there before and after', async (service) => {
      const other = (await readChanges(service)).changes.find((change) => change.change !== changeOf(change))
      expectThat(other === undefined, 'added, corrected or withdrawn as before and after say', other?.change)
    }),
    check('each change says why, and by which release', async (service) => {
      const { changes: seen, from, to } = await readChanges(service)
      const other = seen.find(
        ({ release }) => Number(release) <= Number(from.number) || Number(release) > Number(to.number),
      )
      expectThat(other === undefined, 'a release between the two', other?.release)
      const mute = seen.find(({ reason }) => typeof reason !== 'string' || !/^[a-z_]+$/.test(reason))
      expectThat(mute === undefined, 'a reason code', mute?.reason)
    }),
    check('before and after are the record in the two releases', async (service) => {
      const { changes: seen, from, to } = await readChanges(service)
      for (const change of seen.slice(0, 3))
        for (const [release, record] of [
          [from, change.before],
          [to, change.after],
        ] as const) {
          const answer = await service.get(`${V2}/${String(change.id)}?release=${String(release.number)}`)
          if (record === null) expectProblem(answer, 404, { code: 'not_found' })
          else expectSameRecords([readObject(answer)], [record as Row])
        }
    }),
    check('paging by one gives the same changes', async (service) => {
      const { changes: seen, path } = await readChanges(service)
      const walked = await walkChanges(service, path, 1, 10)
      expectEqual('ids', idsOf(walked), idsOf(seen.slice(0, walked.length)))
    }),
    check('a cursor works without to, and stays on its release', async (service) => {
      const { from, to, page } = await readCursor(service)
      const answer = await service.get(`${CHANGES}?from=${from}&${page}`)
      expectStatus(answer, 200)
      expectEqual('Outbreaks-Release', answer.headers.get('outbreaks-release'), String(to))
    }),
    check('a cursor goes on beside the days of its releases', async (service) => {
      const { from, to } = await readPair(service)
      const { page, to: number } = await readCursor(service)
      const days = [from, to].map((release) => String(release.published_at).slice(0, 10))
      const answer = await service.get(`${CHANGES}?from=${days[0]}&to=${days[1]}&${page}`)
      expectStatus(answer, 200)
      expectEqual('Outbreaks-Release', answer.headers.get('outbreaks-release'), String(number))
    }),
    check('a cursor beside a day before its releases were published is refused', async (service) => {
      const { from, page } = await readCursor(service)
      for (const [query, parameter] of [
        ['from=1970-01-01', 'from'],
        [`from=${from}&to=1970-01-01`, 'to'],
      ] as const)
        expectProblem(await service.get(`${CHANGES}?${query}&${page}`), 400, { parameter })
    }),
    check('a cursor opens no other comparison, and no walk over records', async (service) => {
      const { from, to, page } = await readCursor(service)
      for (const path of [`${CHANGES}?from=${to}&to=${to}`, `${CHANGES}?from=${from}&to=${from}`, `${V2}?num=1`])
        expectProblem(await service.get(`${path}&${page}`), 400, { code: 'invalid_parameter' })
    }),
  ],
}
