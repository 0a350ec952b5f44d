// Several countries, events or sources on one scale, each by itself: never added up.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  type EventSummary,
  NotComparable,
  type Release,
  type SearchMatch,
  type Series,
} from '../../../clients/typescript/src/client.ts'
import {
  type Address,
  AVERAGES,
  DEFAULT_VIEW,
  type Filter,
  GROUPS,
  INTERVALS,
  type Question,
  type View,
} from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { asText, formatNumber } from '../format.ts'
import { chooseInterval } from '../forms.ts'
import { countryName, eventTitle, sourceWord, splitTitle, valueWord } from '../labels.ts'
import { CompareStage, type Group, TotalTable } from '../panels/compare-stage.tsx'
import { Code } from '../panels/take.tsx'
import { Answered } from '../parts/answered.tsx'
import { Chip } from '../parts/chip.tsx'
import { Check, Segmented, Select } from '../parts/choose.tsx'
import { Link } from '../parts/link.tsx'
import { Search } from '../parts/search.tsx'
import { readEvents } from '../read-events.ts'
import { seriesParameters, toKey, toObject } from '../requests.ts'
import { addToQuestion, question, setQuestion, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

/** The filters of which several values are compared, and the groups that do so. */
const COMPARED: Partial<Record<Filter, View['group']>> = {
  event: 'event',
  country_code: 'country_code',
  al1_code: 'al1_code',
  source_name: 'source_name',
}

const nameOf = (field: string, value: unknown): string => {
  if (value === null || value === undefined) return 'not given'
  const text = asText(value)
  if (field === 'event') return eventTitle(text)
  if (field === 'country_code') return countryName(text)
  return field === 'source_name' ? sourceWord(text) : valueWord(field, text)
}

export function ComparePage({ current }: { current: Release }) {
  const { group, interval: wanted, kind, measures } = view.value
  const asked = question.value
  const isAsked = asked.event !== undefined || asked.disease !== undefined
  const { event = [] } = asked
  const events = useAnswer(event.length === 0 ? '' : `events ${current.number} ${event.join()}`, (signal) =>
    readEvents({ event, release: current.number, num: 100 }, signal),
  )
  const by = group === 'none' ? 'event' : group
  const interval = wanted ?? chooseInterval(null, null)
  // Only new counts of countries are divided by inhabitants.
  const canRate = by === 'country_code' && kind === 'new'
  const isRate = canRate && measures === 'per_100000'
  const parameters = seriesParameters(asked, { interval, group: by, side: false, isRate }, current.number)
  const answer = useAnswer(
    isAsked ? `compare ${toKey(parameters)}` : '',
    async (signal): Promise<{ series: Series; isSide: boolean }> => {
      try {
        return { series: await api.series(toObject(parameters), { signal }), isSide: false }
      } catch (error) {
        if (!(error instanceof NotComparable)) throw error
        // Nothing is clearly the best: every way of counting is a group by itself.
        const side = seriesParameters(asked, { interval, group: 'none', side: true }, current.number)
        return { series: await api.series(toObject(side), { signal }), isSide: true }
      }
    },
    { isUrgent: true },
  )
  const title = isAsked ? titleOf(asked) : 'Compare'
  return (
    <div class="wrap">
      <div class="head">
        <h1>{title}</h1>
        <p class="quiet">
          {isAsked
            ? `Each counted by itself, never added up. Release ${current.number}`
            : 'Put events, countries or sources beside each other.'}
        </p>
      </div>
      <Items release={current.number} by={by} events={events.value?.events ?? []} />
      {isAsked ? (
        <Answered answer={answer}>
          {({ series, isSide }) => {
            const groups = toGroups(series, isSide)
            return (
              <>
                <CompareStage
                  groups={groups}
                  interval={interval}
                  current={current}
                  title={title}
                  above={<Line series={series} isSide={isSide} />}
                  controls={<Controls by={by} canRate={canRate && !isSide} />}
                  measures={isRate && !isSide ? (series.measures ?? null) : null}
                />
                <TotalTable groups={groups} by={isSide ? 'Counted as' : texts.groups[by].replace('By ', '')} />
                <section class="section">
                  <Code
                    title={title}
                    request={{
                      verb: 'series',
                      parameters: isSide
                        ? seriesParameters(asked, { interval, group: 'none', side: true }, current.number)
                        : parameters,
                      offered: ['series'],
                    }}
                    current={current}
                  />
                </section>
              </>
            )
          }}
        </Answered>
      ) : (
        <Examples release={current.number} />
      )}
    </div>
  )
}

function titleOf({ event = [], disease = [], country_code: countries = [] }: Question): string {
  const list = (names: readonly string[]) =>
    names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
  const [only] = event
  if (event.length === 1 && only !== undefined && countries.length > 0)
    return `${splitTitle(eventTitle(only)).label}: ${list(countries.map(countryName))}`
  return list(event.length > 0 ? event.map(eventTitle) : disease)
}

function toGroups({ groups = [] }: Series, isSide: boolean): Group[] {
  return groups.map(({ group, points, spans, undated_counts: undated }) => ({
    name: isSide
      ? asText(group['words'])
      : Object.entries(group)
          .map(([field, value]) => nameOf(field, value))
          .join(', '),
    points,
    spans,
    undated,
  }))
}

function Line({ series, isSide }: { series: Series; isSide: boolean }): ComponentChildren {
  const { chosen, left_out_total: others } = series
  return (
    <div class="shown">
      <p>
        <b>Shown:</b>{' '}
        {isSide
          ? 'every way of counting, each by itself, because none is clearly the best. '
          : chosen.length > 0
            ? 'each counted in the way that the service recommends for it. '
            : 'each by itself. '}
        {others > 0 && (
          <>
            <b>Left out:</b> {formatNumber(others)} other counts.{' '}
          </>
        )}
        <b>Not comparable without care:</b> places test and count differently.
      </p>
    </div>
  )
}

interface ItemsProps {
  readonly release: number
  readonly by: View['group']
  readonly events: readonly EventSummary[]
}

/** What is compared, each can be removed, and others can be added. */
function Items({ release, by, events }: ItemsProps) {
  const chips = (Object.keys(COMPARED) as Filter[]).flatMap((name) =>
    (question.value[name] ?? []).map((value) => ({ name, value })),
  )
  const add = ({ parameter, value }: SearchMatch) => {
    const filter = (Object.keys(COMPARED) as Filter[]).find((name) => name === parameter)
    if (filter === undefined) setQuestion({ [parameter]: [value] })
    else addToQuestion(filter, value, { group: COMPARED[filter] ?? 'none' })
  }
  // Codes that begin with X are ships, reports of several countries, and the world. XK is Kosovo.
  const countries = [...new Set(events.flatMap(({ country_codes: codes }) => codes))].filter((code) =>
    /^(?!X[^K])/.test(code),
  )
  const offered =
    by === 'country_code' && countries.length > 1
      ? countries
          .filter((code) => question.value.country_code?.includes(code) !== true)
          .toSorted((a, b) => countryName(a).localeCompare(countryName(b)))
      : []
  return (
    <div class="cmp-chips chips">
      {chips.map(({ name, value }) => (
        <Chip key={`${name} ${value}`} filter={name} value={value} name={nameOf(name, value)} />
      ))}
      {offered.map((code) => (
        <button
          key={code}
          class="chip"
          type="button"
          onClick={() => addToQuestion('country_code', code, { group: 'country_code' })}
        >
          {countryName(code)}
        </button>
      ))}
      <Search release={release} onTake={add} label="Add an event, a country or a source" />
    </div>
  )
}

function Controls({ by, canRate }: { by: View['group']; canRate: boolean }) {
  const { layout, align, average, count, scale, interval, kind, measures } = view.value
  const [isMore, setMore] = useState(false)
  return (
    <>
      <Segmented
        label="Pictures"
        value={layout}
        options={['one', 'each'] as const}
        names={{ one: 'One scale', each: 'Side by side' }}
        onChoose={(chosen) => setView({ layout: chosen })}
      />
      <Segmented
        label="Days"
        value={align}
        options={['date', 'first'] as const}
        names={{ date: 'By date', first: 'Days since first case' }}
        onChoose={(chosen) => setView({ align: chosen })}
      />
      {canRate && (
        <Segmented
          label="Numbers"
          value={measures}
          options={['none', 'per_100000'] as const}
          names={{ none: 'Counts', per_100000: 'Per 100,000' }}
          onChoose={(chosen) => setView({ measures: chosen })}
        />
      )}
      <button class="btn" type="button" aria-expanded={isMore} onClick={() => setMore(!isMore)}>
        More
      </button>
      {isMore && (
        <div class="options">
          <Select
            label="Each line is"
            value={by}
            options={GROUPS.filter((name) => name !== 'none')}
            names={texts.groups}
            onChoose={(chosen) => setView({ group: chosen })}
          />
          <Select
            label="By"
            value={interval ?? 'isoweek'}
            options={INTERVALS}
            names={texts.intervals}
            onChoose={(chosen) => setView({ interval: chosen })}
          />
          <Select
            label="Count"
            value={count}
            options={['cases', 'deaths', 'hospitalised', 'recovered', 'tested'] as const}
            names={texts.counts}
            onChoose={(chosen) => setView({ count: chosen })}
          />
          <Select
            label="As"
            value={kind}
            options={['new', 'cumulative', 'point'] as const}
            names={{ new: 'new in each period', cumulative: 'total so far', point: 'on that day' }}
            onChoose={(chosen) => setView({ kind: chosen })}
          />
          <Select
            label="Moving average"
            value={average}
            options={AVERAGES}
            names={{ '1': 'none', '3': 'of 3 periods', '5': 'of 5 periods', '7': 'of 7 periods' }}
            onChoose={(chosen) => setView({ average: chosen })}
          />
          <Check
            label="Log scale"
            isOn={scale === 'log'}
            onChange={(isOn) => setView({ scale: isOn ? 'log' : 'linear' })}
          />
        </div>
      )}
    </>
  )
}

/** Questions that the events themselves offer: many countries, years of one disease in one country, many sources. */
function listExamples(events: readonly EventSummary[]): { words: string; to: Partial<Omit<Address, 'page'>> }[] {
  const first = { ...DEFAULT_VIEW, release: view.value.release }
  const wide = events
    .filter(({ country_codes: codes, records }) => codes.length > 2 && records > 100)
    .toSorted((a, b) => b.records - a.records)[0]
  const repeated = [...Map.groupBy(events, ({ event }) => event.replace(/_\d{4}$/, '')).values()]
    .filter((all) => all.length > 1 && all.every(({ records }) => records > 50))
    .toSorted((a, b) => (b[0]?.records ?? 0) - (a[0]?.records ?? 0))[0]
  const disputed = events.toSorted((a, b) => b.sources.length - a.sources.length)[0]
  return [
    ...(wide === undefined
      ? []
      : [
          {
            words: `${wide.title}, by country`,
            to: { question: { event: [wide.event] }, view: { ...first, group: 'country_code' as const } },
          },
        ]),
    ...(repeated === undefined
      ? []
      : [
          {
            words: `${repeated.map(({ title }) => title).join(' and ')}, by day since the first case`,
            to: {
              question: { event: repeated.map(({ event }) => event) },
              view: { ...first, group: 'event' as const, align: 'first' as const },
            },
          },
        ]),
    ...(disputed === undefined || disputed.sources.length < 2
      ? []
      : [
          {
            words: `${disputed.title}: what ${disputed.sources.length} sources counted`,
            to: { question: { event: [disputed.event] }, view: { ...first, group: 'source_name' as const } },
          },
        ]),
  ]
}

function Examples({ release }: { release: number }) {
  const answer = useAnswer(
    `all events ${release}`,
    async (signal) => (await readEvents({ release, num: 1000 }, signal)).events,
  )
  return (
    <section class="section" aria-labelledby="examples">
      <h2 id="examples">For instance</h2>
      <Answered answer={answer} skeleton="line w8">
        {(events) => (
          <ul class="rows under">
            {listExamples(events).map(({ words, to }) => (
              <li key={words}>
                <Link page="compare" to={to}>
                  {words}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </section>
  )
}
