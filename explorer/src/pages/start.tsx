// The first page: the search, what the newest release changed, where outbreaks are, curves, and every event by disease.
import type { EventSummary, Release } from '../../../clients/typescript/src/client.ts'
import { DEFAULT_VIEW } from '../address.ts'
import { useAnswer } from '../ask.ts'
import { PlaceMap } from '../charts/map.tsx'
import { TipText } from '../charts/plot.tsx'
import { Strip } from '../charts/strip.tsx'
import { countOf, formatDay, formatNumber } from '../format.ts'
import { splitTitle, statusWord } from '../labels.ts'
import { CurveCards } from '../panels/curve-cards.tsx'
import { News } from '../panels/news.tsx'
import { Answered } from '../parts/answered.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { EventLink, Link } from '../parts/link.tsx'
import { Search } from '../parts/search.tsx'
import { readEvents } from '../read-events.ts'
import { eventLink, goTo, view } from '../state.ts'

/** More events than these are on the page of events. */
const MOST_EVENTS = 1000
const DISEASES = 12

export interface Dated extends EventSummary {
  readonly first_day: string
  readonly last_day: string
}

export const hasDays = (event: EventSummary): event is Dated => event.first_day !== null && event.last_day !== null

export function StartPage({ releases, current }: { releases: readonly Release[]; current: Release }) {
  const answer = useAnswer(
    `all events ${current.number}`,
    async (signal) => (await readEvents({ release: current.number, num: MOST_EVENTS }, signal)).events,
    { isUrgent: true },
  )
  const events = answer.value ?? []
  const dated = events.filter(hasDays)
  const years = dated
    .flatMap(({ first_day: first, last_day: last }) => [first, last])
    .map((day) => day.slice(0, 4))
    .toSorted()
  const latest = dated.toSorted((a, b) => b.last_day.localeCompare(a.last_day))
  return (
    <>
      <div class="hero">
        <div class="wrap cols">
          <div class="c8">
            <h1>Outbreak counts, with their sources and their history</h1>
            <p class="lead">
              {events.length > 0 && (
                <>
                  Look up {countOf(events.length, 'outbreak')}
                  {events.length === MOST_EVENTS && ' or more'} from {years[0]} to {years.at(-1)}.{' '}
                </>
              )}
              Each number says who reported it, and how it changed from release to release.
            </p>
            <Search release={current.number} isBig />
            <Tries events={latest} />
          </div>
          <div class="c4">
            <News releases={releases} current={current} events={events} isWaiting={answer.isWaiting} />
          </div>
        </div>
      </div>
      <div class="wrap start">
        <Answered answer={answer}>
          {() => (
            <>
              <World events={dated} latest={latest} count={events.length} />
              <CurveCards events={latest} release={current.number} />
              <Diseases events={dated} latest={latest[0]?.last_day ?? ''} />
              <Promises />
            </>
          )}
        </Answered>
      </div>
    </>
  )
}

/** Events of different diseases to begin with. */
function Tries({ events }: { events: readonly Dated[] }) {
  const byDisease = Map.groupBy(
    events.filter(({ headline }) => headline !== null),
    ({ diseases }) => diseases?.[0] ?? '',
  )
  const tries = [...byDisease.values()]
    .flatMap((all) => all.toSorted((a, b) => b.records - a.records)[0] ?? [])
    .toSorted((a, b) => b.records - a.records)
    .slice(0, 4)
  if (tries.length === 0) return null
  return (
    <p class="chips">
      Try{' '}
      {tries.map(({ event, title }) => (
        <Link key={event} {...eventLink(event)} class="chip">
          {title}
        </Link>
      ))}
    </p>
  )
}

const ROWS = 7

function CaseCount({ event }: { event: EventSummary }) {
  const { headline } = event
  if (headline === null) return <small>no one count</small>
  if (headline.cases === null)
    return <small>{headline.deaths === null ? 'not reported' : `${formatNumber(headline.deaths)} deaths`}</small>
  return (
    <>
      <b>{formatNumber(headline.cases)}</b> <small>{statusWord(headline['case_status'])}</small>
    </>
  )
}

function World({ events, latest, count }: { events: readonly Dated[]; latest: readonly Dated[]; count: number }) {
  const newest = latest[0]?.last_day ?? ''
  const since = `${Number(newest.slice(0, 4)) - 1}${newest.slice(4)}`
  const byCountry = new Map<string, number>()
  for (const { country_codes: codes } of events)
    for (const code of codes) byCountry.set(code, (byCountry.get(code) ?? 0) + 1)
  const recent = new Map<string, Dated>()
  for (const event of latest) {
    const [code = '', second] = event.country_codes
    if (event.last_day >= since && second === undefined && !code.startsWith('X') && !recent.has(code))
      recent.set(code, event)
  }
  const depth = (code: string) => {
    const found = byCountry.get(code) ?? 0
    return found >= 8 ? 'q3' : found >= 2 ? 'q2' : found >= 1 ? 'q1' : ''
  }
  return (
    <section class="section" aria-labelledby="world">
      <div class="cols">
        <div class="c8">
          <div class="section-head">
            <h2 id="world">Where outbreaks are recorded</h2>
            <p>
              Orange: events with a report in the twelve months to {formatDay(newest)}. Blue: number of events of a
              country. Grey: none recorded, which does not mean no outbreak.
            </p>
          </div>
          <PlaceMap
            kind="world"
            spots={[...recent].map(([code, event]) => {
              const { label, place } = splitTitle(event.title)
              const cases = event.headline?.cases
              return {
                code,
                isHot: true,
                lines: [`${label}, ${place}`, cases == null ? '' : formatNumber(cases)],
              }
            })}
            label="World map: number of events by country, and the events of the last twelve months"
            shade={(code) => `${depth(code)}${byCountry.has(code) ? ' pick' : ''}`}
            tip={(code, name) => (
              <TipText
                title={name}
                big={[formatNumber(byCountry.get(code) ?? 0), byCountry.get(code) === 1 ? 'event' : 'events']}
                why={recent.has(code) ? `Latest: ${recent.get(code)?.title ?? ''}` : ''}
              />
            )}
            onPick={(code) =>
              byCountry.has(code) && goTo('events', { question: { country_code: [code] }, view: plainView() })
            }
            labels={12}
          />
        </div>
        <div class="c4">
          <div class="sub">
            <h3>Latest reports</h3>
            <Link page="events" to={{ question: {}, view: plainView() }}>
              All {formatNumber(count)} events
            </Link>
          </div>
          <ul class="rows two">
            {latest.slice(0, ROWS).map((event) => (
              <li key={event.event}>
                <span>
                  <EventLink event={event.event}>{event.title}</EventLink>
                  <br />
                  <small class="quiet">to {formatDay(event.last_day)}</small>
                </span>
                <span class="r">
                  <CaseCount event={event} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </section>
  )
}

const plainView = () => ({ ...DEFAULT_VIEW, release: view.value.release })

export function toStrip(event: Dated, newest: string) {
  const since = `${Number(newest.slice(0, 4)) - 1}${newest.slice(4)}`
  return {
    event: event.event,
    title: event.title,
    place: splitTitle(event.title).place,
    first: event.first_day,
    last: event.last_day,
    cases: event.headline?.cases ?? null,
    isRecent: event.last_day >= since,
  }
}

function Diseases({ events, latest }: { events: readonly Dated[]; latest: string }) {
  const byDisease = [...Map.groupBy(events, ({ diseases, pathogens }) => diseases?.[0] ?? pathogens[0] ?? '')].toSorted(
    (a, b) => b[1].length - a[1].length,
  )
  const rows = byDisease.slice(0, DISEASES)
  const to = Number(latest.slice(0, 4)) + 1
  return (
    <section class="section" aria-labelledby="all">
      <div class="section-head">
        <h2 id="all">Every event, by disease</h2>
        <p>
          A circle is an event, at the year in which it began; the larger, the more cases. The {rows.length} diseases
          with the most events of {byDisease.length}.
        </p>
      </div>
      <Strip
        rows={rows.map(([name, found]) => ({ name, events: found.map((event) => toStrip(event, latest)) }))}
        from={to - 60}
        to={to}
        label="Events by disease and the year in which they began"
        onPick={(event) => {
          const { page, to: target } = eventLink(event)
          goTo(page, target)
        }}
      />
      <ul class="chips under" aria-label="Diseases">
        {byDisease.map(([name, found]) => (
          <li key={name}>
            <Link page="events" to={{ question: { disease: [name] }, view: plainView() }} class="chip">
              {name} <span class="n">{found.length}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

const PROMISES: readonly (readonly [IconName, string, string])[] = [
  [
    'sum',
    'Nothing is counted twice',
    'Counties and their country, or two sources, are never added up. The page says what it shows and what it leaves out.',
  ],
  [
    'zero',
    'Unknown is not zero',
    'A week without a report is hatched. A count that no one reported stays unknown in every sum.',
  ],
  [
    'clock',
    'Every release stays',
    'A link with a release always shows the same numbers. Each correction keeps the old value and the reason.',
  ],
]

const Promises = () => (
  <section class="section promises" aria-label="What you can rely on">
    {PROMISES.map(([icon, title, text]) => (
      <div key={title}>
        <h3>
          <Icon name={icon} /> {title}
        </h3>
        <p>{text}</p>
      </div>
    ))}
  </section>
)
