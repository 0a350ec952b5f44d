// Several groups as lines on one scale, or each in a picture of its own; totals without a curve as lines over their days.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Counts, Point, Release, Series, Span } from '../../../clients/typescript/src/client.ts'
import { type Line, Lines } from '../charts/lines.tsx'
import { TipText } from '../charts/plot.tsx'
import { toDay } from '../charts/scales.ts'
import { Spark } from '../charts/spark.tsx'
import { Totals } from '../charts/totals.tsx'
import { capitalise, formatDays, formatNumber, formatRate } from '../format.ts'
import { Stage } from '../parts/stage.tsx'
import { Table } from '../parts/table.tsx'
import type { Interval } from '../requests.ts'
import { view } from '../state.ts'
import { texts } from '../texts.ts'
import { useCitation } from '../use-event.ts'
import { describeInhabitants, rateOf, whyNone, whyNoRate } from './rates.ts'

export interface Group {
  readonly name: string
  readonly points: readonly Point[]
  readonly spans: readonly Span[]
  readonly undated: Counts | null
}

interface CompareStageProps {
  readonly groups: readonly Group[]
  readonly interval: Interval
  readonly current: Release
  readonly title: string
  readonly above: ComponentChildren
  readonly controls: ComponentChildren
  /** Of counts per 100,000 inhabitants; null for the counts themselves. */
  readonly measures: Series['measures'] | null
}

/** More lines than these cannot be told apart. */
const MOST_LINES = 6

/** The mean of the last periods, where all of them are known: computed here, not by the service. */
function movingAverage(values: readonly (number | null)[], periods: number): (number | null)[] {
  return values.map((_, i) => {
    const part = values.slice(i - periods + 1, i + 1)
    const known = part.filter((value) => value !== null)
    return i + 1 < periods || known.length < periods ? null : known.reduce((a, b) => a + b, 0) / periods
  })
}

export function CompareStage({ groups, interval, current, title, above, controls, measures }: CompareStageProps) {
  const { count, kind, align, scale, layout, average } = view.value
  const [svg, setSvg] = useState<SVGSVGElement | null>(null)
  const [isSaving, setSaving] = useState(false)
  const citation = useCitation(current.number, isSaving)
  const isRate = measures !== null
  const valueOf = (point: Point) => (isRate ? rateOf(point, count) : point[kind][count])
  const curves = groups.filter(({ points }) => points.filter((point) => valueOf(point) !== null).length >= 3)
  const without = groups.flatMap(({ name, points }) => {
    const why = measures === null ? '' : whyNone(points, count, measures)
    return why === '' ? [] : [`${name}: no rate. ${why} `]
  })
  const inhabitants =
    measures === null
      ? ''
      : describeInhabitants(
          curves.flatMap(({ points }) => points),
          measures,
        )
  const isTotals = curves.length === 0
  const lines = curves.map((group): Line => {
    const values = movingAverage(group.points.map(valueOf), Number(average))
    const first = group.points.find((point) => (valueOf(point) ?? 0) > 0)
    const start = align === 'first' && first !== undefined ? toDay(first.first_day) : 0
    return {
      name: group.name,
      points: group.points
        .map((point, i) => ({
          from: toDay(point.first_day) - start,
          to: toDay(point.last_day) + 1 - start,
          value: values[i] ?? null,
          title: formatDays(point.first_day, point.last_day),
        }))
        .filter(({ from }) => align === 'date' || from >= 0),
    }
  })
  const largest = lines.toSorted((a, b) => peak(b) - peak(a)).slice(0, MOST_LINES)
  const drawn = lines.length > MOST_LINES ? lines.filter((line) => largest.includes(line)) : lines
  const unit = `${texts.kinds[kind]} ${texts.counts[count]}${isRate ? ' per 100,000 inhabitants' : ''}`
  const heading = isTotals
    ? `${capitalise(texts.counts[count])}, each total over its days`
    : capitalise(`${unit} by ${texts.interval[interval]}`)
  return (
    <Stage
      title={heading}
      sub={
        <>
          {average !== '1' && <b>Moving average of {average} periods, computed here. </b>}
          {!isTotals &&
            layout === 'one' &&
            'A line breaks where nothing is known, or where the source took cases back. '}
          {lines.length > drawn.length &&
            layout === 'one' &&
            `The ${MOST_LINES} largest of ${lines.length}; Side by side shows all. `}
          {without}
          {curves.length + without.length < groups.length &&
            !isTotals &&
            `${groups.length - curves.length - without.length} without a curve: see the totals. `}
        </>
      }
      above={above}
      controls={isTotals && !isRate ? undefined : controls}
      source={`Data in release ${current.number}${inhabitants && `. Inhabitants: ${inhabitants}`}`}
      svg={layout === 'one' || isTotals ? svg : null}
      pictureTitle={`${title}: ${heading}`}
      citation={
        citation.isWaiting || citation.value === undefined
          ? null
          : `${citation.value}${inhabitants && ` Inhabitants: ${inhabitants}.`}`
      }
      onSave={() => setSaving(true)}
      table={() => <PointTable groups={groups} measures={measures} />}
    >
      {isTotals ? (
        <div class="lassa-body">
          <Totals
            rows={groups.flatMap((group) => toTotal(group, count))}
            unit={texts.counts[count]}
            label={heading}
            onDraw={setSvg}
          />
        </div>
      ) : layout === 'each' ? (
        <div class="cards lassa-body">
          {curves.map((group) => (
            <article class="card" key={group.name}>
              <h3>{group.name}</h3>
              <Spark
                bars={group.points.map((point) => ({
                  first: point.first_day,
                  last: point.last_day,
                  value: valueOf(point),
                }))}
              />
            </article>
          ))}
        </div>
      ) : (
        <div class="lassa-body">
          <Lines
            lines={drawn}
            label={`${title}: ${heading}`}
            unit={unit}
            isLog={scale === 'log'}
            isRate={isRate}
            isSince={align === 'first'}
            tip={(rows, days) => (
              <TipText
                title={days}
                rows={rows
                  .toSorted((a, b) => (b[1] ?? -1) - (a[1] ?? -1))
                  .map(
                    ([name, value]) =>
                      [
                        name,
                        value === null ? 'unknown' : isRate ? formatRate(value) : formatNumber(Math.round(value)),
                      ] as const,
                  )}
              />
            )}
            onDraw={setSvg}
          />
        </div>
      )}
    </Stage>
  )
}

const peak = ({ points }: Line): number => points.reduce((a, { value }) => Math.max(a, value ?? 0), 0)

function toTotal({ name, points, spans, undated }: Group, count: keyof Counts) {
  const span = spans.findLast(({ new: news }) => news[count] !== null)
  const point = points.findLast(({ cumulative, new: news }) => cumulative[count] !== null || news[count] !== null)
  const value = point?.cumulative[count] ?? span?.new[count] ?? point?.new[count] ?? undated?.[count] ?? null
  if (value === null) return []
  const [first, last] = [span?.first_day ?? point?.first_day ?? null, span?.last_day ?? point?.last_day ?? null]
  const [source = '', ...what] = name.split(': ')
  return [{ key: name, name: source, what: what.join(': '), first, last, value, isOpen: false }]
}

function PointTable({ groups, measures }: Pick<CompareStageProps, 'groups' | 'measures'>) {
  const { kind, count } = view.value
  const writeRate = (point: Point) => {
    const rate = rateOf(point, count)
    return rate === null ? `– ${whyNoRate(point, count, measures ?? undefined)}` : formatRate(rate)
  }
  return (
    <Table
      label="The same as a table"
      class="points"
      columns={[
        'Group',
        'Period',
        { name: capitalise(texts.counts[count]), isNumber: true },
        { name: 'Reports', isNumber: true },
        ...(measures === null ? [] : [{ name: 'Per 100,000', isNumber: true }]),
      ]}
    >
      {groups.flatMap(({ name, points, spans }) => [
        ...points.map((point) => (
          <tr key={`${name} ${point.period}`}>
            <td>{name}</td>
            <th scope="row">{formatDays(point.first_day, point.last_day)}</th>
            <td class="r">{point[kind][count] === null ? '–' : formatNumber(point[kind][count])}</td>
            <td class="r">{formatNumber(point.records)}</td>
            {measures !== null && <td class="r">{writeRate(point)}</td>}
          </tr>
        )),
        ...(kind === 'new' ? spans : []).map((span) => (
          <tr key={`${name} ${span.first_day} ${span.last_day}`}>
            <td>{name}</td>
            <th scope="row">{formatDays(span.first_day, span.last_day)}</th>
            <td class="r">{span.new[count] === null ? '–' : formatNumber(span.new[count])}</td>
            <td class="r">{formatNumber(span.records)}</td>
            {measures !== null && <td class="r">–</td>}
          </tr>
        )),
      ])}
    </Table>
  )
}

export function TotalTable({ groups, by }: { groups: readonly Group[]; by: string }) {
  const total = ({ points, spans }: Group, count: 'cases' | 'deaths'): string => {
    const last = points.findLast((point) => point.cumulative[count] !== null)
    const known = [...points, ...spans].map(({ new: news }) => news[count]).filter((value) => value !== null)
    if (last?.cumulative[count] != null) return formatNumber(last.cumulative[count])
    return known.length === 0 ? '–' : formatNumber(known.reduce((a, b) => a + b))
  }
  const most = ({ points }: Group) => points.reduce((a, { new: news }) => Math.max(a, news.cases ?? 0), 0)
  return (
    <section class="section" aria-labelledby="totals">
      <h2 id="totals">Totals</h2>
      <Table
        label="Totals"
        class="under totals"
        columns={[
          by.slice(0, 1).toUpperCase() + by.slice(1),
          { name: 'Cases', isNumber: true },
          { name: 'Deaths', isNumber: true },
          { name: 'Most in a period', isNumber: true },
          { name: 'Periods revised', isNumber: true },
        ]}
      >
        {groups.map((group) => (
          <tr key={group.name}>
            <th scope="row">{group.name}</th>
            <td class="r">{total(group, 'cases')}</td>
            <td class="r">{total(group, 'deaths')}</td>
            <td class="r">{formatNumber(most(group))}</td>
            <td class="r">{formatNumber(group.points.filter(({ revision }) => revision).length)}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
