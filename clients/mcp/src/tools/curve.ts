// `curve`: counts over time, at most 120 periods.
import * as z from 'zod'
import type { Access } from '../access.ts'
import type { Draft } from '../envelope.ts'
import {
  COUNT_COLUMNS,
  describeFlags,
  describeMethod,
  describeOthers,
  describeRest,
  type Figures,
  isNotComparable,
  toChoice,
  withoutUsualFlags,
} from '../figures.ts'
import { placeFilters, type Query, replaceWords, toQuery, withFilters } from '../query.ts'
import { type Row, toTable } from '../table.ts'
import { toFilters } from './count.ts'
import { defineTool } from './tool.ts'

const OWN = ['interval', 'group_by', 'measures', 'counts', 'side_by_side']
const MAX_ROWS = 120

const input = withFilters({
  ...placeFilters,
  interval: z.enum(['day', 'isoweek', 'epiweek', 'month', 'year']).optional(),
  group_by: z.string().optional(),
  measures: z.array(z.enum(['cfr', 'per_100000', 'moving_average', 'growth'])).optional(),
  counts: z.array(z.enum(['cases', 'deaths', 'hospitalised', 'recovered', 'tested'])).optional(),
  side_by_side: z.boolean().optional(),
})

export const curve = defineTool({
  name: 'curve',
  title: 'Counts over time',
  description:
    'New cases and deaths by day, week, month or year, the last 120 periods first. `spans` has counts over days that lie in no single period.',
  input,
  answer: readCurve,
})

async function readCurve(given: z.output<typeof input>, access: Access): Promise<Draft> {
  const { interval, group_by, measures, counts, side_by_side } = given
  const query: Query = { ...toQuery(given, OWN), interval, group_by, measures, counts, side_by_side }
  let found: Awaited<ReturnType<typeof access.outbreaks.read<Figures>>>
  try {
    found = await access.outbreaks.read('series', query, access)
  } catch (error) {
    if (isNotComparable(error)) return toChoice(access, error, { tool: 'curve', arguments: given }, 'series', query)
    throw error
  }
  const { body, release, newestRelease } = found
  const pinned = replaceWords({ ...query, interval: body.interval }, body.understood)
  const periods = [...new Set(body.data.map(({ period }) => String(period)))].sort()
  const groups = Math.max(1, new Set(body.data.map((row) => row['label'])).size)
  const groupColumns = side_by_side ? ['words'] : body.group_by
  const numbers = COUNT_COLUMNS.filter((name) => name.startsWith('new_') || name.startsWith('point_'))
  const known = body.data.some((row) => numbers.some((name) => typeof row[name] === 'number'))
  const columns = [
    ...[...groupColumns, 'period'],
    ...(known ? numbers : COUNT_COLUMNS),
    ...(measures === undefined
      ? []
      : Object.keys(body.data[0] ?? {}).filter((name) => /cfr|per_100000|average|growth|because/.test(name))),
    'flags',
  ]
  /** The last periods, of every group. */
  const lastRows = (count: number): Row[] => {
    const from = periods.at(-Math.max(1, count)) ?? ''
    return body.data.filter(({ period }) => String(period) >= from)
  }
  const isEmpty = body.data.length === 0 && body.spans.length === 0 && body.undated_counts.length === 0
  return {
    outcome: isEmpty ? 'none' : 'answer',
    release: release ?? 'latest',
    newestRelease,
    title: body.title,
    resource: 'series',
    query: pinned,
    page: { path: '', query: { ...toFilters(pinned), interval: body.interval } },
    method: describeMethod(body),
    warnings: [
      ...body.warnings,
      ...describeOthers(body),
      ...describeFlags(body.data),
      ...(isEmpty ? ['No record matches. That is not 0 cases: nothing is known.'] : []),
    ],
    data: (shown, ways) => ({
      ...(body.understood === null ? {} : { understood: body.understood.filters }),
      title: body.title,
      interval: body.interval,
      ...toTable(shown === 0 ? [] : lastRows(shown).map(withoutUsualFlags), columns),
      ...describeRest(body, ways),
    }),
    rows: Math.min(periods.length, Math.max(1, Math.floor(MAX_ROWS / groups))),
    more: (shown) => {
      const left = body.data.length - (shown === 0 ? 0 : lastRows(shown).length)
      if (left === 0) return null
      const before = body.data.find(({ period }) => period === periods.at(-shown - 1))
      const call = {
        tool: 'curve',
        arguments: { ...given, interval: body.interval, release: release ?? 'latest', date_to: before?.['last_day'] },
      }
      return { left, ...(before === undefined ? {} : { call }) }
    },
  }
}
