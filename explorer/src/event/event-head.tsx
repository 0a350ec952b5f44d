// The top of the page of an event: where it is, its title, what can be done with it, and its parts.
import { useState } from 'preact/hooks'
import type { EventSummary, Release } from '../../../clients/typescript/src/client.ts'
import { DEFAULT_VIEW, formatAddress, TABS, type Tab } from '../address.ts'
import { formatDays, formatNumber } from '../format.ts'
import { countryName, eventTitle, splitTitle } from '../labels.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { Link } from '../parts/link.tsx'
import { address, question, setQuestion, setView, view } from '../state.ts'
import { useCitation } from '../use-event.ts'
import { WatchButton } from '../watches/watch-button.tsx'
import { WatchDialog } from '../watches/watch-dialog.tsx'

const NAMES: Readonly<Record<Tab, string>> = {
  overview: 'Overview',
  sources: 'Sources',
  changes: 'Changes',
  records: 'Records',
  use: 'Use this data',
}

interface HeadProps {
  readonly event: string
  readonly summary: EventSummary | null
  readonly current: Release
  readonly newest: Release
}

export function EventHead({ event, summary, current, newest }: HeadProps) {
  const { page, tab } = address.value
  const { label, place, year } = splitTitle(summary?.title ?? event)
  const [isCiting, setCiting] = useState(false)
  const [isWatching, setWatching] = useState(false)
  const pinned = { ...address.value, view: { ...view.value, release: current.number } }
  const plain = { question: {}, view: { ...DEFAULT_VIEW, release: view.value.release } }
  const disease = summary?.diseases?.[0]
  const counts: Partial<Record<Tab, number>> =
    summary === null ? {} : { sources: summary.sources.length, records: summary.records }
  const places = question.value.country_code ?? []
  const title = places.length === 1 ? `${label}, ${countryName(places[0] ?? '')}` : eventTitle(event)
  return (
    <div class="head">
      <ol class="crumbs" aria-label="Where you are">
        <li>
          <Link page="events" to={plain}>
            Events
          </Link>
        </li>
        {disease !== undefined && (
          <li>
            <Link page="events" to={{ ...plain, question: { disease: [disease] } }}>
              {disease}
            </Link>
          </li>
        )}
        <li aria-current="page">{[place, year].filter((part) => part !== '').join(', ')}</li>
      </ol>
      <div class="head-row">
        <div>
          <h1>{title}</h1>
          <p>
            {summary?.first_day != null && summary.last_day !== null && (
              <>{formatDays(summary.first_day, summary.last_day)} · </>
            )}
            Release {current.number}, {current === newest ? 'the latest' : 'not the latest'}
            {places.length === 1 && (
              <>
                {' '}
                ·{' '}
                <button class="link" type="button" onClick={() => setQuestion({ country_code: [] })}>
                  all places of {eventTitle(event)}
                </button>
              </>
            )}
          </p>
        </div>
        <div class="group">
          <CopyButton
            text={location.origin + formatAddress(pinned)}
            label="Copy link"
            hint="The link names the release, so it shows the same numbers permanently."
            icon="link"
          />
          <button class="btn" type="button" onClick={() => setCiting(true)}>
            <Icon name="quote" /> <span>Cite</span>
          </button>
          <WatchButton onOpen={() => setWatching(true)} />
          {tab !== 'use' && (
            <Link page="event" to={{ tab: 'use' }} class="btn primary">
              <Icon name="download" /> <span>Use this data</span>
            </Link>
          )}
        </div>
      </div>
      {page === 'event' && summary !== null && (
        <nav class="tabs" aria-label="Parts of this event">
          {TABS.map((name) => (
            <Link key={name} page="event" to={{ tab: name }} isCurrent={tab === name}>
              {NAMES[name]} {counts[name] !== undefined && <span class="n">{formatNumber(counts[name])}</span>}
            </Link>
          ))}
        </nav>
      )}
      {isCiting && <Cite release={current.number} onClose={() => setCiting(false)} />}
      {isWatching && <WatchDialog title={title} onClose={() => setWatching(false)} />}
      {current !== newest && <PastNote current={current} />}
    </div>
  )
}

/** An earlier release is never mistaken for the newest. */
function PastNote({ current }: { current: Release }) {
  return (
    <div class="note warn past-note" role="status">
      <Icon name="clock" />
      <p>
        <b>You see release {current.number}</b> ({current.title}): the numbers as they were published then.{' '}
        <button class="link" type="button" onClick={() => setView({ release: null })}>
          Show the latest
        </button>
      </p>
    </div>
  )
}

function Cite({ release, onClose }: { release: number; onClose: () => void }) {
  const { value, error } = useCitation(release, true)
  return (
    <Dialog
      title="Cite this view"
      onClose={onClose}
      foot={value !== undefined && <CopyButton text={value} label="Copy citation" />}
    >
      {error !== undefined && <Failure error={error} />}
      <p class="cite citation">{value ?? 'Asking …'}</p>
    </Dialog>
  )
}
