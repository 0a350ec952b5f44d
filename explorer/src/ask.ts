// Asks the API for a part of the page. A new question stops the request of the one before. The session cookie goes with the
// request by itself: no token is in the page.
import { useEffect, useState } from 'preact/hooks'
import { NotAllowed, Outbreaks } from '../../clients/typescript/src/client.ts'

export const api = new Outbreaks({ baseUrl: location.origin, fetch: (input, init) => fetch(input, init) })

export interface Answer<Value> {
  /** The last answer; undefined before the first. It stays while the next one is asked for. */
  readonly value: Value | undefined
  readonly error: Error | undefined
  readonly isWaiting: boolean
}

/** The requests of the curve that are under way. The reader waits for the curve: the other parts of the page ask after it. */
const urgent = new Set<Promise<unknown>>()
const MOST_DELAY_MS = 500

async function askAfterUrgent<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  // All parts of the page learn of a new question in the same task. Afterwards the curve's request is under way.
  await Promise.resolve()
  if (urgent.size > 0)
    await Promise.race([Promise.allSettled(urgent), new Promise((go) => setTimeout(go, MOST_DELAY_MS))])
  signal.throwIfAborted()
  return ask(signal)
}

function askAtOnce<Value>(ask: (signal: AbortSignal) => Promise<Value>, signal: AbortSignal): Promise<Value> {
  const asked = ask(signal)
  urgent.add(asked)
  const forget = () => urgent.delete(asked)
  asked.then(forget, forget)
  return asked
}

/** `key` identifies the question. With an empty key nothing is asked. */
export function useAnswer<Value>(
  key: string,
  ask: (signal: AbortSignal) => Promise<Value>,
  { isUrgent = false } = {},
): Answer<Value> {
  const [answer, setAnswer] = useState<Answer<Value> & { key: string }>({
    key: '',
    value: undefined,
    error: undefined,
    isWaiting: false,
  })
  useEffect(() => {
    if (key === '') {
      setAnswer({ key, value: undefined, error: undefined, isWaiting: false })
      return
    }
    const controller = new AbortController()
    setAnswer((last) => ({ ...last, isWaiting: true }))
    const askInTurn = isUrgent ? askAtOnce : askAfterUrgent
    askInTurn(ask, controller.signal).then(
      (value) =>
        setAnswer((last) => (controller.signal.aborted ? last : { key, value, error: undefined, isWaiting: false })),
      (error: Error) => {
        if (controller.signal.aborted) return
        signInIfEnded(error)
        setAnswer({ key, value: undefined, error, isWaiting: false })
      },
    )
    return () => controller.abort()
  }, [key])
  // Between the change of the key and the effect, the answer is still that of the key before.
  return answer.key === key || key === '' ? answer : { ...answer, isWaiting: true }
}

let isLeaving = false
// After Back the browser may show this page again as it was.
addEventListener('pageshow', () => {
  isLeaving = false
})

/** If the session has ended. The sign-in page leads back to this address. Of several failed questions the first one leads there. */
export function signInIfEnded(error: unknown): void {
  if (isLeaving || !(error instanceof NotAllowed) || error.status !== 401) return
  isLeaving = true
  location.assign(`/explore/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`)
}
