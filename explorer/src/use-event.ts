// What the page of an event asks the service: the event, its curve, and how both were in every release.
import { useRef, useState } from 'preact/hooks'
import type { EventSummary, Series } from '../../clients/typescript/src/client.ts'
import { parseQuestion, type Question } from './address.ts'
import { type Answer, api, useAnswer } from './ask.ts'
import { betterInterval, chooseInterval, choosePlaces, type Form, formOf } from './forms.ts'
import { readEvents } from './read-events.ts'
import {
  type Interval,
  type PlaceField,
  recordFilters,
  seriesParameters,
  toKey,
  toObject,
  vintagesParameters,
} from './requests.ts'
import { question, view } from './state.ts'

/** The numbers of an event; null if the release does not have it. */
export const useSummary = (event: string, release: number): Answer<EventSummary | null> =>
  useAnswer(
    event === '' ? '' : `summary ${release} ${event}`,
    async (signal) => (await readEvents({ event, release, num: 1 }, signal)).events[0] ?? null,
    { isUrgent: true },
  )

export interface Shown {
  readonly interval: Interval
  readonly places: PlaceField | null
  readonly form: Form
  readonly answer: Answer<Series>
  /** The sets that the service chose: the map, the releases and the changes show the same. */
  readonly chosen: Question
}

/** The curve of the question, at the length of period that its counts need. */
export function useShown(summary: EventSummary | null | undefined, release: number): Shown {
  const asked = question.value
  const { interval: wanted, level, group } = view.value
  const [better, setBetter] = useState<{ of: string; interval: Interval } | null>(null)
  const of = `${release} ${wanted} ${toKey(recordFilters(asked))}`
  const chosenInterval = wanted ?? chooseInterval(summary?.first_day ?? null, summary?.last_day ?? null)
  const interval = better?.of === of ? better.interval : chosenInterval
  const parameters = seriesParameters(asked, { interval, group, side: false }, release)
  const answer = useAnswer(
    summary === undefined || summary === null ? '' : toKey(parameters),
    async (signal) => {
      const series = await api.series(toObject(parameters), { signal })
      const fitting = betterInterval(series)
      // Who asks for weeks gets weeks, from the day from which they were reported.
      if (fitting !== null && (wanted === null || (wanted === 'isoweek' && fitting === 'epiweek')))
        setBetter({ of, interval: fitting })
      return series
    },
    { isUrgent: true },
  )
  const series = answer.error === undefined ? answer.value : undefined
  const [only] = series?.chosen ?? []
  // Until the curve is there, the other parts ask nothing new: they would ask once more when its sets are known.
  const settled = useRef(asked)
  if (!answer.isWaiting)
    settled.current =
      series?.chosen.length === 1 && only?.query !== null && only !== undefined
        ? { ...asked, ...parseQuestion(only.query) }
        : asked
  return {
    interval,
    places: level ?? (summary === undefined || summary === null ? null : choosePlaces(summary)),
    form: formOf(series, summary?.figures ?? [], wanted !== null),
    answer,
    chosen: settled.current,
  }
}

export const useVintages = (asked: Question, interval: Interval, isWanted: boolean) => {
  const parameters = vintagesParameters(asked, interval, view.value.count)
  return useAnswer(isWanted ? `vintages ${toKey(parameters)}` : '', (signal) =>
    api.vintages(toObject(parameters) as never, { signal }),
  )
}

export type CitationFormat = 'text' | 'bibtex' | 'csl-json'

/** The citation of the question; not asked for until it is wanted. */
export function useCitation(release: number, isWanted: boolean, format: CitationFormat = 'text') {
  const filters = [...recordFilters(question.value), ['release', String(release)] as const]
  return useAnswer(isWanted ? `cite ${format} ${toKey(filters)}` : '', (signal) =>
    api.cite({ ...toObject(filters), format }, { signal }),
  )
}
