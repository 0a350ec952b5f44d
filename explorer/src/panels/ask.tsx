// The question: a search for events, diseases, places and sources, the filters that are set, and how the answer is shown.
import { useEffect, useState } from 'preact/hooks'
import type { SearchMatch } from '../../../clients/typescript/src/client.ts'
import { COUNTS, FILTERS, type Filter, GROUPS, INTERVALS, KINDS, type View } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Select } from '../parts/select.tsx'
import { addToQuestion, question, setQuestion, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

export function Ask({ release, link }: { release: number; link: string }) {
  const { count, kind, interval, group } = view.value
  return (
    <section class="ask" aria-label={texts.ask.title}>
      <Search release={release} />
      <Chips />
      <div class="choices">
        <Select
          label={texts.ask.count}
          value={count}
          options={COUNTS}
          names={texts.counts}
          onChoose={choose('count')}
        />
        <Select label={texts.ask.kind} value={kind} options={KINDS} names={texts.kinds} onChoose={choose('kind')} />
        <Select
          label={texts.ask.interval}
          value={interval}
          options={INTERVALS}
          names={texts.interval}
          onChoose={choose('interval')}
        />
        <Select
          label={texts.ask.group}
          value={group}
          options={GROUPS}
          names={texts.groups}
          onChoose={choose('group')}
        />
        <DayField filter="date_from" label={texts.ask.from} />
        <DayField filter="date_to" label={texts.ask.to} />
        <CopyButton text={link} label={texts.copyLink} hint={texts.copyLinkHint} />
      </div>
    </section>
  )
}

const choose =
  <Name extends 'count' | 'kind' | 'interval' | 'group'>(name: Name) =>
  (value: View[Name]) =>
    setView({ [name]: value })

function DayField({ filter, label }: { filter: 'date_from' | 'date_to'; label: string }) {
  return (
    <label>
      {label}{' '}
      <input
        type="date"
        value={question.value[filter]?.[0] ?? ''}
        onChange={({ currentTarget: { value } }) => setQuestion({ [filter]: value === '' ? [] : [value] })}
      />
    </label>
  )
}

/** The filters that are set. Each can be removed. */
export function Chips() {
  const chips = FILTERS.flatMap((name) => (question.value[name] ?? []).map((value) => ({ name, value })))
  if (chips.length === 0) return null
  return (
    <ul class="chips" aria-label={texts.ask.filters}>
      {chips.map(({ name, value }) => (
        <li key={`${name} ${value}`}>
          <button
            type="button"
            aria-label={texts.remove(name, value)}
            onClick={() => setQuestion({ [name]: question.value[name]?.filter((one) => one !== value) ?? [] })}
          >
            <small>{name}</small> {value} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

const WAIT_MS = 150
/** The filters of which several values are compared side by side, and the groups that do so. */
const COMPARED: Partial<Record<Filter, View['group']>> = {
  event: 'event',
  country_code: 'country_code',
  al1_code: 'al1_code',
}

function Search({ release }: { release: number }) {
  const [typed, setTyped] = useState('')
  const [q, setQ] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const { value, isWaiting } = useAnswer(q === '' ? '' : `${release} ${q}`, (signal) =>
    api.search(q, { release, num: 12 }, { signal }),
  )
  const clear = () => {
    setTyped('')
    setQ('')
  }
  const matches = value === undefined ? [] : value.data.length > 0 ? value.data : value.suggestions
  return (
    <div class="search">
      <label for="search">{texts.ask.search}</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        aria-describedby="search-hint"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && matches[0] !== undefined) {
            take(matches[0])
            clear()
          }
          if (event.key === 'Escape') clear()
        }}
      />
      <small id="search-hint">{texts.ask.searchHint}</small>
      <p role="status">
        {q !== '' && value !== undefined && !isWaiting && value.data.length === 0 && (
          <>
            {texts.ask.nothing(q)} {matches.length > 0 && texts.ask.nearest}
          </>
        )}
      </p>
      {q !== '' && matches.length > 0 && (
        <ul class="matches">
          {matches.map((match) => (
            <Match key={`${match.kind} ${match.value}`} match={match} onTaken={clear} />
          ))}
        </ul>
      )}
    </div>
  )
}

const filterOf = ({ parameter }: SearchMatch) => FILTERS.find((filter) => filter === parameter)

function take(match: SearchMatch): void {
  const filter = filterOf(match)
  if (filter !== undefined) setQuestion({ [filter]: [match.value] })
}

function Match({ match, onTaken }: { match: SearchMatch; onTaken: () => void }) {
  const filter = filterOf(match)
  const group = filter === undefined ? undefined : COMPARED[filter]
  const chosen = filter === undefined ? [] : (question.value[filter] ?? [])
  const text = texts.ask.found(match.kind, match.label, match.records)
  return (
    <li>
      <button
        type="button"
        onClick={() => {
          take(match)
          onTaken()
        }}
      >
        {text}
      </button>
      {filter !== undefined && group !== undefined && chosen.length > 0 && !chosen.includes(match.value) && (
        <button
          type="button"
          aria-label={texts.ask.compareWith(match.label)}
          onClick={() => {
            addToQuestion(filter, match.value, { group })
            onTaken()
          }}
        >
          {texts.ask.compare}
        </button>
      )}
    </li>
  )
}
