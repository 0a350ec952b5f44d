// Reads what an answer says, compares it with the truth, and grades it.
import { isDeepStrictEqual } from 'node:util'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type Item = Record<string, Json>

interface Check {
  kind: string
  count?: string
  counts?: string[]
  member?: string
  period?: string
  field?: string
  fields?: string[]
  /** The truth has only some of the rows. */
  some?: boolean
  /** The order of the rows is part of the answer. */
  ordered?: boolean
  /** The truth is the first of the hits. */
  first?: boolean
}

export interface Question {
  number: number
  question: string
  request: { resource: string; parameters: Record<string, string | number | string[]> }
  answer: string
  check: Check
}

export interface Answer {
  status: number
  body: Item
}

/**
 * `right`: the first request gives the right answer. `refused`: it is refused, and the first choice or what the answer
 * names as left out is right. `misleading`: a number that is not the right answer. `dead_end`: nothing to go on with.
 */
export type Grade = 'right' | 'refused' | 'misleading' | 'dead_end'

const items = (value: Json | undefined) => (Array.isArray(value) ? value : []) as Item[]
const item = (value: Json | undefined) => (value ?? {}) as Item
const count = (figure: Item, member: string, name: string) => item(figure[member])[name] as number | null | undefined
const nameOf = (group: Json | undefined) => Object.values(item(group)).join()

function readNew(figures: Json | undefined, name: string): [Item, number][] {
  return items(figures).flatMap((figure) => {
    const value = count(figure, 'new', name)
    return typeof value === 'number' ? [[figure, value] as [Item, number]] : []
  })
}

const readPoints = (body: Item, name: string) =>
  Object.fromEntries(readNew(body['points'], name).map(([point, value]) => [String(point['period']), value]))
const readSpans = (body: Item, name: string) =>
  readNew(body['spans'], name).map(([span, value]) => [span['first_day'], span['last_day'], value] as Json[])
const readGroups = <Value>(body: Item, read: (group: Item) => Value) =>
  Object.fromEntries(items(body['groups']).map((group) => [nameOf(group['group']), read(group)]))
/** The rows of /sums. What has no last day is beside them, in `undated_counts`. */
const readRows = (body: Item, { counts = ['cases'], member = 'total' }: Check) => {
  const undated = items(body['undated_counts']).map((row) => ({ ...row, [member]: row['counts'] ?? null }))
  const rows: Item[] = items(body['data'])
  const isRow = (row: Item) => rows.some((each) => nameOf(each['group']) === nameOf(row['group']))
  return [...rows, ...undated.filter((row) => !isRow(row))].map(
    (row) => [nameOf(row['group']), counts.map((name) => count(row, member, name) ?? null)] as const,
  )
}

/** Numbers in any depth. */
function readNumbers(value: Json | undefined): number[] {
  if (typeof value === 'number') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(readNumbers) : []
}

/** A truth may be one of several. A row with the truth null must not be there, or have no number. */
function agrees(truth: Json | undefined, said: Json | undefined): boolean {
  const alternatives = item(truth)['one_of']
  if (Array.isArray(alternatives)) return alternatives.some((each) => agrees(each, said))
  if (truth === null || truth === undefined) return readNumbers(said).length === 0
  return isDeepStrictEqual(truth, said)
}

const agreesInAll = (truth: Json | undefined, said: Record<string, Json>, some = false) =>
  Object.entries(item(truth)).every(([name, value]) => agrees(value, said[name])) &&
  (some || Object.keys(said).every((name) => name in item(truth)))

/** One right way of counting: runs of totals, the totals of parts of the place, and totals of a period that came late. */
interface Way {
  runs: Record<string, number>[]
  parts: Record<string, number>[]
  late: Json[][]
}

const totalOn = (run: Record<string, number>, isIncluded: (day: string) => boolean) => {
  const day = Object.keys(run).filter(isIncluded).sort().at(-1)
  return day === undefined ? undefined : run[day]
}

/**
 * Every number of a curve is the difference of two totals of the table, and together they are all of it. Where the answer
 * says that a total fell (`revision`, `in_span`), only the whole counts.
 */
function agreesWithCurve(truth: Json | undefined, body: Item, name: string): boolean {
  const { ways, from, to } = truth as unknown as { ways: Way[]; from: string | null; to: string | null }
  const points = readNew(body['points'], name)
  const spans = readNew(body['spans'], name)
  const whole = [...points, ...spans].reduce((sum, [, value]) => sum + value, 0)
  return ways.some(({ runs, parts, late }) => {
    const isDifference = ([figure, value]: [Item, number], tables: readonly Record<string, number>[]) => {
      const [first, last] = [String(figure['first_day']), String(figure['last_day'])]
      return tables.some((table) => {
        const [before, after] = [totalOn(table, (day) => day < first), totalOn(table, (day) => day <= last)]
        return before !== undefined && after !== undefined && after - before === value
      })
    }
    const isLate = ([figure, value]: [Item, number]) =>
      late.some((each) => isDeepStrictEqual(each, [figure['first_day'], figure['last_day'], value]))
    const isPlain = ([point]: [Item, number]) => point['in_span'] !== true && point['revision'] !== true
    const changes = runs.map((run) => {
      const days = Object.keys(run).sort()
      // Without a report before the first day, no one knows how much of the first total is new.
      const begin = days.findLast((day) => from !== null && day < from) ?? days[0]
      const end = days.findLast((day) => to === null || day <= to) ?? begin
      return (run[end ?? ''] ?? 0) - (run[begin ?? ''] ?? 0)
    })
    const all = changes.reduce((sum, each) => sum + each, 0)
    const lateCounts = late.reduce((sum, each) => sum + Number(each[2]), 0)
    return (
      points.length + spans.length > 0 &&
      points.filter(isPlain).every((point) => isDifference(point, runs)) &&
      spans.every((span) => isLate(span) || isDifference(span, [...runs, ...parts])) &&
      [all, all + lateCounts].includes(whole)
    )
  })
}

/** The only row of /sums, or everything that a series has. */
function readTotal(body: Item, names: readonly string[]): Record<string, Json> | null {
  const rows = items(body['data'])
  if (rows.length > 1) return null
  return Object.fromEntries(names.map((name) => [name, (rows[0] && count(rows[0], 'total', name)) ?? null]))
}

/** Does the answer say the truth? */
function isRight(check: Check, truth: Json | undefined, body: Item): boolean {
  const { kind, some, count: name = 'cases' } = check
  const data = items(body['data'])
  switch (kind) {
    case 'curve':
      return agreesWithCurve(truth, body, name)
    case 'curves': {
      const groups = new Map(items(body['groups']).map((group) => [nameOf(group['group']), group]))
      const wanted = Object.entries(item(truth))
      return (
        groups.size === wanted.length &&
        wanted.every(([each, own]) => agreesWithCurve(own, groups.get(each) ?? {}, name))
      )
    }
    case 'points':
      return readSpans(body, name).length === 0 && agreesInAll(truth, readPoints(body, name))
    case 'groups':
      return agreesInAll(
        truth,
        readGroups(body, (group) => readPoints(group, name)),
      )
    case 'sources': {
      const groups = readGroups(body, (group) => readNumbers([readPoints(group, name), readSpans(group, name)]))
      const said = Object.values(groups).flat()
      const wanted = item(truth)
      return (
        isDeepStrictEqual(Object.keys(groups).sort(), Object.keys(item(wanted['sources'])).sort()) &&
        (wanted['cases'] as number[]).every((each) => said.includes(each)) &&
        items(body['range']).length > 0
      )
    }
    case 'flow': {
      const { points, spans } = truth as unknown as { points: Item; spans: Json[][] }
      const said = readSpans(body, name)
      const isSaid = (span: Json[]) => said.some((each) => isDeepStrictEqual(span, each))
      const isAll = some || said.length === spans.length
      return isAll && spans.every(isSaid) && agreesInAll(points, readPoints(body, name), some)
    }
    case 'total': {
      const { contradicting: _, ...counts } = item(truth)
      const said = readTotal(body, Object.keys(counts))
      return said !== null && Object.keys(counts).length > 0 && agreesInAll(counts, said)
    }
    case 'rows': {
      const rows = readRows(body, check)
      if (check.ordered) {
        // Rows with equal numbers may be in any order.
        const sort = (list: Json) => (list as [string, number[]][]).map(([each, [value]]) => `${value} ${each}`).sort()
        const values = rows.map(([, [value]]) => value)
        return (
          isDeepStrictEqual(sort(rows as unknown as Json), sort(truth ?? [])) &&
          isDeepStrictEqual(
            values,
            (truth as unknown as [string, number[]][]).map(([, [value]]) => value),
          )
        )
      }
      return agreesInAll(truth, Object.fromEntries(rows), some)
    }
    case 'events':
      return isDeepStrictEqual(data.map(({ event }) => String(event)).sort(), truth)
    case 'headlines': {
      const lines = data.map(({ event, headline }) => [event, item(headline)['cases'], item(headline)['deaths']])
      return isDeepStrictEqual(lines.slice(0, (truth as Json[]).length), truth)
    }
    case 'vintages': {
      const rows = data.filter(({ period }) => period === check.period)
      return agreesInAll(truth, Object.fromEntries(rows.map(({ release, new: value }) => [release, value ?? null])))
    }
    case 'changes': {
      const counts: Record<string, Json> = { added: 0, corrected: 0, withdrawn: 0 }
      for (const { change } of data) counts[String(change)] = Number(counts[String(change)]) + 1
      return agreesInAll(truth, counts)
    }
    case 'search': {
      const values = data.map(({ value }) => value)
      const lists = (item(truth)['one_of'] ?? [truth ?? null]) as Json[][]
      return lists.some((list) => (check.first ? values[0] === list[0] : list.every((each) => values.includes(each))))
    }
    case 'facet': {
      const values = items(item(body[check.field ?? ''])['values'])
      return agreesInAll(
        truth,
        Object.fromEntries(values.map(({ value, records }) => [String(value), records ?? null])),
      )
    }
    case 'coverage': {
      const periods = (row: Item) =>
        Object.fromEntries(items(row['periods']).map(({ period, records }) => [String(period), records ?? null]))
      return agreesInAll(truth, Object.fromEntries(data.map((row) => [String(row['value']), periods(row)])), true)
    }
    case 'records':
      return isDeepStrictEqual(
        data.map((record) => (check.fields ?? []).map((field) => record[field])),
        truth,
      )
    case 'members':
      return agreesInAll(truth, body, true)
    case 'versions': {
      const said = data.map((each) => [each['from_release'], each['to_release'], item(each['record'])['cases']])
      return isDeepStrictEqual(said, truth)
    }
    case 'releases': {
      const columns = ['records', 'added', 'corrected', 'withdrawn']
      return agreesInAll(
        truth,
        Object.fromEntries(data.map((row) => [String(row['number']), columns.map((each) => row[each] ?? null)])),
      )
    }
    case 'citation': {
      const sources = items(body['sources']).map(({ source_name, records }) => [source_name, records])
      return agreesInAll(truth, { sources: Object.fromEntries(sources), release: body['release'] ?? null })
    }
    case 'per_100k':
      return items(body['data']).some(
        (row) =>
          Math.abs(Number(row['cases_per_100000']) / Number(item(truth)['per_100k']) - 1) < 0.01 &&
          typeof row['inhabitants_source'] === 'string' &&
          typeof row['inhabitants_year'] === 'number',
      )
    default:
      throw new Error(`there is no check ${kind}`)
  }
}

/** The sources contradict each other, and the answer has all their numbers. */
function tellsContradiction(truth: Json | undefined, { status, body }: Answer): boolean {
  const numbers = Array.isArray(truth) ? undefined : item(truth)['contradicting']
  const said = readNumbers(body['choices'])
  return status === 400 && Array.isArray(numbers) && numbers.every((each) => said.includes(each as number))
}

/** The sources of an event contradict each other: it is left out of the numbers, and named. */
const DOUBTS = new Set<Json | undefined>(['people', 'place', 'places', 'count', 'status', 'days'])

/** What is missing in the answer is named as left out for a doubt, with its right numbers. The rest is right. */
function namesLeftOut(check: Check, truth: Json | undefined, body: Item): boolean {
  const { kind, count: name = 'cases' } = check
  const doubts = items(body['left_out']).filter(({ because }) => DOUBTS.has(because))
  const inDoubt = (numbers: readonly number[], group?: string) => {
    const named = doubts.filter((each) => group === undefined || Object.values(each).includes(group))
    const said = named.flatMap(({ counts }) => readNumbers(counts))
    return numbers.length > 0 && numbers.some((each) => said.includes(each))
  }
  if (kind === 'rows' && !check.ordered) {
    const said: Record<string, Json> = Object.fromEntries(readRows(body, check))
    return Object.entries(item(truth)).every(([group, value]) => {
      if (agrees(value, said[group])) return true
      const [given = 0] = readNumbers(said[group])
      return inDoubt(
        readNumbers(value).map((each) => each - given),
        group,
      )
    })
  }
  if (kind !== 'flow') return false
  const { points, spans } = truth as unknown as { points: Item; spans: Json[][] }
  const [saidPoints, saidSpans] = [readPoints(body, name), readSpans(body, name)]
  return (
    Object.entries(points).every(
      ([period, value]) =>
        agrees(value, saidPoints[period]) ||
        inDoubt(readNumbers(value).map((each) => each - (saidPoints[period] ?? 0))),
    ) && spans.every((span) => saidSpans.some((each) => isDeepStrictEqual(each, span)) || inDoubt([Number(span[2])]))
  )
}

/** `follow` asks the first choice of a rejection. */
export async function grade(
  { check }: Pick<Question, 'check'>,
  truth: Json | undefined,
  answer: Answer,
  follow: (url: string) => Promise<Answer>,
): Promise<Grade> {
  if (tellsContradiction(truth, answer)) return 'right'
  if (answer.status === 200) {
    if (isRight(check, truth, answer.body)) return 'right'
    if (namesLeftOut(check, truth, answer.body)) return 'refused'
    // A search without a hit suggests values.
    if (check.kind === 'search' && isRight(check, truth, { data: answer.body['suggestions'] ?? [] })) return 'refused'
    const hasNumbers = ['data', 'points', 'spans', 'groups'].some((member) => items(answer.body[member]).length > 0)
    return hasNumbers ? 'misleading' : 'dead_end'
  }
  const url = items(answer.body['choices'])[0]?.['url']
  if (typeof url !== 'string') return 'dead_end'
  const next = await follow(url)
  return next.status === 200 && isRight(check, truth, next.body) ? 'refused' : 'dead_end'
}
