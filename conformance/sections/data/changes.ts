// Decisions on the changes between two releases: the difference, not the steps between them.
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

const MAX_CHANGES = 5_000

/** The newest two releases; a deployment with one release cannot show a difference. */
async function readPair(service: Service): Promise<{ from: Row; to: Row; path: string }> {
  const [to, from] = (await readReleases(service)).releases
  if (from === undefined || to === undefined) throw new Skipped('there is only one release')
  return { from, to, path: `${CHANGES}?from=${String(from.number)}&to=${String(to.number)}` }
}

async function walkChanges(service: Service, path: string, num: number, limit: number): Promise<Row[]> {
  const changes: Row[] = []
  for (let page = ''; changes.length < limit; ) {
    const { data, has_more: more, next_page: next } = readEnvelope(await service.get(`${path}&num=${num}${page}`))
    changes.push(...data)
    if (more !== true) break
    page = `&page=${encodeURIComponent(String(next))}`
  }
  return changes
}

const readChanges = readOnce(async (service: Service) => {
  const { from, to, path } = await readPair(service)
  const declared = ['added', 'corrected', 'withdrawn'].map((kind) => Number(to[kind]))
  const complete = declared.reduce((sum, count) => sum + count) <= MAX_CHANGES
  return {
    from,
    to,
    path,
    declared,
    complete,
    changes: await walkChanges(service, path, 1000, complete ? Infinity : 1),
  }
})

/** The cursor after the first change of the newest two releases. */
async function readCursor(service: Service) {
  const { path, from, to } = await readPair(service)
  const { next_page: next } = readEnvelope(await service.get(`${path}&num=1`))
  if (typeof next !== 'string') throw new Skipped('the newest two releases differ in one record or none')
  return { path, from: Number(from.number), to: Number(to.number), page: `page=${encodeURIComponent(next)}` }
}

const kindOfChange = ({ before, after }: Row) =>
  before === null ? 'added' : after === null ? 'withdrawn' : 'corrected'

export const changes: Section = {
  name: 'changes',
  checks: [
    check('a release does not differ from itself', async (service) => {
      const { number } = (await readReleases(service)).newest
      const response = await service.get(`${CHANGES}?from=${String(number)}&to=${String(number)}`)
      expectStatus(response, 200)
      expectEqual('body', readObject(response), { data: [], has_more: false, next_page: null })
      expectEqual('Outbreaks-Release', response.headers.get('outbreaks-release'), String(number))
    }),
    check('to defaults to the newest release', async (service) => {
      const { number } = (await readReleases(service)).newest
      const response = await service.get(`${CHANGES}?from=${String(number)}`)
      expectEqual('Outbreaks-Release', response.headers.get('outbreaks-release'), String(number))
    }),
    check('from and to accept dates', async (service) => {
      const day = String((await readReleases(service)).newest.as_of)
      expectEqual('changes', readEnvelope(await service.get(`${CHANGES}?from=${day}&to=${day}`)).data, [])
    }),
    check('a request without from is 400 with parameter from', async (service) =>
      expectProblem(await service.get(CHANGES), 400, { code: 'invalid_parameter', parameter: 'from' }),
    ),
    check('from later than to is 400 with parameter from', async (service) => {
      const { from, to } = await readPair(service)
      const response = await service.get(`${CHANGES}?from=${String(to.number)}&to=${String(from.number)}`)
      expectProblem(response, 400, { code: 'invalid_parameter', parameter: 'from' })
    }),
    ...['from', 'to'].flatMap((parameter) =>
      ['0', '', '01', 'newest', '2023-02-30', '2147483647', '0001-01-01'].map((value) =>
        check(`${parameter}=${value} is 400 with parameter ${parameter}`, async (service) => {
          const query = parameter === 'from' ? `from=${value}` : `from=1&to=${value}`
          expectProblem(await service.get(`${CHANGES}?${query}`), 400, { code: 'invalid_parameter', parameter })
        }),
      ),
    ),
    check('the newest two releases differ by the counts in the metadata of the newest', async (service) => {
      const { changes: listed, declared, complete } = await readChanges(service)
      if (!complete) throw new Skipped(`the newest two releases differ in more than ${MAX_CHANGES} records`)
      const count = (kind: string) => listed.filter(({ change }) => change === kind).length
      expectEqual('added, corrected and withdrawn', ['added', 'corrected', 'withdrawn'].map(count), declared)
    }),
    check('changes ascend by id', async (service) => {
      const ids = idsOf((await readChanges(service)).changes).map(Number)
      const at = ids.findIndex((id, index) => index > 0 && id <= Number(ids[index - 1]))
      expectThat(at === -1, 'ascending ids', ids.slice(Math.max(at - 1, 0), at + 1))
    }),
    check('the kind of each change follows from before and after', async (service) => {
      const other = (await readChanges(service)).changes.find((change) => change.change !== kindOfChange(change))
      expectThat(other === undefined, 'added, corrected or withdrawn according to before and after', other?.change)
    }),
    check('each change has a reason and a release', async (service) => {
      const { changes: listed, from, to } = await readChanges(service)
      const other = listed.find(
        ({ release }) => Number(release) <= Number(from.number) || Number(release) > Number(to.number),
      )
      expectThat(other === undefined, 'a release between the two', other?.release)
      const withoutReason = listed.find(({ reason }) => typeof reason !== 'string' || !/^[a-z_]+$/.test(reason))
      expectThat(withoutReason === undefined, 'a reason code', withoutReason?.reason)
    }),
    check('before and after are the records of the two releases', async (service) => {
      const { changes: listed, from, to } = await readChanges(service)
      for (const change of listed.slice(0, 3))
        for (const [release, record] of [
          [from, change.before],
          [to, change.after],
        ] as const) {
          const response = await service.get(`${V2}/${String(change.id)}?release=${String(release.number)}`)
          if (record === null) expectProblem(response, 404, { code: 'not_found' })
          else expectSameRecords([readObject(response)], [record as Row])
        }
    }),
    check('pages with num=1 give the same changes', async (service) => {
      const { changes: listed, path } = await readChanges(service)
      const walked = await walkChanges(service, path, 1, 10)
      expectEqual('ids', idsOf(walked), idsOf(listed.slice(0, walked.length)))
    }),
    check('a cursor without to stays on its release', async (service) => {
      const { from, to, page } = await readCursor(service)
      const response = await service.get(`${CHANGES}?from=${from}&${page}`)
      expectStatus(response, 200)
      expectEqual('Outbreaks-Release', response.headers.get('outbreaks-release'), String(to))
    }),
    check('a cursor together with the dates of its releases is accepted', async (service) => {
      const { from, to } = await readPair(service)
      const { page, to: number } = await readCursor(service)
      const days = [from, to].map((release) => String(release.as_of))
      const response = await service.get(`${CHANGES}?from=${days[0]}&to=${days[1]}&${page}`)
      expectStatus(response, 200)
      expectEqual('Outbreaks-Release', response.headers.get('outbreaks-release'), String(number))
    }),
    check('a cursor together with a date before its releases is 400', async (service) => {
      const { from, page } = await readCursor(service)
      for (const [query, parameter] of [
        ['from=1970-01-01', 'from'],
        [`from=${from}&to=1970-01-01`, 'to'],
      ] as const)
        expectProblem(await service.get(`${CHANGES}?${query}&${page}`), 400, { parameter })
    }),
    check('a cursor is 400 for another comparison and for a walk over records', async (service) => {
      const { from, to, page } = await readCursor(service)
      for (const path of [`${CHANGES}?from=${to}&to=${to}`, `${CHANGES}?from=${from}&to=${from}`, `${V2}?num=1`])
        expectProblem(await service.get(`${path}&${page}`), 400, { code: 'invalid_parameter' })
    }),
  ],
}
