// Watches the question of the page: what to be told about, what it would have said, where to deliver, and create.
import { useEffect, useState } from 'preact/hooks'
import { OutbreaksError } from '../../../clients/typescript/src/client.ts'
import { COUNTS } from '../address.ts'
import { signInIfEnded, useAnswer } from '../ask.ts'
import { fieldWord } from '../labels.ts'
import { Answered } from '../parts/answered.tsx'
import { Select } from '../parts/choose.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { Link } from '../parts/link.tsx'
import { filtersOf, toKey } from '../requests.ts'
import { question } from '../state.ts'
import { Deliver } from './endpoints.tsx'
import { PreviewPanel } from './preview.tsx'
import { createWatch, type Endpoint, listEndpoints, type Watch } from './watch-requests.ts'
import { type Condition, describeFilters, formatCondition, KINDS, type Kind } from './watch-words.ts'

const NAMES: Readonly<Record<Kind, readonly [words: string, hint: string]>> = {
  changes: ['A release changes it', 'Any change, or only a large one.'],
  crosses: ['A count crosses a value', 'It reaches the value, or falls below.'],
  corrects: ['A correction touches it', 'Records are corrected or withdrawn.'],
  appears: ['A new event matches', 'One that no release had before.'],
}

interface WatchDialogProps {
  readonly title: string
  readonly onClose: () => void
}

export function WatchDialog({ title, onClose }: WatchDialogProps) {
  const endpoints = useAnswer('endpoints', listEndpoints)
  const isGuest = endpoints.error instanceof OutbreaksError && endpoints.error.code === 'guest_session'
  if (!isGuest && endpoints.value !== undefined)
    return <WatchForm title={title} endpoints={endpoints.value} onClose={onClose} />
  return (
    <Dialog title="Watch this" onClose={onClose}>
      {isGuest ? <GuestNote /> : <Answered answer={endpoints}>{() => null}</Answered>}
    </Dialog>
  )
}

/** Anyone can be a guest, so guests have nothing of their own. */
const GuestNote = () => (
  <>
    <p>A watch belongs to a client, and you look around as a guest. Sign in with your client id and secret.</p>
    <p class="under">
      <a class="btn primary" href={`/explore/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`}>
        Sign in
      </a>
    </p>
  </>
)

function WatchForm({ title, endpoints, onClose }: WatchDialogProps & { endpoints: readonly Endpoint[] }) {
  const isEvent = question.value.event !== undefined
  // An event that is named is no new one.
  const kinds = isEvent ? KINDS.filter((kind) => kind !== 'appears') : KINDS.toReversed()
  const [condition, setCondition] = useState<Condition>({ kind: kinds[0] ?? 'changes', count: 'cases', amount: '' })
  const [endpoint, setEndpoint] = useState<string | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isSending, setSending] = useState(false)
  const [watch, setWatch] = useState<Watch | null>(null)
  const asked = toKey(filtersOf(question.value))
  const when = formatCondition(condition)
  const previewed = useSettled(when)
  const create = async () => {
    if (when === null) return
    setSending(true)
    try {
      setWatch(await createWatch({ question: asked, when, endpoint }))
      setError(null)
    } catch (failure) {
      signInIfEnded(failure)
      setError(failure as Error)
    }
    setSending(false)
  }
  if (watch !== null)
    return (
      <Dialog title="Watch this" onClose={onClose}>
        <Created title={title} watch={watch} />
      </Dialog>
    )
  const filters = describeFilters(question.value)
  return (
    <Dialog
      title="Watch this"
      onClose={onClose}
      foot={
        <button class="btn primary" type="button" disabled={when === null || isSending} onClick={() => void create()}>
          Create watch
        </button>
      }
    >
      <p>
        <b>{title}</b>
        {isEvent && filters !== '' && <span class="quiet">. {filters}</span>}
      </p>
      <fieldset class="choices kinds">
        <legend>Tell me when</legend>
        {kinds.map((kind) => (
          <label key={kind} class="choice">
            <input
              type="radio"
              name="kind"
              checked={condition.kind === kind}
              onChange={() => setCondition({ ...condition, kind, amount: '' })}
            />
            <span>
              <b>{NAMES[kind][0]}.</b> <small>{NAMES[kind][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {(condition.kind === 'changes' || condition.kind === 'crosses') && (
        <Amount condition={condition} onChange={setCondition} />
      )}
      <Deliver endpoints={endpoints} value={endpoint} onChoose={setEndpoint} />
      {error !== null && <Failure error={error} title="The watch was not created" />}
      <PreviewPanel question={asked} when={previewed} isSettling={when !== previewed} />
    </Dialog>
  )
}

/** The count and the number of a condition. */
function Amount({ condition, onChange }: { condition: Condition; onChange: (condition: Condition) => void }) {
  const isCrossing = condition.kind === 'crosses'
  return (
    <div class="group amount">
      <Select
        label="Count"
        value={condition.count}
        options={COUNTS}
        names={
          Object.fromEntries(COUNTS.map((count) => [count, fieldWord(count)])) as Record<Condition['count'], string>
        }
        onChoose={(count) => onChange({ ...condition, count })}
      />
      <label class="pick">
        <span>{isCrossing ? 'crosses' : 'moves by at least'}</span>
        <input
          class="input short"
          type="text"
          inputMode="numeric"
          maxLength={10}
          autocomplete="off"
          placeholder={isCrossing ? '1000' : 'any'}
          value={condition.amount}
          onInput={({ currentTarget }) => onChange({ ...condition, amount: currentTarget.value.trim() })}
        />
      </label>
    </div>
  )
}

const Created = ({ title, watch }: { title: string; watch: Watch }) => (
  <div class="note good" role="status">
    <Icon name="check" />
    <div>
      <h3>You watch {title}</h3>
      <p>It says something about the releases after release {watch.judged}.</p>
      <p class="group">
        <Link page="watches" class="btn">
          Your watches
        </Link>
      </p>
    </div>
  </div>
)

const SETTLE_MS = 400

/** The value, once nobody has typed for a moment. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
