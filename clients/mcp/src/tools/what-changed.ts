// `what_changed`: the releases, what changed between two of them and why, and how a number was revised.

import * as z from 'zod'
import { type Change, NotComparable, type Release } from '../../../typescript/src/client.ts'
import { type Access, readRelease } from '../access.ts'
import type { Draft } from '../envelope.ts'
import { describeFlags, describeMethod, describeRest, type Figures, isNotComparable, toChoice } from '../figures.ts'
import { mainFilters, type Query, replaceWords, toQuery, withFilters } from '../query.ts'
import { type Row, toTable } from '../table.ts'
import { toFilters } from './count.ts'
import { defineTool } from './tool.ts'

const OWN = ['from', 'to', 'interval', 'count', 'release']
const RELEASES = ['number', 'as_of', 'published', 'records', 'added', 'corrected', 'withdrawn', 'restores', 'title']
const CHANGES = [
  'id',
  'change',
  'release',
  'reason',
  'event',
  'fields',
  'cases_before',
  'cases_after',
  'deaths_before',
  'deaths_after',
]
/** More changes are only said to be more. */
const MAX_CHANGES = 5000
const PAGE = 1000
const MAX_EXAMPLES = 15

const reference = z.union([z.int(), z.string()]).optional()
const { release: _release, ...others } = mainFilters
const input = withFilters({
  ...others,
  from: reference.describe('earlier release'),
  to: reference,
  interval: z.enum(['day', 'isoweek', 'epiweek', 'month', 'year']).optional().describe('how each period was revised'),
  count: z.string().optional(),
})

export const whatChanged = defineTool({
  name: 'what_changed',
  title: 'What changed between releases',
  description:
    'Without arguments: the releases. With from and to: records added, corrected and withdrawn, why, and the number before and after. With interval: the number of each period in each release.',
  input,
  answer: async (given, access) => {
    if (given.interval !== undefined) return readVintages(given, access)
    return Object.keys(given).length === 0 ? readReleases(access) : readChanges(given, access)
  },
})

async function readReleases({ outbreaks, signal }: Access): Promise<Draft> {
  const { body, newestRelease } = await outbreaks.read<{ data: readonly Release[] }>(
    'releases',
    { num: 50 },
    { signal },
  )
  const rows = body.data.map((release) => ({
    ...release,
    published: release.published_at.slice(0, 10),
    title: release.title.slice(0, 100),
  }))
  return {
    outcome: rows.length === 0 ? 'none' : 'answer',
    release: rows[0]?.number ?? 'latest',
    newestRelease,
    title: 'The releases',
    resource: 'releases',
    query: { num: 50 },
    isPinned: true,
    page: { path: '/releases', query: { release: undefined } },
    method: 'Releases never change. as_of is the day up to which the data of a release is known.',
    warnings: [],
    data: (shown) => toTable(rows.slice(0, shown), RELEASES) as never,
    rows: rows.length,
    more: (shown) => (shown < rows.length ? { left: rows.length - shown } : null),
  }
}

/** The number at a release in words, and null where there is no single one. */
async function readNumber(access: Access, query: Query, release: number): Promise<Row | null> {
  try {
    const { body } = await access.outbreaks.read<Figures>('sums', { ...query, release }, access)
    const [row] = body.data
    return {
      release,
      ...Object.fromEntries(['cases', 'deaths'].map((name) => [name, row?.[name] ?? null])),
      counted: body.chosen.map(({ query: set }) => set),
    }
  } catch (error) {
    if (error instanceof NotComparable) return null
    throw error
  }
}

async function readChanges(given: z.output<typeof input>, access: Access): Promise<Draft> {
  const filtersOnly = toQuery(given, OWN)
  const { number: newest } = await readRelease(access, 'latest')
  const { number: to } = await readRelease(access, given.to ?? newest)
  const { number: from } = await readRelease(access, given.from ?? Math.max(1, to - 1))
  const words =
    filtersOnly['q'] === undefined
      ? null
      : await access.outbreaks.read<Figures>('citation', { ...filtersOnly, release: to }, access)
  const query: Query = { ...(words === null ? filtersOnly : toRecordFilters(words.body as never)), from, to }
  const counts: Record<string, Record<string, number>> = {}
  const events: Record<string, number> = {}
  let total = 0
  const walk = access.outbreaks.changes({ ...query, bodies: false, num: PAGE } as never, access)
  for (let changes = await walk.nextPage(); changes.length > 0; changes = await walk.nextPage()) {
    for (const { change, reason } of changes) {
      const reasons = (counts[change] ??= {})
      reasons[reason] = (reasons[reason] ?? 0) + 1
    }
    total += changes.length
    if (total >= MAX_CHANGES) break
  }
  const isWhole = walk.cursor === null
  const shownChanges =
    total === 0
      ? []
      : await access.outbreaks
          .changes({ ...query, changed_fields: true, num: MAX_EXAMPLES } as never, access)
          .nextPage()
  for (const { before, after } of shownChanges) {
    const name = after?.event ?? before?.event ?? ''
    events[name] = (events[name] ?? 0) + 1
  }
  const hasFilters = Object.keys(filtersOnly).length > 0
  const [before, after] = hasFilters
    ? await Promise.all([from, to].map((release) => readNumber(access, toFilters(withoutReleases(query)), release)))
    : []
  const isCountedOtherwise = before != null && after != null && serialiseSets(before) !== serialiseSets(after)
  return {
    outcome: 'answer',
    release: to,
    newestRelease: newest,
    title: `Changes from release ${from} to release ${to}`,
    resource: 'changes',
    query,
    isPinned: true,
    page: { path: `/releases/${to}`, query: { compare: from, release: undefined } },
    method: 'reason is what the publisher of the release gave. A correction is not a new case.',
    warnings: [
      ...walk.warnings,
      ...(isWhole ? [] : [`There are more than ${total} changes; the counts are of the first ${total}.`]),
      ...(hasFilters && (before === null || after === null)
        ? ['There is no single number of these records in one of the releases: ask count for its ways.']
        : []),
      ...(isCountedOtherwise
        ? ['The number is counted in another way in the two releases: the difference is not a change of cases.']
        : []),
    ],
    data: (shown) => ({
      from,
      to,
      changes: Object.fromEntries(
        ['added', 'corrected', 'withdrawn'].map((change) => [
          change,
          Object.values(counts[change] ?? {}).reduce((sum, each) => sum + each, 0),
        ]),
      ),
      reasons: counts,
      ...(hasFilters ? { before: numberOf(before), after: numberOf(after) } : {}),
      examples: toTable(shownChanges.slice(0, shown).map(toLine), CHANGES),
    }),
    rows: shownChanges.length,
    more: (shown) => (total > shown ? { left: total - shown } : null),
  }
}

const withoutReleases = ({ from: _from, to: _to, ...rest }: Query): Query => rest
const serialiseSets = ({ counted }: Row) => JSON.stringify(counted)
const numberOf = (row: Row | null | undefined) =>
  row == null ? null : { release: row['release'], cases: row['cases'], deaths: row['deaths'] }

/** The filters of the address in a citation: words are already read. */
function toRecordFilters({ url }: { readonly url: string }): Query {
  const parameters = new URL(url).searchParams
  parameters.delete('release')
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]))
}

const toLine = ({ before, after, ...change }: Change): Row => ({
  ...change,
  event: after?.event ?? before?.event,
  cases_before: before?.cases,
  cases_after: after?.cases,
  deaths_before: before?.deaths ?? undefined,
  deaths_after: after?.deaths ?? undefined,
})

async function readVintages(given: z.output<typeof input>, access: Access): Promise<Draft> {
  const { interval, count } = given
  const { number: to } = await readRelease(access, given.to ?? 'latest')
  const from = given.from === undefined ? undefined : (await readRelease(access, given.from)).number
  const query: Query = { ...toQuery(given, OWN), interval, count, from, to }
  let found: Awaited<ReturnType<typeof access.outbreaks.read<Figures>>>
  try {
    found = await access.outbreaks.read('vintages', query, access)
  } catch (error) {
    if (isNotComparable(error))
      return toChoice(access, error, { tool: 'what_changed', arguments: given }, 'vintages', query)
    throw error
  }
  const { body } = found
  const releases = [...new Set(body.data.map(({ release }) => Number(release)))]
  const periods = Map.groupBy(body.data, ({ period }) => String(period))
  const rows = [...periods]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([period, versions]): Row => {
      const numbers = Object.fromEntries(
        versions.map((row) => [`release_${String(row['release'])}`, row[`new_${count ?? 'cases'}`] ?? null]),
      )
      return { period, ...numbers }
    })
  const first = releases[0] ?? to
  return {
    outcome: rows.length === 0 ? 'none' : 'answer',
    release: to,
    newestRelease: found.newestRelease,
    title: `${body.title}: ${count ?? 'cases'} through the releases`,
    resource: 'vintages',
    query: replaceWords({ ...query, from: from ?? first }, body.understood),
    isPinned: true,
    page: null,
    method: `New ${count ?? 'cases'} of each period as each release has it. ${describeMethod({ ...body, left_out_total: body.left_out_total })}`,
    warnings: [
      ...body.warnings,
      ...describeFlags(body.data),
      ...(rows.length === 0 ? ['No record matches. That is not 0 cases: nothing is known.'] : []),
    ],
    data: (shown, ways) => ({
      title: body.title,
      interval: body.interval,
      ...toTable(rows.slice(rows.length - shown), ['period', ...releases.map((release) => `release_${release}`)]),
      ...describeRest({ ...body, spans: [], undated_counts: [], group_by: [] }, ways),
    }),
    rows: Math.min(rows.length, 120),
    more: (shown) => (shown < rows.length ? { left: rows.length - shown } : null),
  }
}
