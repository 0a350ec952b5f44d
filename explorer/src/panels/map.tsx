// The map of the question: one guarded number for each place of one level.
import { useMemo } from 'preact/hooks'
import { MAP_LEVELS } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { Answered } from '../parts/answered.tsx'
import { PlaceMap } from '../parts/map.tsx'
import { sumsParameters, toKey, toObject } from '../requests.ts'
import { question, setQuestion, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

export function MapPanel({ release }: { release: number }) {
  const { level, count, kind } = view.value
  const parameters = sumsParameters(question.value, view.value, release)
  const key = question.value.event === undefined ? '' : toKey(parameters)
  const answer = useAnswer(key, (signal) => api.sums(toObject(parameters) as never, { signal }))
  const places = useMemo(
    () =>
      answer.value?.data.flatMap(({ group, new: news, cumulative, point }) => {
        const code = group[level]
        return typeof code === 'string' ? [{ code, value: { new: news, cumulative, point }[kind][count] }] : []
      }) ?? [],
    [answer.value, level, count, kind],
  )
  const title = texts.map.title(`${texts.kinds[kind]} ${texts.counts[count]}`, question.value.date_to?.[0] ?? null)
  return (
    <section class="where" aria-labelledby="where">
      <h2 id="where">{title}</h2>
      <div class="choices" role="group" aria-label={title}>
        {MAP_LEVELS.map((name) => (
          <button key={name} type="button" aria-pressed={level === name} onClick={() => setView({ level: name })}>
            {texts.map.level[name]}
          </button>
        ))}
      </div>
      <Answered answer={answer}>
        {() => (
          <PlaceMap
            level={level}
            values={places}
            chosen={new Set(question.value[level])}
            label={title}
            onPick={(code) => setQuestion({ [level]: [...new Set([...(question.value[level] ?? []), code])] })}
          />
        )}
      </Answered>
    </section>
  )
}
