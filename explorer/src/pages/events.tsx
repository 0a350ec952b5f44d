// The events of a disease, a country or a source, or all of them: cases, deaths and days, in any order.
import { useState } from 'preact/hooks'
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { DEFAULT_VIEW, FILTERS, type Filter, type View } from '../address.ts'
import { useAnswer } from '../ask.ts'
import { Strip } from '../charts/strip.tsx'
import { countOf, formatDays, formatNumber } from '../format.ts'
import { countryName, sourceWord, statusWord } from '../labels.ts'
import { Answered } from '../parts/answered.tsx'
import { Chip } from '../parts/chip.tsx'
import { EventLink, Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { readEvents } from '../read-events.ts'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { eventLink, goTo, question, setView, view } from '../state.ts'
import { WatchButton } from '../watches/watch-button.tsx'
import { WatchDialog } from '../watches/watch-dialog.tsx'
import { hasDays, toStrip } from './start.tsx'

const PAGE_SIZE = 1000

const nameOf = (filter: Filter, value: string): string =>
  filter === 'country_code'
    ? countryName(value)
    : filter === 'source_name'
      ? sourceWord(value)
      : value.replaceAll('_', ' ')

const days = ({ first_day: first, last_day: last }: EventSummary): number =>
  first === null || last === null ? -1 : Date.parse(last) - Date.parse(first)

const ORDERS: Readonly<Record<View['sort'], (a: EventSummary, b: EventSummary) => number>> = {
  '-last': (a, b) => (b.last_day ?? '').localeCompare(a.last_day ?? ''),
  name: (a, b) => a.title.localeCompare(b.title),
  '-cases': (a, b) => (b.headline?.cases ?? -1) - (a.headline?.cases ?? -1),
  '-deaths': (a, b) => (b.headline?.deaths ?? -1) - (a.headline?.deaths ?? -1),
  '-days': (a, b) => days(b) - days(a),
  '-records': (a, b) => b.records - a.records,
}

export function EventsPage({ release }: { release: number }) {
  const [isWatching, setWatching] = useState(false)
  const filters = recordFilters(question.value)
  const answer = useAnswer(`events ${release} ${toKey(filters)}`, async (signal) => {
    return readEvents({ ...toObject(filters), release, num: PAGE_SIZE }, signal)
  })
  const chosen = FILTERS.flatMap((name) => (question.value[name] ?? []).map((value) => ({ name, value })))
  const title = chosen.length === 0 ? 'Events' : chosen.map(({ name, value }) => nameOf(name, value)).join(', ')
  return (
    <div class="wrap">
      <div class="head">
        {chosen.length > 0 && (
          <ol class="crumbs" aria-label="Where you are">
            <li>
              <Link page="events" to={{ question: {}, view: { ...DEFAULT_VIEW, release: view.value.release } }}>
                Events
              </Link>
            </li>
            <li aria-current="page">{title}</li>
          </ol>
        )}
        <div class="head-row">
          <div>
            <h1>{title}</h1>
            <p>
              {answer.value !== undefined && countOf(answer.value.events.length, 'event')}
              {answer.value?.hasMore === true && ' or more'}, release {release}
            </p>
          </div>
          <div class="chips">
            {chosen.map(({ name, value }) => (
              <Chip key={`${name} ${value}`} filter={name} value={value} name={nameOf(name, value)} />
            ))}
            <WatchButton onOpen={() => setWatching(true)} />
          </div>
        </div>
      </div>
      <Answered answer={answer}>
        {({ events }) => (
          <>
            <Timeline events={events} name={title} />
            <EventTable events={events} />
          </>
        )}
      </Answered>
      {isWatching && (
        <WatchDialog title={chosen.length === 0 ? 'All events' : title} onClose={() => setWatching(false)} />
      )}
    </div>
  )
}

/** When they were, if there are few enough to see. */
function Timeline({ events, name }: { events: readonly EventSummary[]; name: string }) {
  const dated = events.filter(hasDays)
  if (question.value.disease === undefined && question.value.country_code === undefined) return null
  if (dated.length < 2) return null
  const newest =
    dated
      .map(({ last_day: day }) => day)
      .toSorted()
      .at(-1) ?? ''
  const to = Number(newest.slice(0, 4)) + 1
  const oldest = dated.map(({ first_day: day }) => day).toSorted()[0] ?? ''
  const rows =
    question.value.disease === undefined
      ? [...Map.groupBy(dated, ({ diseases }) => diseases?.[0] ?? '')]
          .toSorted((a, b) => b[1].length - a[1].length)
          .slice(0, 12)
      : [[name, dated] as const]
  return (
    <div class="under">
      <Strip
        rows={rows.map(([disease, found]) => ({ name: disease, events: found.map((event) => toStrip(event, newest)) }))}
        from={Math.min(to - 12, Number(oldest.slice(0, 4)) - 1)}
        to={to}
        label="Events by the year in which they began"
        onPick={(event) => {
          const { page, to: target } = eventLink(event)
          goTo(page, target)
        }}
      />
    </div>
  )
}

function EventTable({ events }: { events: readonly EventSummary[] }) {
  const { sort } = view.value
  const by = (order: View['sort']) => ({
    isOn: sort === order,
    onSort: () => setView({ sort: order }, { replaces: true }),
  })
  return (
    <Table
      label="Events"
      class="lines-s under"
      columns={[
        { name: 'Event', sort: by('name') },
        { name: 'Cases', isNumber: true, sort: by('-cases') },
        'Counted as',
        { name: 'Deaths', isNumber: true, sort: by('-deaths') },
        { name: 'Newest', sort: by('-last') },
        { name: 'Length', isNumber: true, sort: by('-days') },
        { name: 'Sources', isNumber: true },
        { name: 'Reports', isNumber: true, sort: by('-records') },
      ]}
    >
      {events.toSorted(ORDERS[sort]).map((event) => (
        <EventRow key={event.event} event={event} />
      ))}
    </Table>
  )
}

function EventRow({ event }: { event: EventSummary }) {
  const { headline, first_day: first, last_day: last } = event
  const write = (value: number | null | undefined) => (value == null ? '–' : formatNumber(value))
  const length = Math.round(days(event) / 86_400_000) + 1
  return (
    <tr>
      <th scope="row">
        <EventLink event={event.event}>{event.title}</EventLink>
      </th>
      <td class="r" data-l="Cases">
        {write(headline?.cases)}
      </td>
      <td data-l="Counted as">
        {headline === null ? 'several counts, none chosen' : statusWord(headline['case_status'])}
      </td>
      <td class="r" data-l="Deaths">
        {write(headline?.deaths)}
      </td>
      <td data-l="Days">{first === null || last === null ? 'no day given' : formatDays(first, last)}</td>
      <td class="r" data-l="Length">
        {length < 1 ? '–' : countOf(length, 'day')}
      </td>
      <td class="r" data-l="Sources">
        {formatNumber(event.sources.length)}
      </td>
      <td class="r" data-l="Reports">
        {formatNumber(event.records)}
      </td>
    </tr>
  )
}
