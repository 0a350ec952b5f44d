// A part of the page that shows an answer of the API: the answer, a place for it while it is asked for, or an error.
import type { ComponentChildren } from 'preact'
import type { Answer } from '../ask.ts'
import { Failure } from './failure.tsx'

interface AnsweredProps<Value> {
  readonly answer: Answer<Value>
  /** The class of the place until the answer is there. */
  readonly skeleton?: string
  readonly children: (value: Value) => ComponentChildren
}

export function Answered<Value>({ answer, skeleton = 'chart', children }: AnsweredProps<Value>) {
  const { value, error, isWaiting } = answer
  return (
    <div aria-busy={isWaiting} class={isWaiting && value !== undefined ? 'old' : undefined}>
      {error !== undefined ? (
        <Failure error={error} />
      ) : value === undefined ? (
        <div class={`skel ${skeleton}`} role="status">
          Asking …
        </div>
      ) : (
        children(value)
      )}
    </div>
  )
}
