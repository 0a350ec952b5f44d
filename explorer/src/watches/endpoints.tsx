// Where notices are delivered: the endpoints of the client, and a test for one.
import { useState } from 'preact/hooks'
import { signInIfEnded } from '../ask.ts'
import { Select } from '../parts/choose.tsx'
import { type Endpoint, testEndpoint } from './watch-requests.ts'
import { addressWords } from './watch-words.ts'

interface DeliverProps {
  readonly endpoints: readonly Endpoint[]
  /** Null if nothing is delivered. */
  readonly value: string | null
  readonly onChoose: (endpoint: string | null) => void
}

export function Deliver({ endpoints, value, onChoose }: DeliverProps) {
  const active = endpoints.filter(({ state }) => state === 'active')
  const names = {
    '': 'nowhere, I read them here',
    ...Object.fromEntries(active.map((one) => [one.id, addressWords(one)])),
  }
  return (
    <section class="deliver" aria-label="Where to deliver">
      {active.length > 0 && (
        <div class="group">
          <Select
            label="Deliver to"
            value={value ?? ''}
            options={Object.keys(names)}
            names={names}
            onChoose={(id) => onChoose(id === '' ? null : id)}
          />
          {value !== null && <TestButton key={value} endpoint={value} />}
        </div>
      )}
      <p class="quiet small">
        Its notices are listed under Watches, and in the API.{' '}
        {active.length === 0 && (
          <>
            To receive them by webhook or mail, <a href="/docs/receive-webhooks">create an endpoint</a> first.
          </>
        )}
      </p>
    </section>
  )
}

/** Says how the receiver responded. */
export function TestButton({ endpoint }: { endpoint: string }) {
  const [state, setState] = useState('')
  const test = async () => {
    setState('Sending …')
    try {
      const attempt = await testEndpoint(endpoint)
      setState(
        attempt === null
          ? 'No response yet. The test is on its way.'
          : attempt.status === null
            ? `Not delivered: ${attempt.error ?? 'no response'}`
            : attempt.status >= 200 && attempt.status < 300
              ? `Delivered: the receiver returned ${attempt.status}`
              : `Not accepted: the receiver returned ${attempt.status}`,
      )
    } catch (error) {
      signInIfEnded(error)
      setState(`Not sent: ${(error as Error).message}`)
    }
  }
  return (
    <>
      <button class="btn" type="button" disabled={state === 'Sending …'} onClick={() => void test()}>
        Send a test
      </button>
      <span class="small" role="status">
        {state}
      </span>
    </>
  )
}
