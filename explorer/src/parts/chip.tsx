// A value of the question, which a click removes.
import type { Filter } from '../address.ts'
import { question, setQuestion } from '../state.ts'

export function Chip({ filter, value, name }: { filter: Filter; value: string; name: string }) {
  return (
    <button
      class="chip on"
      type="button"
      aria-label={`Remove ${name}`}
      onClick={() => setQuestion({ [filter]: question.value[filter]?.filter((one) => one !== value) ?? [] })}
    >
      {name}{' '}
      <span class="x" aria-hidden="true">
        ×
      </span>
    </button>
  )
}
