// The curve of an event with its places, over the outline of another release, and the releases as stops below it.
import { useState } from 'preact/hooks'
import type { EventSummary, Release, Series, Vintages } from '../../../clients/typescript/src/client.ts'
import type { View } from '../address.ts'
import { Curve } from '../charts/curve.tsx'
import { TipText } from '../charts/plot.tsx'
import { barsOfRelease, type PeriodBar, toBars, toSpans } from '../curve-bars.ts'
import { capitalise, countOf, formatDay, formatDays, formatNumber, formatPeriod } from '../format.ts'
import { totalOf } from '../forms.ts'
import { sourceWord, statusWord } from '../labels.ts'
import { type Mark, marksOf } from '../marks.ts'
import { Segmented, Select } from '../parts/choose.tsx'
import { Stage } from '../parts/stage.tsx'
import { Table } from '../parts/table.tsx'
import { mainDayOf, type Period, partsOf } from '../places/place-curves.ts'
import { PlacesPanel } from '../places/places.tsx'
import { usePlaces } from '../places/use-places.ts'
import { setView, view } from '../state.ts'
import { texts } from '../texts.ts'
import { type Shown, useCitation } from '../use-event.ts'
import { CurveOptions } from './curve-options.tsx'
import { writeNotes } from './notes.ts'
import { dateTypeWords, explainMarks, listSources, nameCurve } from './picture-words.ts'
import { ShownLine } from './shown.tsx'
import { TimeMachine } from './time-machine.tsx'

interface CurveStageProps {
  readonly summary: EventSummary
  readonly series: Series
  readonly shown: Shown
  readonly vintages: Vintages | undefined
  readonly releases: readonly Release[]
  readonly current: Release
}

/** How it was counted, if all of it was counted in one way. */
export function statusOf(series: Series, summary: EventSummary): string {
  const [first] = series.chosen
  const [figure] = summary.figures ?? []
  if (series.chosen.length === 1) return statusWord(first?.values['case_status'])
  return summary.figures?.length === 1 ? statusWord(figure?.['case_status']) : 'cases'
}

/** Of a period, in the card beside the pointer. */
const MAX_PLACES = 3

export function CurveStage({ summary, series, shown, vintages, releases, current }: CurveStageProps) {
  const { count, kind, scale, compare } = view.value
  const { interval } = shown
  const week = interval === 'epiweek' ? 'epiweek' : 'isoweek'
  const [svg, setSvg] = useState<SVGSVGElement | null>(null)
  const [isSaving, setSaving] = useState(false)
  const citation = useCitation(current.number, isSaving)
  const [chosen] = series.chosen
  const first = chosen?.first_day ?? summary.first_day ?? ''
  const last = chosen?.last_day ?? summary.last_day ?? ''
  const bars = toBars(series.points ?? [], view.value, first, last)
  const spans = toSpans(series, view.value, interval)
  const otherOf = (release: number | null) =>
    release === null || release === current.number || vintages === undefined
      ? []
      : barsOfRelease(vintages, release, bars, view.value)
  const other = otherOf(compare)
  const places = usePlaces(summary, series, shown, current.number)
  /** What the card beside the pointer says about a period, and the keyboard too. */
  const describe = (bar: Period & { period: string }) => {
    const parts = kind === 'new' ? partsOf(places.curves, bar, count).filter(({ value }) => value !== 0) : []
    const day = kind === 'new' ? mainDayOf(places.curves, bar, count) : null
    const was = compare === null ? undefined : other.find(({ period }) => period === bar.period)
    return {
      reports: countOf(pointOf(bars, bar.period)?.records ?? 0, 'report'),
      rows: [
        ...(was === undefined ? [] : [[`In release ${compare}`, was.value === null ? '–' : formatNumber(was.value)]]),
        ...parts.slice(0, MAX_PLACES).map(({ code, value }) => [places.nameOf(code), formatNumber(value)]),
      ] as [string, string][],
      words: [
        ...(day === null
          ? []
          : [`${formatNumber(day.value)} ${texts.counts[count]} dated ${formatDay(day.code ?? '')}`]),
        ...marksIn(bars, bar.period, view.value).map((mark) => texts.marks[mark]),
      ],
    }
  }
  const fixed = vintages === undefined ? [] : otherOf(releases.at(-1)?.number ?? null)
  const { title, unit } = nameCurve({ count, kind, interval, status: statusOf(series, summary) })
  const dateType = chosen?.values['date_type'] ?? summary.figures?.[0]?.['date_type']
  const isOutlined = compare !== null && other.length > 0
  const sources = [
    ...new Set(
      (series.chosen.length > 0 ? series.chosen.map(({ values }) => values['source_name']) : summary.sources).map(
        sourceWord,
      ),
    ),
  ]
  return (
    <Stage
      title={title}
      sub={
        <>
          {dateTypeWords(dateType)}{' '}
          {isOutlined && `Bars: release ${current.number}. Outline: release ${compare}, where it differs. `}
          {explainMarks({ bars, spans, isLog: scale === 'log' })}
        </>
      }
      above={<ShownLine series={series} form="curve" source={sources.length === 1 ? sources[0] : undefined} />}
      controls={
        <>
          <Segmented
            label="Period"
            value={interval === 'day' ? week : interval}
            options={[week, 'month', 'year'] as const}
            names={{ isoweek: 'Week', epiweek: 'Week', month: 'Month', year: 'Year' }}
            onChoose={(chosenInterval) => setView({ interval: chosenInterval })}
          />
          <Select
            label="Compare"
            value={String(compare ?? '')}
            options={[
              '',
              ...releases
                .filter(({ number }) => number !== current.number)
                .map(({ number }) => String(number))
                .toReversed(),
            ]}
            names={Object.fromEntries([
              ['', 'No release'],
              ...releases.map(({ number }) => [String(number), `Release ${number}`]),
            ])}
            onChoose={(release) => setView({ compare: release === '' ? null : Number(release) })}
          />
          <CurveOptions summary={summary} interval={interval} />
        </>
      }
      source={`${listSources(sources)}, release ${current.number}`}
      svg={svg}
      pictureTitle={`${summary.title}: ${title}`}
      citation={citation.isWaiting ? null : (citation.value ?? null)}
      onSave={() => setSaving(true)}
      table={() => <PointTable bars={bars} spans={spans} other={other} otherRelease={compare} view={view.value} />}
      below={<TimeMachine releases={releases} current={current} vintages={vintages} total={totalOf(series, count)} />}
    >
      <div class={shown.places === null ? 'stage-grid only' : 'stage-grid'}>
        <div>
          <Curve
            bars={bars}
            other={other}
            spans={spans}
            fixed={fixed}
            notes={writeNotes(bars, {
              count,
              kind,
              interval,
              last,
              other,
              otherRelease: compare,
              curves: places.curves,
              nameOf: places.nameOf,
            })}
            label={`${title}, ${summary.title}`}
            unit={unit}
            isLog={scale === 'log'}
            height={shown.places === null ? 372 : 392}
            tip={(bar) => {
              const { reports, rows, words } = describe(bar)
              return (
                <TipText
                  title={formatDays(bar.first, bar.last)}
                  aside={formatPeriod(bar.period)}
                  big={bar.value === null ? ['Unknown', ''] : [formatNumber(bar.value), unit]}
                  rows={rows}
                  why={[reports, ...words].map(capitalise).join('. ')}
                />
              )
            }}
            say={(bar) => {
              const { reports, rows, words } = describe(bar)
              const value = bar.value === null ? 'unknown' : `${formatNumber(bar.value)} ${unit}`
              const listed = rows.map(([name, number]) => `${name}: ${number}`)
              return [formatDays(bar.first, bar.last), value, reports, ...listed, ...words].join(', ')
            }}
            onDraw={setSvg}
          />
        </div>
        {shown.places !== null && <PlacesPanel shown={shown} places={places} summary={summary} />}
      </div>
    </Stage>
  )
}

const pointOf = (bars: readonly PeriodBar[], period: string) => bars.find((bar) => bar.period === period)?.point

/** What is usual is not said: only some counties report in a week. */
const QUIET: readonly Mark[] = ['unknown', 'partial']

const marksIn = (bars: readonly PeriodBar[], period: string, { count, kind }: View): Mark[] => {
  const point = pointOf(bars, period)
  return point === undefined ? [] : marksOf(point, count, kind).filter((mark) => !QUIET.includes(mark))
}

interface PointTableProps {
  readonly bars: readonly PeriodBar[]
  readonly spans: ReturnType<typeof toSpans>
  readonly other: readonly { readonly period: string; readonly value: number | null }[]
  readonly otherRelease: number | null
  readonly view: View
}

function PointTable({ bars, spans, other, otherRelease, view: { count, kind } }: PointTableProps) {
  const others = new Map(other.map(({ period, value }) => [period, value]))
  const write = (value: number | null | undefined) => (value == null ? '–' : formatNumber(value))
  const columns = [
    'Period',
    { name: capitalise(texts.counts[count]), isNumber: true },
    ...(otherRelease === null ? [] : [{ name: `In release ${otherRelease}`, isNumber: true }]),
    { name: 'Reports', isNumber: true },
    'Marks',
  ]
  return (
    <Table label="The same as a table" columns={columns} class="points">
      {bars.map(({ period, first, last, value, point }) => (
        <tr key={period}>
          <th scope="row">{formatDays(first, last)}</th>
          <td class="r">{write(value)}</td>
          {otherRelease !== null && <td class="r">{write(others.get(period))}</td>}
          <td class="r">{formatNumber(point.records)}</td>
          <td>
            {marksOf(point, count, kind)
              .map((mark) => texts.marks[mark])
              .join(', ')}
          </td>
        </tr>
      ))}
      {spans.map(({ first, last, total, records }) => (
        <tr key={`${first} ${last}`}>
          <th scope="row">{formatDays(first, last)}</th>
          <td class="r">{formatNumber(total)}</td>
          {otherRelease !== null && <td class="r">–</td>}
          <td class="r">{formatNumber(records)}</td>
          <td>{texts.marks.in_span}</td>
        </tr>
      ))}
    </Table>
  )
}
