// Reads the answer of a tool as an answer of the service, so that the graders of test/questions can compare it with the truth.
import type { Envelope } from '../../clients/mcp/src/envelope.ts'
import type { Answer, Item, Json, Question } from '../questions/grade.ts'

interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly Json[][]
}

export const readRows = (table: unknown): Item[] => {
  const { columns = [], rows = [] } = (table ?? {}) as Partial<Table>
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null])))
}

const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested']
const counts = (row: Item, prefix: string): Item =>
  Object.fromEntries(
    COUNTS.flatMap((name) => (`${prefix}${name}` in row ? [[name, row[`${prefix}${name}`] ?? null]] : [])),
  )
const hasFlag = (row: Item, flag: string) =>
  String(row['flags'] ?? '')
    .split(' ')
    .includes(flag)

/** What was left out, with the reason as the code that the service has for it. */
const leftOut = ({ data }: Envelope): Item[] =>
  readRows(data['left_out']).map((way) => ({
    ...way,
    counts: counts(way, ''),
    because: becauseOf(String(way['reason'])),
  }))
const becauseOf = (reason: string) =>
  reason.startsWith('Nothing is chosen') ? 'count' : reason.startsWith('A larger event') ? 'people' : 'other'

/** `source` is the service's own answer at the address of the answer: it has the days of each period. */
export function readAnswer({ request, check }: Question, answer: Envelope, rows: Item[], source: Item): Answer {
  const { data } = answer
  if (answer.outcome === 'choose' && request.resource !== 'search') {
    const ways = readRows(data['ways'])
    const choices = (answer.choices ?? []).map((choice, i) => ({
      url: String(i),
      counts: (choice.counts ?? {}) as Item,
    }))
    return {
      status: 400,
      body: { choices: [...choices, ...ways.map((way) => ({ url: '', counts: counts(way, '') }))] },
    }
  }
  const body: Item = { left_out: leftOut(answer) }
  const given = (source['data'] ?? []) as Item[]
  switch (request.resource) {
    case 'series': {
      const groupBy = (source['group_by'] ?? []) as string[]
      const keyOf = (row: Item) => [...groupBy, 'period'].map((name) => row[name]).join('|')
      const days = new Map(given.map((row) => [keyOf(row), row]))
      const toPoint = (row: Item): Item => ({
        period: row['period'] ?? null,
        first_day: days.get(keyOf(row))?.['first_day'] ?? null,
        last_day: days.get(keyOf(row))?.['last_day'] ?? null,
        new: counts(row, 'new_'),
        in_span: hasFlag(row, 'in_span'),
        revision: hasFlag(row, 'revision'),
      })
      const toSpan = (row: Item): Item => ({ ...row, new: counts(row, 'new_') })
      const spans = readRows(data['spans'])
      if (groupBy.length === 0)
        return { status: 200, body: { ...body, points: rows.map(toPoint), spans: spans.map(toSpan) } }
      const nameOf = (row: Item) => groupBy.map((name) => String(row[name])).join()
      const names = [...new Set([...rows, ...spans].map(nameOf))]
      const groups = names.map((name) => ({
        group: { name },
        points: rows.filter((row) => nameOf(row) === name).map(toPoint),
        spans: spans.filter((row) => nameOf(row) === name).map(toSpan),
      }))
      return { status: 200, body: { ...body, groups, range: check.kind === 'sources' ? [{}] : [] } }
    }
    case 'sums': {
      const groupBy = (source['group_by'] ?? []) as string[]
      const toRow = (row: Item): Item => ({
        ...row,
        group: Object.fromEntries(groupBy.map((name) => [name, row[name] ?? null])),
        total: counts(row, ''),
        new: { ...counts(row, ''), ...counts(row, 'new_') },
      })
      const undated = (data['undated_counts'] ?? []) as Item[]
      return {
        status: 200,
        body: {
          ...body,
          data: rows.map(toRow),
          undated_counts: undated.map((row) => ({ ...toRow(row), counts: counts(row, '') })),
        },
      }
    }
    case 'events': {
      const one = 'event' in data ? [data as Item] : rows
      return {
        status: 200,
        body: {
          data: one.map((row) => ({
            event: row['event'] ?? null,
            headline: { cases: row['cases'] ?? null, deaths: row['deaths'] ?? null },
          })),
        },
      }
    }
    case 'search':
      return { status: 200, body: answer.outcome === 'answer' ? { data: rows } : { data: [], suggestions: rows } }
    case 'vintages': {
      const versions = rows.flatMap(({ period, ...releases }) =>
        Object.entries(releases).map(
          ([name, value]): Item => ({ period: period ?? null, release: name.replace('release_', ''), new: value }),
        ),
      )
      return { status: 200, body: { data: versions.filter(({ new: value }) => value !== null) } }
    }
    case 'changes': {
      const changes = Object.entries((data['changes'] ?? {}) as Record<string, number>)
      return {
        status: 200,
        body: { data: changes.flatMap(([change, n]) => Array.from({ length: n }, () => ({ change }))) },
      }
    }
    case 'facets':
      return { status: 200, body: { [check.field ?? '']: { values: rows } } }
    case 'citation':
      return { status: 200, body: { release: answer.release, sources: readRows(data['sources']) } }
    case 'outbreaks/1/history':
      return { status: 200, body: { data: rows.map((row) => ({ ...row, record: row })) } }
    case 'outbreaks/1':
      return { status: 200, body: rows[0] ?? {} }
    case 'releases/latest':
      return { status: 200, body: rows[0] ?? {} }
    default:
      return { status: 200, body: { data: rows } }
  }
}
