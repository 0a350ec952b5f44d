// Figures from the column index of random records are those of the pure arithmetic, and every limit is enforced.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import sql, { join } from 'sql-template-tag'
import { readTexts } from '../../../../src/api/figures/figure-columns.ts'
import { parseFigureRequest } from '../../../../src/api/figures/figure-request.ts'
import { type FigureLimits, readFigures } from '../../../../src/api/figures/read-figures.ts'
import { column } from '../../../../src/columns/tables.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { INTERVALS, type Interval, periodOf } from '../../../../src/methods/calendar.ts'
import { summariseSeries } from '../../../../src/methods/event-summary.ts'
import { ALL_DAYS, type Explanation, ONE_PERIOD, sumKnown } from '../../../../src/methods/figures.ts'
import {
  hasSeries,
  type RecordSeries,
  type Row,
  type SeriesDataset,
  seriesColumns,
  toSeries,
} from '../../../../src/methods/record-series.ts'
import { openDatabase } from '../../../../src/platform/postgres/database.ts'
import { Problem } from '../../../../src/platform/problem.ts'
import { publishRelease } from '../../../../src/publish/publish.ts'
import { loadPublishedReleases, type PublishedRelease } from '../../../../src/storage/published-releases.ts'
import { createTestDatabase } from '../../../database.ts'
import { openTestIndex } from '../../../fixtures/column-index.ts'
import { computeFigures } from '../../../fixtures/compute-figures.ts'
import { writeNdjson } from '../../../fixtures/releases.ts'
import { createDraw } from '../../../oracle/draw.ts'
import { drawHostileRows } from '../../../oracle/hostile-records.ts'

assert.ok(hasSeries(hedOutbreaks))
const dataset: SeriesDataset = hedOutbreaks
const { comparison, counts } = dataset.series
/** The series of one such group are comparable: each place that may contain others has a country code of its own. */
const groupBy = [...comparison.separate, ...comparison.addable, ...comparison.parts, 'country_code']
const draw = createDraw()

const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
const index = openTestIndex(database, dataset)
after(async () => {
  await index.close()
  await database.close()
})
let release: PublishedRelease
let rowsOfSeries: Row[][] = []
let series: RecordSeries[] = []

before(async () => {
  await publishRelease(database, dataset, await writeNdjson(drawHostileRows(draw, 120)))
  release = (await loadPublishedReleases(database)).get(dataset.name)?.[0] as PublishedRelease
  rowsOfSeries = [...Map.groupBy(await readRows(), (row) => row[dataset.series.id]).values()]
  series = rowsOfSeries.map((rows) => toSeries(dataset, rows))
})

/** The records as the publisher reads them. */
const readRows = () =>
  index.read(release, async (snapshot): Promise<Row[]> => {
    const names = seriesColumns(dataset)
    const isDate = (name: string) => dataset.fields.find((field) => field.name === name)?.kind === 'date'
    const columns = names.map((name) => (isDate(name) ? sql`${column(name)}::VARCHAR` : column(name)))
    const found = await snapshot.query(sql`select ${join(columns)} from ${snapshot.rows} order by id`)
    const coded = names
      .map((name, i) => ({ name, values: found.map((row) => row[i]) }))
      .filter(({ name }) => !isDate(name))
    const decode = await readTexts(dataset, snapshot, coded)
    return found.map((row) => Object.fromEntries(names.map((name, i) => [name, decode(name, row[i])])))
  })

const ask = (query: Record<string, unknown>, interval: Interval | null, limits?: FigureLimits) =>
  readFigures(index, { dataset, release, interval, request: parseFigureRequest(dataset, query) }, limits)

const drawDay = () => new Date(Date.UTC(2020, 9, 20) + draw.below(180) * 86_400_000).toISOString().slice(0, 10)
const drawWindow = () => {
  const [first = '', last = ''] = [drawDay(), drawDay()].sort()
  return { ...(draw.chance(0.6) ? { date_from: first } : {}), ...(draw.chance(0.6) ? { date_to: last } : {}) }
}

describe('figures from the index are those of the pure arithmetic', () => {
  for (const interval of [...INTERVALS, null])
    test(`by ${interval ?? 'no interval'}`, async () => {
      for (let round = 0; round < 3; round++) {
        const query = drawWindow()
        const { window } = parseFigureRequest(dataset, query)
        const { groups: found } = await ask({ ...query, group_by: groupBy, explain: true }, interval)
        const keyOf = (read: (field: string) => unknown) => JSON.stringify(groupBy.map((field) => read(field) ?? null))
        const expected = Map.groupBy(series, ({ read }) => keyOf(read))
        for (const { group, figures, spans } of found) {
          const members = expected.get(keyOf((field) => group.get(field))) ?? []
          // Places that a list names are left out. The second program of test/oracle compares that.
          if (members.some(({ listsPlaces }) => listsPlaces)) continue
          const isInWindow = ({ day }: { day: number }) => day >= window.from && day <= window.to
          const isCounted = members.some(({ counted }) => counted.some(isInWindow))
          assert.deepEqual(
            figures,
            computeFigures(isCounted ? members : members.map((one) => ({ ...one, steps: [] })), {
              ...{ counts: counts.length, window },
              periodOf: (day) => (interval === null ? ONE_PERIOD : periodOf(interval, day)),
            }),
            JSON.stringify([query, [...group]]),
          )
          // Every new count is in a figure or in a span.
          for (const [i] of counts.entries()) {
            const explained: readonly Explanation[] = figures.flatMap(({ explanations }) => explanations ?? [])
            const inSpans = explained.map(({ rules, new: own }) => (rules[i] === 'span' ? (own[i] ?? null) : null))
            assert.equal(sumKnown(spans.map((span) => span.new[i] ?? null)), sumKnown(inSpans))
          }
        }
        const withRecords = [...expected.values()].filter((members) =>
          members.some(
            ({ records, undated }) =>
              undated.length > 0 || records.some(({ day }) => day >= window.from && day <= window.to),
          ),
        )
        assert.equal(found.length, withRecords.length, JSON.stringify(query))
      }
    })
})

test('the summary of a series has the sums of its figure for all days', () => {
  const unknown = counts.map(() => null)
  for (const [i, rows] of rowsOfSeries.entries()) {
    const summary = summariseSeries(dataset, rows)
    const one = [series[i] as RecordSeries]
    const [figure] = computeFigures(one, { counts: counts.length, window: ALL_DAYS, periodOf: () => ONE_PERIOD })
    const expected = [figure?.new ?? unknown, figure?.cumulative ?? unknown]
    assert.deepEqual([summary.new, summary.cumulative], expected)
  }
})

describe('a question that is too large is refused', () => {
  const many: FigureLimits = { figures: 1e6, explained: 1e6, placed: 1e6 }
  const refusedFor = async (query: Record<string, unknown>, limits: FigureLimits) => {
    const error: unknown = await ask({ group_by: groupBy, ...query }, 'day', limits).catch((reason: unknown) => reason)
    assert.ok(error instanceof Problem)
    return [error.code, error.parameter]
  }
  test('with too many figures', async () => {
    assert.deepEqual(await refusedFor({}, { ...many, figures: 10 }), ['invalid_parameter', 'group_by'])
  })
  test('with too many records to explain', async () => {
    assert.deepEqual(await refusedFor({ explain: true }, { ...many, explained: 10 }), ['invalid_parameter', 'explain'])
  })
  test('with too many series of a place', async () => {
    assert.deepEqual(await refusedFor({ place: 'world' }, { ...many, placed: 10 }), ['invalid_parameter', 'place'])
  })
})
