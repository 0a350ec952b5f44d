// A part of the page that shows an answer of the API: the answer, the reason why the counts are not added up, or an error.
import type { ComponentChildren } from 'preact'
import { NotComparable } from '../../../clients/typescript/src/client.ts'
import type { Answer } from '../ask.ts'
import { texts } from '../texts.ts'
import { Failure } from './failure.tsx'
import { Refusal } from './guard.tsx'

interface AnsweredProps<Value> {
  readonly answer: Answer<Value>
  readonly children: (value: Value) => ComponentChildren
}

export function Answered<Value>({ answer: { value, error, isWaiting }, children }: AnsweredProps<Value>) {
  return (
    <div aria-busy={isWaiting}>
      {error instanceof NotComparable ? (
        <Refusal error={error} />
      ) : error !== undefined ? (
        <Failure error={error} />
      ) : value === undefined ? (
        <p class="empty">{texts.waiting}</p>
      ) : (
        children(value)
      )}
    </div>
  )
}
