// What counts and curves have in common: how they were counted, what to beware of, and a rejection as a choice.
import { NotComparable } from '../../typescript/src/client.ts'
import { type Access, readRelease } from './access.ts'
import type { Call, Choice, Draft } from './envelope.ts'
import { type Query, toArguments } from './query.ts'
import { type Row, toTable } from './table.ts'

export interface Way {
  readonly words: string
  readonly query: string | null
  readonly counts: Readonly<Record<string, number | null>>
  readonly first_day: string | null
  readonly last_day: string | null
  readonly reason?: string
  readonly event?: string
}

/** The short form of /sums and /series. */
export interface Figures {
  readonly title: string
  readonly understood: { readonly filters: Query } | null
  readonly warnings: readonly string[]
  readonly interval?: string
  readonly data: readonly Row[]
  readonly spans: readonly Row[]
  readonly undated_counts: readonly Row[]
  readonly beside: readonly Row[]
  readonly records: number
  readonly group_by: readonly string[]
  readonly measures?: Row
  readonly chosen: readonly Way[]
  readonly left_out: readonly Way[]
  readonly left_out_total: number
}

const MAX_CHOSEN = 5
const MAX_SPANS = 12
const MAX_WAYS = 20
const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested'] as const
export const COUNT_COLUMNS = COUNTS.flatMap((count) => [count, `new_${count}`, `cumulative_${count}`, `point_${count}`])

const FLAGS: Readonly<Record<string, string>> = {
  interim: 'interim: the outbreak went on after this report, or may have. The final number may be higher.',
  revision: 'revision: an earlier count was revised here.',
  base_unknown:
    'base_unknown: the first report of a series is not counted as new, because nobody knows when counting began.',
  definition_changed: 'definition_changed: the case definition changed here.',
  includes_earlier_days: 'includes_earlier_days: a new count may have cases of earlier days.',
  overlapping: 'overlapping: a report was left out because other reports cover its days.',
  inexact: 'inexact: the source says "at least", "at most" or "about".',
  in_span: 'in_span: part of these days is counted only in `spans`. Never read the row without them.',
}

/** In words for people, without words of publishers. */
export function describeMethod({ chosen, left_out_total: others }: Figures): string {
  if (chosen.length === 0) return 'There is one way to count these records, and no number was added up twice.'
  const sets =
    chosen.length === 1 ? 'one way of counting' : `one way of counting for each of ${chosen.length} groups or events`
  return `The rule for recommended answers chose ${sets} (data.chosen) and left out ${others} (data.left_out). Do not add them up.`
}

/** The flags that a reader must know. That a count is the difference of two totals is not one. */
export const withoutUsualFlags = (row: Row): Row => ({
  ...row,
  flags: (row['flags'] as readonly string[]).filter((flag) => flag in FLAGS),
})

/** How far the totals that were left out are apart. */
export function describeOthers({ left_out, left_out_total: others, data, group_by }: Figures): string[] {
  const totals = left_out.flatMap(({ counts }) => (typeof counts['cases'] === 'number' ? [counts['cases']] : []))
  if (others === 0) return []
  const range =
    data.length === 1 && totals.length > 0
      ? `; ${others > left_out.length ? 'some' : 'they'} say ${Math.min(...totals)} to ${Math.max(...totals)} cases`
      : ''
  const told = `${others} other ${others === 1 ? 'way' : 'ways'} of counting left out${range}.`
  // The service names the first of them, those of groups without a number before others.
  const isCut = group_by.length > 0 && others > left_out.length
  return isCut ? [told, 'Groups without a row may have numbers that are not listed: ask about one of them.'] : [told]
}

export function describeFlags(rows: readonly Row[]): string[] {
  const flags = new Set(rows.flatMap(({ flags: own }) => own as readonly string[]))
  const known = Object.entries(FLAGS).flatMap(([flag, words]) => (flags.has(flag) ? [words] : []))
  const hasUnknown = rows.some((row) => COUNT_COLUMNS.some((name) => row[name] === null))
  return [...known, ...(hasUnknown ? ['null is not known, and never 0.'] : [])]
}

const WAY_COLUMNS = ['event', 'words', ...COUNTS, 'days', 'reason']
const describeWays = (ways: readonly Way[]) =>
  toTable(
    ways.map(({ counts, first_day, last_day, words, ...way }) => ({
      ...way,
      ...counts,
      words: words.slice(0, 160),
      days: [first_day, last_day].filter((day) => day !== null).join(' to '),
    })),
    WAY_COLUMNS,
  )

/** What stands beside the rows: how they were counted, and what is in no row. */
export const describeRest = (figures: Figures, ways: number): Row => ({
  ...(figures.spans.length === 0
    ? {}
    : {
        spans: toTable(figures.spans.slice(0, MAX_SPANS), [
          ...figures.group_by,
          'first_day',
          'last_day',
          ...COUNT_COLUMNS,
        ]),
      }),
  ...(figures.spans.length > MAX_SPANS ? { spans_total: figures.spans.length } : {}),
  ...(figures.undated_counts.length === 0 ? {} : { undated_counts: figures.undated_counts.slice(0, MAX_SPANS) }),
  ...(figures.measures === undefined ? {} : { measures: figures.measures }),
  ...(figures.chosen.length === 0
    ? {}
    : {
        chosen: describeWays(figures.chosen.slice(0, Math.min(ways, MAX_CHOSEN))),
        ...(figures.chosen.length > Math.min(ways, MAX_CHOSEN) ? { chosen_total: figures.chosen.length } : {}),
      }),
  ...(figures.left_out_total === 0
    ? {}
    : { left_out: describeWays(figures.left_out.slice(0, ways)), left_out_total: figures.left_out_total }),
})

/** A rejection names the ways of counting, each with its numbers; those that a call can ask for are choices. */
export async function toChoice(
  access: Access,
  error: NotComparable,
  call: Call,
  resource: string,
  asked: Query,
): Promise<Draft> {
  const given = call.arguments
  const reference = given['release'] as number | string | undefined
  const { number: newest } = await readRelease(access, 'latest')
  const { number: release } = await readRelease(access, reference ?? newest)
  const base = { ...given, release }
  const [group] = (error.problem?.['group_by'] ?? []) as readonly string[]
  const ways = error.choices
  const single = ways.flatMap(({ words, counts, query, values, ...rest }): Choice[] => {
    if (query === null) return []
    const name = [rest['event'], values['event'], values['disease']].find((value) => typeof value === 'string')
    return [
      {
        words: `${name === undefined ? '' : `${name}: `}${words}`,
        counts,
        call: { tool: call.tool, arguments: narrow(base, query) },
      },
    ]
  })
  const grouped: Choice[] =
    group === undefined
      ? [{ words: 'All ways side by side', call: { tool: call.tool, arguments: { ...base, side_by_side: true } } }]
      : [{ words: `Each ${group} by itself`, call: { tool: call.tool, arguments: { ...base, group_by: group } } }]
  const isSubject = group !== undefined
  const choices = isSubject ? [...grouped, ...single.slice(0, 4)] : [...single.slice(0, 4), ...grouped]
  const rows = ways.slice(0, MAX_WAYS).map(({ words, values, counts, first_day, last_day }) => ({
    words: [values['event'], words].filter(Boolean).join(': '),
    first_day,
    last_day,
    ...counts,
  }))
  return {
    outcome: 'choose',
    release,
    newestRelease: newest,
    title: 'A question with several answers',
    resource,
    query: { ...asked, release: undefined },
    page: null,
    method: isSubject
      ? 'These records are about different things, which cannot be added together. Choose, or ask the person.'
      : 'No way of counting is clearly the best, and adding them up would count people twice. Choose, or ask the person; quote no single number without its way of counting.',
    warnings: ['There is no single right number. data.ways has each one.'],
    choices,
    data: (shown) => ({
      ways: toTable(rows.slice(0, shown), ['words', 'first_day', 'last_day', ...COUNTS]),
      ways_total: ways.length,
    }),
    rows: rows.length,
    more: (shown) => (shown < ways.length ? { left: ways.length - shown } : null),
  }
}

/** The arguments of the same query for one set: its filters replace those of the same names. */
function narrow(given: Row, query: string): Row {
  const { missing, ...filters } = toArguments(query)
  const all = [given['missing'], missing].flat().filter((name) => name !== undefined)
  return {
    ...given,
    ...filters,
    ...(all.length === 0 ? {} : { missing: [...new Set(all)].length === 1 ? all[0] : [...new Set(all)] }),
  }
}

export const isNotComparable = (error: unknown): error is NotComparable => error instanceof NotComparable
