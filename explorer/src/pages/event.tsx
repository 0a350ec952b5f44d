// One event: its numbers, its curve or its totals, its sources, what changed, and where there are reports.
import type { EventSummary, Release } from '../../../clients/typescript/src/client.ts'
import { CountryCards } from '../event/country-cards.tsx'
import { CurveStage } from '../event/curve-stage.tsx'
import { EmbedPanel } from '../event/embed.tsx'
import { EventHead } from '../event/event-head.tsx'
import { CurveFigures, SingleFigures, TotalFigures } from '../event/figures.tsx'
import { HistoryPanel } from '../event/history.tsx'
import { RelatedEvents } from '../event/related-events.tsx'
import { SingleStage } from '../event/single-stage.tsx'
import { SourcesPanel } from '../event/sources.tsx'
import { TotalsStage } from '../event/totals-stage.tsx'
import { coverageInterval } from '../forms.ts'
import { ChangesSummary } from '../panels/changes.tsx'
import { CoveragePanel } from '../panels/coverage.tsx'
import { RecordsTable } from '../panels/records-table.tsx'
import { Code, requestTaken, TakePanel } from '../panels/take.tsx'
import { Failure } from '../parts/failure.tsx'
import { Link } from '../parts/link.tsx'
import { isRefusedBy } from '../refusal.ts'
import { type Parameters, seriesParameters, toKey } from '../requests.ts'
import { address, question, view } from '../state.ts'
import { useShown, useSummary, useVintages } from '../use-event.ts'

interface EventPageProps {
  readonly releases: readonly Release[]
  readonly current: Release
}

export function EventPage({ releases, current }: EventPageProps) {
  const [event = ''] = question.value.event ?? []
  const { value: summary, error, isWaiting } = useSummary(event, current.number)
  const newest = releases.at(-1) ?? current
  if (error !== undefined) return <Failure error={error} />
  if (summary === undefined)
    return (
      <div class="wrap" aria-busy={isWaiting}>
        <div class="skel title" role="status">
          Asking …
        </div>
        <div class="skel chart" />
      </div>
    )
  return (
    <div class="wrap" aria-busy={isWaiting}>
      <EventHead event={event} summary={summary} current={current} newest={newest} />
      {summary === null ? (
        <div class="empty" role="alert">
          <h3>Release {current.number} has no report of this event</h3>
          <p>Another release may have it. Nothing is drawn, because unknown is not zero.</p>
        </div>
      ) : (
        <Tab summary={summary} releases={releases} current={current} />
      )}
    </div>
  )
}

function Tab({ summary, releases, current }: EventPageProps & { summary: EventSummary }) {
  const { tab } = address.value
  switch (tab) {
    case 'overview':
      return <Overview summary={summary} releases={releases} current={current} />
    case 'sources':
      return <Sources summary={summary} current={current} />
    case 'changes':
      return <HistoryPanel summary={summary} releases={releases} current={current} />
    case 'records':
      return <RecordsTable release={current.number} isEvent />
    case 'use':
      return <Use summary={summary} current={current} />
  }
}

function Sources({ summary, current }: { summary: EventSummary; current: Release }) {
  const { answer } = useShown(summary, current.number)
  const series = answer.error === undefined ? answer.value : undefined
  return (
    <div class="section">
      <TotalsStage summary={summary} current={current} series={series} />
      <SourcesPanel summary={summary} series={series} />
    </div>
  )
}

function Use({ summary, current }: { summary: EventSummary; current: Release }) {
  const shown = useShown(summary, current.number)
  const { answer, interval } = shown
  const { side, count, kind, scale } = view.value
  const isSide = side || isRefusedBy(answer.error)
  const parameters: Parameters = [
    ...seriesParameters(question.value, { interval, group: 'none', side: isSide }, current.number),
    ...(count === 'cases' ? [] : [['counts', count] as const]),
    ...(kind === 'cumulative' ? [['kind', kind] as const] : []),
    ...(scale === 'log' ? [['scale', scale] as const] : []),
  ]
  const isDrawn = answer.error === undefined ? answer.value !== undefined : isRefusedBy(answer.error)
  return (
    <>
      <TakePanel title={summary.title} shown={shown} current={current} />
      {isDrawn && <EmbedPanel key={toKey(parameters)} title={summary.title} parameters={parameters} />}
    </>
  )
}

const MAX_PLACES = 12
const MOST_SOURCES = 6

function Overview({ summary, releases, current }: EventPageProps & { summary: EventSummary }) {
  const shown = useShown(summary, current.number)
  const { answer, form, interval } = shown
  const isRefused = isRefusedBy(answer.error)
  const series = answer.error === undefined ? answer.value : undefined
  const isCurve = form === 'curve' && !view.value.side
  const vintages = useVintages(shown.chosen, interval, isCurve && series !== undefined)
  const before = releases[releases.findIndex(({ number }) => number === current.number) - 1]?.number ?? null
  const isReady = series !== undefined || isRefused
  if (answer.error !== undefined && !isRefused) return <Failure error={answer.error} />
  if (!isReady) return <div class="skel chart" aria-busy="true" />
  return (
    <div aria-busy={answer.isWaiting} class={answer.isWaiting ? 'old' : undefined}>
      {isCurve && series !== undefined ? (
        <>
          <CurveFigures {...{ summary, series, shown, releases, current }} vintages={vintages.value} />
          <CurveStage {...{ summary, series, shown, releases, current }} vintages={vintages.value} />
        </>
      ) : form === 'single' ? (
        <>
          <SingleFigures summary={summary} />
          <SingleStage summary={summary} current={current} />
        </>
      ) : (
        <>
          <TotalFigures summary={summary} />
          <TotalsStage summary={summary} current={current} series={series} />
          {summary.country_codes.length > 2 && <CountryCards summary={summary} release={current.number} />}
          {isRefused && <NoCurve />}
        </>
      )}
      {(summary.figures?.length ?? 0) > 1 && <SourcesPanel summary={summary} series={series} limit={MOST_SOURCES} />}
      <div class="cols">
        <div class={isCurve ? 'c5' : 'c12'}>
          <ChangesSummary from={before} to={current.number} />
        </div>
        {isCurve && (
          <section class="section c7" aria-labelledby="cover">
            <div class="section-head">
              <h2 id="cover">Where and when there are reports</h2>
              <p>
                Hatched: no report, which says nothing about cases. Orange frame: changed in release {current.number}.
              </p>
            </div>
            <CoveragePanel
              release={current.number}
              level={shown.places ?? 'country_code'}
              interval={coverageInterval(interval)}
              limit={MAX_PLACES}
            />
          </section>
        )}
      </div>
      {!isCurve && <RelatedEvents summary={summary} release={current.number} />}
      <section class="section">
        <Code
          title={summary.title}
          request={requestTaken(shown, current.number, view.value.side || isRefused)}
          current={current}
        />
        <p class="under">
          <Link page="event" to={{ tab: 'use' }}>
            Files and citation
          </Link>
        </p>
      </section>
    </div>
  )
}

function NoCurve() {
  return (
    <section class="section prose" aria-labelledby="why">
      <h2 id="why">Why no number is chosen</h2>
      <p>
        These counts are of different places, days or kinds of cases, and none is clearly the best. Joined to a curve,
        the difference between two sources would look like new cases. So all of them are shown; a click on a source
        below shows one.
      </p>
    </section>
  )
}
