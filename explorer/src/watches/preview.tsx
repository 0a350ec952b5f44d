// What a watch would have said about the last releases. They never change, so this is exact.
import { useAnswer } from '../ask.ts'
import { countOf } from '../format.ts'
import { Answered } from '../parts/answered.tsx'
import { NoticeItem } from './notice.tsx'
import { type Preview, previewWatch } from './watch-requests.ts'

interface PreviewProps {
  readonly question: string
  /** Null until the condition is complete. */
  readonly when: string | null
  /** Someone is still typing. */
  readonly isSettling: boolean
}

export function PreviewPanel({ question, when, isSettling }: PreviewProps) {
  const answer = useAnswer(when === null ? '' : `watch ${when} ${question}`, (signal) =>
    previewWatch(question, when ?? '', signal),
  )
  return (
    <section class={isSettling ? 'said old' : 'said'} aria-busy={isSettling} aria-labelledby="said">
      <h3 id="said">What it would have said</h3>
      {when === null ? (
        <p class="quiet small">Type a whole number from 1.</p>
      ) : (
        <Answered answer={answer} skeleton="line w8">
          {(value) => <Said {...value} />}
        </Answered>
      )}
    </section>
  )
}

function Said({ data, judged }: Preview) {
  return (
    <>
      <p class="quiet small" role="status">
        {judged.length === 0
          ? 'There is only one release, and nothing to compare it with.'
          : data.length === 0
            ? `It would have been silent about the last ${countOf(judged.length, 'release')}.`
            : `It would have told you about ${data.length} of the last ${countOf(judged.length, 'release')}.`}
      </p>
      <ul class="rows">
        {data.toReversed().map((notice) => (
          <NoticeItem key={notice.data.release} notice={notice} />
        ))}
      </ul>
    </>
  )
}
