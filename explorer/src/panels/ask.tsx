// The question: a search for events, diseases, places and sources, the filters that are set, and how the answer is shown.
import { useEffect, useState } from 'preact/hooks'
import type { SearchMatch } from '../../../clients/typescript/src/client.ts'
import { COUNTS, type Filter, FILTERS, GROUPS, INTERVALS, KINDS } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { question, setQuestion, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

export function Ask({ release, link }: { release: number; link: string }) {
  return (
    <section class="ask" aria-label={texts.ask.title}>
      <Search release={release} />
      <Chips />
      <div class="choices">
        <Choice label={texts.ask.count} name="count" options={COUNTS} names={texts.counts} />
        <Choice label={texts.ask.kind} name="kind" options={KINDS} names={texts.kinds} />
        <Choice label={texts.ask.interval} name="interval" options={INTERVALS} names={texts.interval} />
        <Choice label={texts.ask.group} name="group" options={GROUPS} names={texts.groups} />
        <DayField filter="date_from" label={texts.ask.from} />
        <DayField filter="date_to" label={texts.ask.to} />
        <CopyButton text={link} label={texts.copyLink} hint={texts.copyLinkHint} />
      </div>
    </section>
  )
}

interface ChoiceProps<Name extends 'count' | 'kind' | 'interval' | 'group', Option extends string> {
  readonly label: string
  readonly name: Name
  readonly options: readonly Option[]
  readonly names: Readonly<Record<Option, string>>
}

function Choice<Name extends 'count' | 'kind' | 'interval' | 'group', Option extends string>({
  label,
  name,
  options,
  names,
}: ChoiceProps<Name, Option>) {
  return (
    <label>
      {label}{' '}
      <select value={view.value[name]} onChange={(event) => setView({ [name]: event.currentTarget.value })}>
        {options.map((option) => (
          <option key={option} value={option}>
            {names[option]}
          </option>
        ))}
      </select>
    </label>
  )
}

function DayField({ filter, label }: { filter: 'date_from' | 'date_to'; label: string }) {
  return (
    <label>
      {label}{' '}
      <input
        type="date"
        value={question.value[filter]?.[0] ?? ''}
        onChange={(event) => setQuestion({ [filter]: event.currentTarget.value === '' ? [] : [event.currentTarget.value] })}
      />
    </label>
  )
}

function Chips() {
  const chips = FILTERS.filter((name) => name !== 'date_from' && name !== 'date_to').flatMap((name) =>
    (question.value[name] ?? []).map((value) => ({ name, value })),
  )
  if (chips.length === 0) return null
  return (
    <ul class="chips">
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
  const choose = ({ parameter, value: chosen }: SearchMatch) => {
    const name = FILTERS.find((filter) => filter === parameter)
    if (name !== undefined) setQuestion({ [name]: addValue(name, chosen) })
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
          if (event.key === 'Enter' && matches[0] !== undefined) choose(matches[0])
          if (event.key === 'Escape') setTyped('')
        }}
      />
      <small id="search-hint">{texts.ask.searchHint}</small>
      <div role="status">
        {q !== '' && value !== undefined && !isWaiting && value.data.length === 0 && (
          <p>
            {texts.ask.nothing(q)} {matches.length > 0 && texts.ask.nearest}
          </p>
        )}
      </div>
      {q !== '' && matches.length > 0 && (
        <ul class="matches">
          {matches.map((match) => (
            <li key={`${match.kind} ${match.value}`}>
              <button type="button" onClick={() => choose(match)}>
                {texts.ask.found(match.kind, match.label, match.records)}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A second place or event is compared with the first; of other fields only one value makes sense. */
function addValue(name: Filter, value: string): string[] {
  const isCompared = name === 'country_code' || name === 'al1_code'
  return isCompared ? [...new Set([...(question.value[name] ?? []), value])] : [value]
}
