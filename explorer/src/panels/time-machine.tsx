// Every release as a position of a slider: the page shows the data as they were published then.
import type { Release } from '../../../clients/typescript/src/client.ts'
import { setView, view } from '../state.ts'
import { texts } from '../texts.ts'

interface TimeMachineProps {
  /** The oldest first; those that were pruned are left out. */
  readonly releases: readonly Release[]
  readonly current: Release
}

export function TimeMachine({ releases, current }: TimeMachineProps) {
  const position = releases.findIndex(({ number }) => number === current.number)
  const newest = releases.at(-1)
  const choose = (index: number, replaces: boolean) => {
    const chosen = releases[index]
    if (chosen !== undefined) setView({ release: chosen === newest ? null : chosen.number }, { replaces })
  }
  const { time } = texts
  const label = time.release(current.number, current === newest)
  return (
    <section class="time" aria-labelledby="time">
      <h2 id="time">{time.title}</h2>
      <div class="slider">
        <button
          type="button"
          disabled={position <= 0}
          aria-label={time.earlier}
          onClick={() => choose(position - 1, false)}
        >
          ◀
        </button>
        <input
          type="range"
          min={0}
          max={releases.length - 1}
          value={position}
          aria-label={time.title}
          aria-valuetext={`${label}: ${current.title}`}
          onInput={(event) => choose(Number(event.currentTarget.value), true)}
        />
        <button
          type="button"
          disabled={position >= releases.length - 1}
          aria-label={time.later}
          onClick={() => choose(position + 1, false)}
        >
          ▶
        </button>
      </div>
      <p>
        <b>{label}</b>: {current.title}, {time.days(current.as_of, current.published_at.slice(0, 10))}.{' '}
        {time.changes(current.added, current.corrected, current.withdrawn)}.
      </p>
      <CompareChoice releases={releases} current={current} />
    </section>
  )
}

/** The release to compare the current one with, or nothing. */
export function CompareChoice({ releases, current }: TimeMachineProps) {
  const { time } = texts
  return (
    <label>
      {time.compare}{' '}
      <select
        value={view.value.compare ?? ''}
        onChange={(event) => setView({ compare: Number(event.currentTarget.value) || null })}
      >
        <option value="">{time.nothing}</option>
        {releases
          .filter(({ number }) => number !== current.number)
          .map(({ number, title }) => (
            <option key={number} value={number}>
              {number}: {title}
            </option>
          ))}
      </select>
    </label>
  )
}
