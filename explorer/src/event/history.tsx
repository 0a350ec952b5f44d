// How the event changed from one release to another: the total, the curve of both, the differences, and each change.
import type { EventSummary, Release } from '../../../clients/typescript/src/client.ts'
import { Curve } from '../charts/curve.tsx'
import { Differences } from '../charts/differences.tsx'
import { TipText } from '../charts/plot.tsx'
import { barsOfRelease, toBars } from '../curve-bars.ts'
import { formatDays, formatNumber, formatPeriod, formatSigned } from '../format.ts'
import { totalOf, totalsByRelease } from '../forms.ts'
import { ChangeTable, Moves, tally, useChanges } from '../panels/changes.tsx'
import { ReleasePair } from '../panels/release-pair.tsx'
import { Answered } from '../parts/answered.tsx'
import { setView, view } from '../state.ts'
import { texts } from '../texts.ts'
import { useShown, useVintages } from '../use-event.ts'
import { TimeMachine } from './time-machine.tsx'

interface HistoryProps {
  readonly summary: EventSummary
  readonly releases: readonly Release[]
  readonly current: Release
}

export function HistoryPanel({ summary, releases, current }: HistoryProps) {
  const shown = useShown(summary, current.number)
  const before = releases[releases.findIndex(({ number }) => number === current.number) - 1]?.number ?? null
  const other = view.value.compare !== null && view.value.compare < current.number ? view.value.compare : before
  const changes = useChanges(other, current.number)
  const series = shown.answer.error === undefined ? shown.answer.value : undefined
  const vintages = useVintages(shown.chosen, shown.interval, series !== undefined)
  const { kind, count } = view.value
  const bars = toBars(series?.points ?? [], view.value, '', '9999')
  const earlier =
    vintages.value === undefined || other === null ? [] : barsOfRelease(vintages.value, other, bars, view.value)
  const values = new Map(earlier.map(({ period, value }) => [period, value]))
  const totals = vintages.value === undefined ? null : totalsByRelease(vintages.value)
  const [was, now] = [other === null ? null : (totals?.get(other) ?? null), totals?.get(current.number) ?? null]
  const isCurve = shown.form === 'curve'
  return (
    <>
      <section class="stage stage-first" aria-label="Release history">
        <TimeMachine
          releases={releases}
          current={current}
          vintages={vintages.value}
          total={series === undefined ? null : totalOf(series, count)}
        />
      </section>
      {other === null ? (
        <p class="verdict">This is the first release: nothing changed before it.</p>
      ) : (
        <>
          <div class="head-row">
            <p class="verdict" role="status">
              From release {other} to release {current.number}{' '}
              {was === null || now === null ? (
                'the total is not comparable. '
              ) : was === now ? (
                <>
                  the count stayed at <b>{formatNumber(now)}</b> {texts.counts[count]}.{' '}
                </>
              ) : (
                <>
                  the count {now > was ? 'rose' : 'fell'} from <b>{formatNumber(was)}</b> to <b>{formatNumber(now)}</b>{' '}
                  {texts.counts[count]}, by <b class={now > was ? 'up' : 'gone'}>{formatSigned(now - was)}</b>.{' '}
                </>
              )}
              {changes.value !== undefined && describeTally(tally(changes.value.changes))}
            </p>
            <ReleasePair
              releases={releases}
              from={other}
              to={current.number}
              onTo={(to) => setView({ release: to === releases.at(-1)?.number ? null : to })}
            />
          </div>
          {isCurve && bars.length > 0 && (
            <section class="stage" aria-labelledby="both">
              <div class="stage-bar">
                <div>
                  <h2 id="both">Both releases by {texts.interval[shown.interval]}</h2>
                  <p>
                    Bars: release {current.number}. Outline: release {other}, where it differs.
                  </p>
                </div>
              </div>
              <div class="stage-grid wide-left">
                <div>
                  <Curve
                    bars={bars}
                    other={earlier}
                    label={`${summary.title} in release ${current.number}, with release ${other} as an outline`}
                    unit={`${texts.kinds[kind]} ${texts.counts[count]}`}
                    height={300}
                    tip={(bar, old) => (
                      <TipText
                        title={formatDays(bar.first, bar.last)}
                        aside={formatPeriod(bar.period)}
                        big={[bar.value === null ? 'Unknown' : formatNumber(bar.value), texts.counts[count]]}
                        rows={[[`In release ${other}`, old?.value == null ? '–' : formatNumber(old.value)]]}
                      />
                    )}
                    say={(bar) => {
                      const old = values.get(bar.period)
                      return `${formatDays(bar.first, bar.last)}: ${bar.value === null ? 'unknown' : formatNumber(bar.value)}, in release ${other}: ${old == null ? 'none' : formatNumber(old)}`
                    }}
                  />
                  {earlier.length > 0 && (
                    <Differences
                      rows={bars.map(({ period, first, last, value }) => ({
                        period,
                        first,
                        last,
                        value: (value ?? 0) - (values.get(period) ?? 0),
                      }))}
                      label={`Difference by ${texts.interval[shown.interval]} (height: square root)`}
                    />
                  )}
                </div>
                <div>
                  <div class="sub">
                    <h3>Where the count moved</h3>
                  </div>
                  <Answered answer={changes} skeleton="line w8">
                    {(value) => <Moves {...value} />}
                  </Answered>
                </div>
              </div>
            </section>
          )}
          <ChangeTable answer={changes} earlier={other} later={current.number} />
        </>
      )}
    </>
  )
}

const describeTally = ({ added, corrected, withdrawn }: ReturnType<typeof tally>): string =>
  `${formatNumber(added)} reports were added, ${formatNumber(corrected)} corrected and ${formatNumber(withdrawn)} withdrawn.`
