// Events with counts over time as small curves: each card opens its event.
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { Spark } from '../charts/spark.tsx'
import { formatNumber } from '../format.ts'
import { sourceWord, statusWord } from '../labels.ts'
import { EventLink } from '../parts/link.tsx'
import { toObject } from '../requests.ts'

const [CARDS, ASKED, FEWEST] = [8, 12, 10]

/** At most two of a disease, so that the cards differ. */
function chooseEvents(events: readonly EventSummary[]): EventSummary[] {
  const byDisease = Map.groupBy(
    events.filter(({ figures = [] }) =>
      figures.some(({ records, count_kind: kind, places }) => records >= FEWEST * (kind === 'new' ? 1 : places)),
    ),
    ({ diseases }) => diseases?.[0] ?? '',
  )
  return [...byDisease.values()].flatMap((all) => all.slice(0, 4)).slice(0, ASKED)
}

export function CurveCards({ events, release }: { events: readonly EventSummary[]; release: number }) {
  const chosen = chooseEvents(events)
  const names = chosen.map(({ event }) => event)
  const parameters = [
    ...names.map((event) => ['event', event] as const),
    ...([
      ['group_by', 'event'],
      ['interval', 'month'],
      ['release', String(release)],
    ] as const),
  ]
  const { value } = useAnswer(names.length === 0 ? '' : `cards ${release} ${names.join()}`, (signal) =>
    api.series(toObject(parameters), { signal }),
  )
  const groups = (value?.groups ?? []).flatMap(({ group, points }) => {
    const event = chosen.find((one) => one.event === group['event'])
    const bars = points.map((point) => ({ first: point.first_day, last: point.last_day, value: point.new.cases }))
    return event === undefined || bars.filter((bar) => bar.value !== null).length < 3 ? [] : [{ event, bars }]
  })
  if (names.length === 0) return null
  return (
    <section class="section" aria-labelledby="curves" aria-busy={value === undefined}>
      <div class="section-head">
        <h2 id="curves">Epidemic curves</h2>
        <p>
          Events with counts over time, by month. The others have one total or several, which are never joined to a
          curve.
        </p>
      </div>
      <div class="cards">
        {value === undefined && names.slice(0, 4).map((name) => <div key={name} class="card skel chart" />)}
        {groups
          .toSorted((a, b) => (b.event.last_day ?? '').localeCompare(a.event.last_day ?? ''))
          .slice(0, CARDS)
          .map(({ event, bars }) => (
            <Card key={event.event} event={event} bars={bars} />
          ))}
      </div>
    </section>
  )
}

interface CardProps {
  readonly event: EventSummary
  readonly bars: readonly { readonly first: string; readonly last: string; readonly value: number | null }[]
}

function Card({ event, bars }: CardProps) {
  const { headline } = event
  return (
    <article class="card">
      <h3>
        <EventLink event={event.event}>{event.title}</EventLink>
      </h3>
      <p class="count">
        {headline?.cases == null ? '–' : formatNumber(headline.cases)}{' '}
        <small>{statusWord(headline?.['case_status'])}</small>
      </p>
      <Spark bars={bars} />
      <p class="meta foot">
        {sourceWord(event.sources[0])}. Last changed in release {event.last_release}.
      </p>
    </article>
  )
}
