// The places of an event: what each has in all and, where all were counted in one way, in each period. One request for both.
import { type EventSummary, InvalidParameter, type Series } from '../../../clients/typescript/src/client.ts'
import { COUNTS } from '../address.ts'
import { type Answer, api, useAnswer } from '../ask.ts'
import { useOutlines } from '../charts/outlines.ts'
import { countryName } from '../labels.ts'
import { type Interval, sumsParameters, toKey, toObject } from '../requests.ts'
import type { Shown } from '../use-event.ts'
import { type PlaceCurve, toCurves, totalOfGroup } from './place-curves.ts'

type Counted = Readonly<Record<(typeof COUNTS)[number], number | null>>

export interface Places {
  readonly answer: Answer<{ readonly totals: readonly { readonly code: string; readonly counts: Counted }[] }>
  /** Empty where the places are not parts of the curve. */
  readonly curves: readonly PlaceCurve[]
  readonly nameOf: (code: string | null) => string
}

/** Days tell more than weeks. A longer event would have too many of them for an answer. */
const MOST_DAYS = 366

function placeInterval(interval: Interval, { first_day: first, last_day: last }: EventSummary): Interval {
  const days = first === null || last === null ? Number.NaN : (Date.parse(last) - Date.parse(first)) / 86_400_000
  return (interval === 'isoweek' || interval === 'epiweek') && days <= MOST_DAYS ? 'day' : interval
}

export function usePlaces(summary: EventSummary, series: Series, shown: Shown, release: number): Places {
  const level = shown.places ?? 'country_code'
  const states = useOutlines(level === 'al1_code' ? 'states' : null)
  // Otherwise the curve is of some places, or each place is counted in its own way, for a total in another one than for a curve.
  const isWhole = [shown.chosen[level], shown.chosen.place].every((values) => values === undefined)
  const isOneWay = isWhole && series.chosen.length <= 1
  const sums = sumsParameters(shown.chosen, level, release)
  const byPeriod = [...sums, ['interval', placeInterval(shown.interval, summary)] as const]
  const answer = useAnswer(
    shown.places === null ? '' : `places ${toKey(isOneWay ? byPeriod : sums)}`,
    async (signal) => {
      if (isOneWay)
        try {
          const found = await api.series(toObject(byPeriod), { signal })
          const totals = (found.groups ?? []).map((group) => ({
            code: group.group[level],
            counts: Object.fromEntries(COUNTS.map((count) => [count, totalOfGroup(group, count)])) as Counted,
          }))
          return { totals: named(totals), curves: toCurves(found, level) }
        } catch (error) {
          // Too many places and periods for one answer.
          if (!(error instanceof InvalidParameter)) throw error
        }
      const { data } = await api.sums(toObject(sums), { signal })
      return { totals: named(data.map(({ group, total }) => ({ code: group[level], counts: total }))), curves: [] }
    },
  )
  return {
    answer,
    curves: answer.isWaiting ? [] : (answer.value?.curves ?? []),
    nameOf: (code) =>
      code === null
        ? 'Place not given'
        : level === 'country_code'
          ? countryName(code)
          : (states?.find((shape) => shape.code === code)?.name ?? code),
  }
}

const named = (totals: readonly { readonly code: unknown; readonly counts: Counted }[]) =>
  totals.flatMap(({ code, counts }) => (typeof code === 'string' && code !== 'XW' ? [{ code, counts }] : []))
