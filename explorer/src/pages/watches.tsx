// The watches of the client: what each is about, what it said last, and pause, resume and delete. Below them, its endpoints.
import { useState } from 'preact/hooks'
import { DEFAULT_VIEW, parseQuestion } from '../address.ts'
import { signInIfEnded, useAnswer } from '../ask.ts'
import { countOf } from '../format.ts'
import { Answered } from '../parts/answered.tsx'
import { Failure } from '../parts/failure.tsx'
import { Badge } from '../parts/figure.tsx'
import { Link } from '../parts/link.tsx'
import { TestButton } from '../watches/endpoints.tsx'
import { NoticeItem } from '../watches/notice.tsx'
import {
  changeWatch,
  deleteWatch,
  type Endpoint,
  listEndpoints,
  listWatches,
  readNotices,
  type Watch,
} from '../watches/watch-requests.ts'
import { addressWords, describeCondition, stateWords } from '../watches/watch-words.ts'

export function WatchesPage() {
  const answer = useAnswer('watches', async (signal) => {
    const [watches, endpoints] = await Promise.all([listWatches(signal), listEndpoints(signal)])
    return { watches: watches.toReversed(), endpoints }
  })
  return (
    <div class="wrap">
      <div class="head">
        <h1>Watches</h1>
        <p class="quiet">
          A watch tells you when a release moves your number, and whether by new reports or a correction.
        </p>
      </div>
      <Answered answer={answer}>{(value) => <Lists {...value} />}</Answered>
    </div>
  )
}

interface ListsProps {
  readonly watches: readonly Watch[]
  readonly endpoints: readonly Endpoint[]
}

function Lists({ watches: found, endpoints }: ListsProps) {
  const [watches, setWatches] = useState(found)
  const replace = (id: string, next: Watch | null) =>
    setWatches((last) => last.flatMap((one) => (one.id !== id ? [one] : next === null ? [] : [next])))
  return (
    <>
      {watches.length === 0 ? (
        <div class="empty">
          <h3>You watch nothing yet</h3>
          <p>Open an event, or a list of events, and choose “Watch this”.</p>
          <Link page="events" to={{ question: {} }} class="btn">
            Events
          </Link>
        </div>
      ) : (
        <ul class="rows watches">
          {watches.map((watch) => (
            <WatchItem
              key={watch.id}
              watch={watch}
              endpoint={endpoints.find(({ id }) => id === watch.endpoint)}
              onChange={(next) => replace(watch.id, next)}
            />
          ))}
        </ul>
      )}
      {endpoints.length > 0 && <Endpoints endpoints={endpoints} />}
    </>
  )
}

interface ItemProps {
  readonly watch: Watch
  readonly endpoint: Endpoint | undefined
  readonly onChange: (next: Watch | null) => void
}

const BADGES = { active: 'added', paused: '', ended: 'withdrawn' } as const

function WatchItem({ watch, endpoint, onChange }: ItemProps) {
  const { id, name, about, when, state, question } = watch
  const title = about ?? 'All releases'
  const [error, setError] = useState<Error | null>(null)
  const [isAsking, setAsking] = useState(false)
  const act = (change: () => Promise<Watch | null>) => async () => {
    try {
      onChange(await change())
      setError(null)
    } catch (failure) {
      signInIfEnded(failure)
      setError(failure as Error)
    }
  }
  const asked = parseQuestion(question)
  const to = { question: asked, view: DEFAULT_VIEW }
  return (
    <li>
      <div class="head-row">
        <div>
          <h2 class="h3">
            <Link page={question === '' ? 'releases' : asked.event?.length === 1 ? 'event' : 'events'} to={to}>
              {title}
            </Link>{' '}
            <Badge change={BADGES[state]}>{stateWords(watch)}</Badge>
          </h2>
          <p class="quiet small">
            {describeCondition(when)}
            {endpoint !== undefined && `. Delivered to ${addressWords(endpoint)}`}
            {about !== null && name !== about && `. Named “${name}”`}
          </p>
        </div>
        <div class="group">
          {isAsking ? (
            <>
              <span class="small">Delete it with its notices?</span>
              <button class="btn" type="button" onClick={() => setAsking(false)}>
                Keep
              </button>
              <button class="btn" type="button" onClick={() => void act(() => deleteWatch(id))()}>
                Delete
              </button>
            </>
          ) : (
            <>
              {state !== 'ended' && (
                <button
                  class="btn"
                  type="button"
                  onClick={() => void act(() => changeWatch(id, state === 'paused' ? 'active' : 'paused'))()}
                >
                  {state === 'paused' ? 'Resume' : 'Pause'}
                </button>
              )}
              <button class="btn" type="button" onClick={() => setAsking(true)}>
                Delete
              </button>
            </>
          )}
        </div>
      </div>
      {error !== null && <Failure error={error} title="The watch was not changed" />}
      <Notices watch={watch} />
    </li>
  )
}

function Notices({ watch }: { watch: Watch }) {
  const answer = useAnswer(`notices ${watch.id}`, (signal) => readNotices(watch, signal))
  return (
    <Answered answer={answer} skeleton="line w5">
      {([last, ...earlier]) =>
        last === undefined ? (
          <p class="quiet small">It said nothing yet. Release {watch.judged} was the last one that it looked at.</p>
        ) : (
          <>
            <ul>
              <NoticeItem notice={last} />
            </ul>
            {earlier.length > 0 && (
              <details>
                <summary>{countOf(earlier.length, 'earlier notice')}</summary>
                <ul>
                  {earlier.map((notice) => (
                    <NoticeItem key={notice.data.release} notice={notice} />
                  ))}
                </ul>
              </details>
            )}
          </>
        )
      }
    </Answered>
  )
}

const STATES = { active: 'Confirmed', unconfirmed: 'Not confirmed', disabled: 'Disabled' } as const

const Endpoints = ({ endpoints }: { endpoints: readonly Endpoint[] }) => (
  <section class="section" aria-labelledby="endpoints">
    <div class="section-head">
      <h2 id="endpoints">Where notices are delivered</h2>
      <p>
        Endpoints of your client. <a href="/docs/receive-webhooks">Create and confirm them</a> with the API.
      </p>
    </div>
    <ul class="rows two">
      {endpoints.map((endpoint) => (
        <li key={endpoint.id}>
          <span>
            {addressWords(endpoint)} <small class="quiet">{STATES[endpoint.state]}</small>
          </span>
          <span class="group">{endpoint.state === 'active' && <TestButton endpoint={endpoint.id} />}</span>
        </li>
      ))}
    </ul>
  </section>
)
