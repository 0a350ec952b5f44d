// The search: events, diseases, places and sources, also misspelt. Each result opens a page.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { SearchMatch } from '../../../clients/typescript/src/client.ts'
import { DEFAULT_VIEW, FILTERS } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { countOf, formatDays } from '../format.ts'
import { countryName, rememberTitles } from '../labels.ts'
import { eventLink, goTo, view } from '../state.ts'
import { Icon, type IconName } from './icon.tsx'

const WAIT_MS = 150
const KINDS = { event: 'Events', disease: 'Diseases', pathogen: 'Pathogens', place: 'Places', source: 'Sources' }
type Kind = keyof typeof KINDS
const ICONS: Readonly<Record<Kind, IconName>> = {
  event: 'bars',
  disease: 'disease',
  pathogen: 'disease',
  place: 'place',
  source: 'quote',
}

interface SearchProps {
  readonly release: number
  readonly isBig?: boolean
  /** Instead of opening a page. */
  readonly onTake?: (match: SearchMatch) => void
  readonly label?: string
}

export function Search({
  release,
  isBig = false,
  onTake = open,
  label = 'Find a disease, a country, an event or a source',
}: SearchProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [q, setQ] = useState('')
  const [at, setAt] = useState(0)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  useEffect(() => {
    if (onTake !== open) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement)
        return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  const { value, isWaiting } = useAnswer(q === '' ? '' : `${release} ${q}`, (signal) =>
    api.search(q, { release, num: 12 }, { signal }).then((found) => {
      const events = [...found.data, ...found.suggestions].filter(({ kind }) => kind === 'event')
      rememberTitles(events.map(({ value: event, label: title }) => ({ event, title })))
      return found
    }),
  )
  const isMiss = value !== undefined && value.data.length === 0
  const matches = sortByKind(value === undefined ? [] : isMiss ? value.suggestions : value.data)
  const isShown = isOpen && q !== '' && value !== undefined
  const take = (match: SearchMatch) => {
    setTyped('')
    setQ('')
    setOpen(false)
    onTake(match)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && matches.length > 0) {
      event.preventDefault()
      setAt((at + step + matches.length) % matches.length)
    }
    const match = matches[at]
    if (event.key === 'Enter' && isShown && match !== undefined) take(match)
    if (event.key === 'Escape') setOpen(false)
  }
  return (
    <div class={`combo${isBig ? ' big' : ' top'}`}>
      <label class="sr" for={id}>
        {label}
      </label>
      <div class="combo-box">
        <Icon name="search" />
        <input
          id={id}
          ref={input}
          type="text"
          role="combobox"
          list={undefined}
          aria-expanded={isShown}
          aria-controls={`${id}-list`}
          aria-activedescendant={isShown && matches.length > 0 ? `${id}-${at}` : undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder={isBig ? 'Disease, country, event or source' : onTake === open ? 'Search' : label}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value)
            setAt(0)
            setOpen(true)
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        {onTake === open && <kbd aria-hidden="true">/</kbd>}
      </div>
      <p class="sr" role="status">
        {isShown && !isWaiting && (isMiss ? `Nothing is called “${q}”.` : countOf(matches.length, 'result'))}
      </p>
      {isShown && isMiss && (
        <div class="combo-list">
          <p class="small quiet none">
            Nothing is called “{q}”. {matches.length > 0 && 'Nearest:'}
          </p>
          {matches.length > 0 && <Results {...{ id, matches, at, take, q: '' }} />}
        </div>
      )}
      {isShown && !isMiss && (
        <div class="combo-list">
          <Results {...{ id, matches, at, take, q }} />
        </div>
      )}
    </div>
  )
}

interface ResultsProps {
  readonly id: string
  readonly matches: readonly SearchMatch[]
  readonly at: number
  readonly take: (match: SearchMatch) => void
  readonly q: string
}

function Results({ id, matches, at, take, q }: ResultsProps) {
  return (
    <div id={`${id}-list`} role="listbox" aria-label="Results">
      {matches.map((match, i) => (
        <div
          key={`${match.kind} ${match.value}`}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === at}
          // The input keeps the focus, so that its blur does not close the list first.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => take(match)}
        >
          <Icon name={ICONS[match.kind as Kind] ?? 'bars'} />
          <span>
            <Marked text={matchTitle(match)} q={q} />
          </span>
          <small>{describeMatch(match)}</small>
        </div>
      ))}
    </div>
  )
}

const sortByKind = (matches: readonly SearchMatch[]): SearchMatch[] => {
  const order = Object.keys(KINDS)
  return matches.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

function matchTitle({ value, label, parameter }: SearchMatch): string {
  return parameter === 'country_code' ? countryName(value) : label
}

function describeMatch({ kind, records, events, first_day: first, last_day: last }: SearchMatch): string {
  const days = first === null || last === null ? '' : formatDays(first, last)
  if (kind === 'event') return days
  return events === null ? countOf(records, 'report') : countOf(events, 'event')
}

const escapeWord = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The words of the question are stronger. */
function Marked({ text, q }: { text: string; q: string }) {
  const words = q.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length === 0) return <>{text}</>
  const pattern = new RegExp(`(${words.map(escapeWord).join('|')})`, 'i')
  return <>{text.split(pattern).map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}</>
}

/** An event opens its page, everything else the events that have it. */
function open({ parameter, value }: SearchMatch): void {
  const filter = FILTERS.find((name) => name === parameter)
  if (filter === 'event') {
    const { page, to } = eventLink(value)
    goTo(page, to)
  } else if (filter !== undefined)
    goTo('events', { question: { [filter]: [value] }, view: { ...DEFAULT_VIEW, release: view.value.release } })
}
