// `count`: totals, by group if asked, of the recommended way of counting.
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
import { allFilters, type Query, replaceWords, toQuery, withFilters } from '../query.ts'
import { toTable } from '../table.ts'
import { defineTool } from './tool.ts'

const OWN = ['group_by', 'measures', 'sort', 'limit', 'side_by_side']
const DEFAULT_LIMIT = 25

const input = withFilters({
  ...allFilters,
  group_by: z
    .union([z.string(), z.array(z.string()).max(2)])
    .optional()
    .describe('event, disease, country_code, admin_l1, case_status, source_name, year…'),
  measures: z.array(z.enum(['cfr', 'per_100000'])).optional(),
  sort: z.string().optional().describe('-total_cases, -total_deaths, -new_cases…'),
  limit: z.int().min(1).max(100).optional(),
  side_by_side: z.boolean().optional().describe('every way of counting'),
})

export const count = defineTool({
  name: 'count',
  title: 'Count cases and deaths',
  description:
    'How many: totals of cases and deaths, by group if asked, for all filters together. Never add up numbers of several answers. Other filters of the dictionary work too.',
  input,
  answer: readCount,
})

async function readCount(given: z.output<typeof input>, access: Access): Promise<Draft> {
  const { limit = DEFAULT_LIMIT, group_by, measures, sort, side_by_side } = given
  const query: Query = { ...toQuery(given, OWN), group_by, measures, sort, side_by_side, num: limit }
  let found: Awaited<ReturnType<typeof access.outbreaks.read<Figures & { groups: number }>>>
  try {
    found = await access.outbreaks.read('sums', query, access)
  } catch (error) {
    if (isNotComparable(error)) return toChoice(access, error, { tool: 'count', arguments: given }, 'sums', query)
    throw error
  }
  const { body, release, newestRelease } = found
  const pinned = replaceWords(query, body.understood)
  const rows = body.data.map((row) => ({
    ...row,
    ...(row['new_cases'] === row['cases'] && row['new_deaths'] === row['deaths']
      ? { new_cases: undefined, new_deaths: undefined }
      : {}),
  }))
  const columns = [
    ...(side_by_side ? ['words'] : body.group_by),
    ...COUNT_COLUMNS.filter((name) => !name.startsWith('cumulative_') || sort?.includes('cumulative')),
    ...[
      'cfr',
      'cfr_low',
      'cfr_high',
      'cases_per_100000',
      'deaths_per_100000',
      'inhabitants',
      'inhabitants_year',
      'inhabitants_source',
      'null_because',
    ],
    ...['first_day', 'last_day', 'flags'],
  ]
  const hasCounts = rows.length > 0 || body.undated_counts.length > 0
  return {
    outcome: hasCounts ? 'answer' : 'none',
    release: release ?? 'latest',
    newestRelease,
    title: body.title,
    resource: 'sums',
    query: pinned,
    page: { path: '', query: { ...toFilters(pinned) } },
    method: describeMethod(body),
    warnings: [
      ...body.warnings,
      ...describeOthers(body),
      ...describeFlags(rows),
      ...(hasCounts ? [] : ['No record matches. That is not 0 cases: nothing is known.']),
    ],
    data: (shown, ways) => ({
      ...(body.understood === null ? {} : { understood: body.understood.filters }),
      title: body.title,
      ...toTable(rows.slice(0, shown).map(withoutUsualFlags), columns),
      groups: body.groups,
      ...describeRest(body, ways),
    }),
    rows: rows.length,
    more: (shown) =>
      body.groups <= shown
        ? null
        : {
            left: body.groups - shown,
            ...(limit < 100 && shown === rows.length
              ? {
                  call: {
                    tool: 'count',
                    arguments: { ...given, release: release ?? 'latest', limit: Math.min(100, body.groups) },
                  },
                }
              : {}),
          },
  }
}

/** Without what only the answer has. */
export const toFilters = ({
  num: _num,
  group_by: _group,
  measures: _measures,
  sort: _sort,
  side_by_side: _side,
  interval: _interval,
  ...rest
}: Query): Query => rest
