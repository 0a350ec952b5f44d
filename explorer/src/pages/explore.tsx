// The working page: the question, the time machine, and the answer from several sides.
import type { Release } from '../../../clients/typescript/src/client.ts'
import { formatAddress } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { Ask } from '../panels/ask.tsx'
import { ChangesPanel } from '../panels/changes.tsx'
import { CoveragePanel } from '../panels/coverage.tsx'
import { CurvePanel } from '../panels/curve.tsx'
import { MapPanel } from '../panels/map.tsx'
import { TakePanel, useCitation } from '../panels/take.tsx'
import { TimeMachine } from '../panels/time-machine.tsx'
import { Answered } from '../parts/answered.tsx'
import { address, question, setQuestion, view } from '../state.ts'
import { texts } from '../texts.ts'

export function ExplorePage({ releases, current }: { releases: readonly Release[]; current: Release }) {
  const citation = useCitation(current.number)
  const pinned = { ...address.value, view: { ...view.value, release: current.number } }
  const link = location.origin + formatAddress(pinned)
  return (
    <>
      <h1 class="hidden">{texts.pages.explore}</h1>
      <Ask release={current.number} link={link} />
      <TimeMachine releases={releases} current={current} />
      {question.value.event === undefined ? (
        <EventChoice release={current.number} />
      ) : (
        <>
          <CurvePanel release={current.number} source={citation.isWaiting ? null : (citation.value ?? null)} />
          <MapPanel release={current.number} />
          <ChangesPanel releases={releases} to={current} />
          <CoveragePanel release={current.number} />
          <TakePanel release={current.number} citation={citation} />
        </>
      )}
    </>
  )
}

const MOST_EVENTS = 30

function EventChoice({ release }: { release: number }) {
  const answer = useAnswer(`events ${release}`, (signal) => api.facets({ release, num: MOST_EVENTS }, { signal }))
  return (
    <section class="start" aria-labelledby="start">
      <h2 id="start">{texts.ask.start}</h2>
      <Answered answer={answer}>
        {({ event: { values } }) => (
          <ul class="matches">
            {values.map(({ value, records }) => (
              <li key={String(value)}>
                <button type="button" onClick={() => setQuestion({ event: [String(value)] })}>
                  {String(value)} ({texts.records(records)})
                </button>
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </section>
  )
}
