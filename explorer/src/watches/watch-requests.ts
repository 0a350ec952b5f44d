// Asks the service about watches and endpoints. The session of the page can change them: the service checks that it is this page.
import { toError } from '../../../clients/typescript/src/errors.ts'

const HOME = '/v2/hed-outbreaks'
/** Longer than a preview may take. */
const TIMEOUT_MS = 30_000

export interface Watch {
  readonly id: string
  readonly name: string
  readonly question: string
  /** `crosses:cases:1000`; see watch-words.ts. */
  readonly when: string
  readonly endpoint: string | null
  readonly state: 'active' | 'paused' | 'ended'
  readonly ended_because: string | null
  /** The last release that was judged. */
  readonly judged: number
  /** The question in words; null for all releases. */
  readonly about: string | null
}

type Figures = Readonly<Record<string, number | null>>

/** What a watch said about a release, or would have said. */
export interface Notice {
  readonly type: string
  readonly time: string
  readonly data: {
    readonly release: number
    readonly when: string
    readonly before: Figures | null
    readonly after: Figures | null
    readonly refused_before: string | null
    readonly refused_after: string | null
    readonly counted_another_way: boolean
    readonly changes: readonly { readonly kind: string; readonly reason: string; readonly records: number }[]
    readonly cause: string | null
    readonly events: readonly string[]
    readonly more_events: number
    readonly reason: 'pruned' | null
    readonly links: { readonly page: string | null }
  }
}

export interface Preview {
  /** The oldest first. */
  readonly data: readonly Notice[]
  readonly judged: readonly number[]
}

export interface Endpoint {
  readonly id: string
  readonly kind: 'webhook' | 'mail'
  readonly address: string
  readonly state: 'unconfirmed' | 'active' | 'disabled'
}

interface Delivery {
  readonly id: string
  readonly state: 'pending' | 'delivered' | 'failed' | 'digest'
  readonly attempts: readonly { readonly status: number | null; readonly error: string | null }[]
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** The service accepts a change only as JSON, also one without a body. */
async function send<Body>(method: Method, path: string, body: object | null, signal?: AbortSignal): Promise<Body> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(`${HOME}/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body === null ? null : JSON.stringify(body),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  })
  const text = await response.text()
  if (!response.ok) throw toError({ status: response.status, body: text })
  return (text === '' ? null : JSON.parse(text)) as Body
}

export const listWatches = async (signal: AbortSignal): Promise<readonly Watch[]> =>
  (await send<{ data: Watch[] }>('GET', 'watches', null, signal)).data

export const listEndpoints = async (signal: AbortSignal): Promise<readonly Endpoint[]> =>
  (await send<{ endpoints: Endpoint[] }>('GET', 'endpoints', null, signal)).endpoints

export const previewWatch = (question: string, when: string, signal: AbortSignal): Promise<Preview> =>
  send('POST', 'watches/preview', { question, when }, signal)

export const createWatch = (watch: Pick<Watch, 'question' | 'when' | 'endpoint'>): Promise<Watch> =>
  send('POST', 'watches', watch)

export const changeWatch = (id: string, state: 'active' | 'paused'): Promise<Watch> =>
  send('PATCH', `watches/${id}`, { state })

export const deleteWatch = (id: string): Promise<null> => send('DELETE', `watches/${id}`, null)

/** A page of the service has as many. */
const MAX_NOTICES = 100

/** The latest first. A watch says one thing about a release at most, so these are all in one page. */
export async function readNotices({ id, judged }: Watch, signal: AbortSignal): Promise<readonly Notice[]> {
  const after = Math.max(0, judged - MAX_NOTICES)
  const { data } = await send<{ data: Notice[] }>('GET', `watches/${id}/notices?after=${after}`, null, signal)
  return data.toReversed()
}

const POLL_MS = 1000
const MAX_POLLS = 15

/** Delivers a test, and waits for its first attempt. Null if none ended in time. */
export async function testEndpoint(endpoint: string): Promise<Delivery['attempts'][number] | null> {
  const { id } = await send<{ id: string }>('POST', `endpoints/${endpoint}/test`, null)
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    const { deliveries } = await send<{ deliveries: Delivery[] }>('GET', `endpoints/${endpoint}/deliveries`, null)
    const attempt = deliveries.find((delivery) => delivery.id === id)?.attempts.at(-1)
    if (attempt !== undefined) return attempt
  }
  return null
}
