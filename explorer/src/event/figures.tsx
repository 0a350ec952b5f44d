// The numbers on top of an event: each with its source or its days.
import type { EventSummary, Release, Series, Vintages } from '../../../clients/typescript/src/client.ts'
import { toBars } from '../curve-bars.ts'
import { capitalise, countOf, formatDay, formatDays, formatNumber, formatSigned } from '../format.ts'
import { listRows, totalOf, totalsByRelease } from '../forms.ts'
import { countryName, levelWord, sourceWord, statusWord } from '../labels.ts'
import { Figure } from '../parts/figure.tsx'
import { view } from '../state.ts'
import { texts } from '../texts.ts'
import type { Shown } from '../use-event.ts'
import { statusOf } from './curve-stage.tsx'

interface CurveFiguresProps {
  readonly summary: EventSummary
  readonly series: Series
  readonly shown: Shown
  readonly vintages: Vintages | undefined
  readonly releases: readonly Release[]
  readonly current: Release
}

export function CurveFigures({ summary, series, shown, vintages, releases, current }: CurveFiguresProps) {
  const { interval } = shown
  const [chosen] = series.chosen
  const last = chosen?.last_day ?? summary.last_day ?? ''
  const bars = toBars(series.points ?? [], { count: 'cases', kind: 'new' }, chosen?.first_day ?? '', last)
  const most = bars.reduce<(typeof bars)[number] | undefined>(
    (a, b) => ((b.value ?? -1) > (a?.value ?? -1) ? b : a),
    undefined,
  )
  const source = sourceWord(chosen?.values['source_name'] ?? summary.sources[0])
  const before = releases[releases.findIndex(({ number }) => number === current.number) - 1]
  const totals = vintages === undefined || view.value.count !== 'cases' ? null : totalsByRelease(vintages)
  const was = before === undefined ? null : (totals?.get(before.number) ?? null)
  const cases = totalOf(series, 'cases')
  // Only where both were counted in the same way.
  const difference = was === null || cases === null || totals?.get(current.number) !== cases ? 0 : cases - was
  const figure = summary.figures?.find(
    (one) => one['source_name'] === (chosen?.values['source_name'] ?? one['source_name']),
  )
  const revised = bars.filter(({ isRevised }) => isRevised).length
  return (
    <dl class="kpis">
      <Figure name={capitalise(statusOf(series, summary))} value={cases === null ? null : formatNumber(cases)}>
        {difference === 0 || before === undefined ? (
          `To ${formatDay(last)}. ${source}.`
        ) : (
          <>
            <b class={difference > 0 ? 'up' : 'gone'}>{formatSigned(difference)}</b> since release {before.number}
          </>
        )}
      </Figure>
      <Deaths value={totalOf(series, 'deaths')} says="Same source, same days." />
      <Figure
        name={`Most in a ${texts.interval[interval]}`}
        value={most?.value == null ? null : formatNumber(most.value)}
      >
        {most !== undefined && formatDays(most.first, most.last)}
      </Figure>
      {revised > 0 ? (
        <Figure
          name={`${capitalise(texts.interval[interval])}s with a revision`}
          value={formatNumber(revised)}
          unit={`of ${bars.length}`}
        >
          The source corrected its total there.
        </Figure>
      ) : (
        <Figure name="Places" value={formatNumber(figure?.places ?? summary.country_codes.length)}>
          {figure === undefined ? 'countries' : `${levelWord(figure['location_granularity'])} counts`} in{' '}
          {countOf(series.records, 'report')}
        </Figure>
      )}
    </dl>
  )
}

const Deaths = ({ value, says }: { value: number | null; says: string }) => (
  <Figure name="Deaths" value={value === null ? null : formatNumber(value)}>
    {says}
  </Figure>
)

/** Several totals: the one that the service recommends, or how far they are apart. */
export function TotalFigures({ summary }: { summary: EventSummary }) {
  const rows = listRows(summary)
  const { headline } = summary
  const values = (name: 'cases' | 'deaths') => rows.map((row) => row.counts[name]).filter((value) => value !== null)
  const range = (name: 'cases' | 'deaths') => {
    const found = values(name)
    if (found.length === 0) return null
    const [low, high] = [Math.min(...found), Math.max(...found)]
    return low === high ? formatNumber(low) : `${formatNumber(low)} to ${formatNumber(high)}`
  }
  const days =
    headline?.last_day == null ? '' : ` To ${formatDay(headline.last_day)}${headline.interim ? ', not the end' : ''}.`
  return (
    <dl class="kpis">
      {headline === null ? (
        <Figure name="Cases" value={range('cases')}>
          {countOf(values('cases').length, 'count')}. No sum, no average.
        </Figure>
      ) : (
        <Figure
          name={capitalise(statusWord(headline['case_status']))}
          value={headline.cases === null ? null : formatNumber(headline.cases)}
        >
          {sourceWord(headline['source_name'])}.{days}
        </Figure>
      )}
      <Figure
        name="Deaths"
        value={headline === null ? range('deaths') : headline.deaths === null ? null : formatNumber(headline.deaths)}
      >
        {headline === null ? countOf(values('deaths').length, 'count') : 'Same report.'}
      </Figure>
      <Figure name="All counts of cases" value={range('cases')}>
        {countOf(values('cases').length, 'count')}, each of its own days and places.
      </Figure>
      <Figure name="Sources" value={formatNumber(summary.sources.length)}>
        {countOf(rows.length, 'count')} in {countOf(summary.records, 'report')}
      </Figure>
    </dl>
  )
}

export function SingleFigures({ summary }: { summary: EventSummary }) {
  const [row] = listRows(summary)
  const { headline } = summary
  const cases = headline?.cases ?? row?.counts.cases ?? null
  const deaths = headline?.deaths ?? row?.counts.deaths ?? null
  return (
    <dl class="kpis three">
      <Figure name={capitalise(row?.status ?? 'cases')} value={cases === null ? null : formatNumber(cases)}>
        {row?.first != null && row.last !== null
          ? `${row.first === row.last ? '' : 'Total of '}${formatDays(row.first, row.last)}.`
          : 'No day is given.'}
      </Figure>
      <Deaths value={deaths} says="Same report." />
      <Figure
        name="Where"
        value={
          summary.country_codes.length === 1
            ? capitalise(countryName(summary.country_codes[0] ?? ''))
            : countOf(summary.country_codes.length, 'country', 'countries')
        }
      >
        {capitalise(levelWord(row?.values['location_granularity']))} count.
      </Figure>
    </dl>
  )
}
