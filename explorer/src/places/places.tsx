// Where: a map with circles, and the places by their count. A click shows one place.
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { PlaceMap } from '../charts/map.tsx'
import { TipText } from '../charts/plot.tsx'
import { Rank } from '../charts/rank.tsx'
import { formatNumber } from '../format.ts'
import { Answered } from '../parts/answered.tsx'
import { isRefusedBy } from '../refusal.ts'
import { question, setQuestion, view } from '../state.ts'
import { texts } from '../texts.ts'
import type { Shown } from '../use-event.ts'
import type { Places } from './use-places.ts'

interface PlacesProps {
  readonly shown: Shown
  readonly places: Places
  readonly summary: EventSummary
}

export function PlacesPanel({ shown, places: { answer, nameOf }, summary }: PlacesProps) {
  const level = shown.places ?? 'country_code'
  const { count } = view.value
  const rows = (answer.value?.totals ?? []).map(({ code, counts }) => ({
    code,
    name: nameOf(code),
    value: counts[count],
  }))
  const byCode = new Map(rows.map((row) => [row.code, row]))
  const chosen = new Set(question.value[level] ?? [])
  const pick = (code: string) => byCode.has(code) && setQuestion({ [level]: chosen.has(code) ? [] : [code] })
  const isRefused = isRefusedBy(answer.error)
  const kind = level === 'al1_code' ? ('states' as const) : level === 'country_code' ? ('world' as const) : null
  const missing = kind === 'states' ? 51 - rows.length : 0
  if (isRefused) return <p class="quiet small">By place the counts differ in how they were counted.</p>
  return (
    <div class="where">
      <div class="sub">
        <h3>By {texts.places[level]}</h3>
        <span class="small quiet">
          {kind === null ? '' : `area: ${texts.counts[count]}`}
          {missing > 0 && `; ${missing} states: no report`}
        </span>
      </div>
      <Answered answer={answer}>
        {() => (
          <>
            {kind !== null && (
              <PlaceMap
                kind={kind}
                spots={rows
                  .filter(({ value }) => value !== null && value > 0)
                  .map(({ code, name, value }) => ({
                    code,
                    size: value ?? 0,
                    lines: [`${kind === 'states' ? code.slice(3) : name} ${formatNumber(value ?? 0)}`],
                  }))}
                label={`${summary.event.replaceAll('_', ' ')}: ${texts.counts[count]} by ${texts.places[level]}`}
                shade={(code) => (byCode.has(code) ? `pick${chosen.has(code) ? ' chosen' : ''}` : 'none')}
                tip={(code, name) => (
                  <TipText
                    title={name}
                    {...(byCode.has(code)
                      ? { big: [write(byCode.get(code)?.value), texts.counts[count]] as const }
                      : { why: 'No report, which is not zero' })}
                  />
                )}
                onPick={pick}
              />
            )}
            <Rank rows={rows} first={kind === null ? 10 : 5} isChosen={(code) => chosen.has(code)} onPick={pick} />
          </>
        )}
      </Answered>
    </div>
  )
}

const write = (value: number | null | undefined): string => (value == null ? 'Not reported' : formatNumber(value))
