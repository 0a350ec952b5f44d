// Positions on a chart: days across, counts up. A log scale has no zero, so it starts below one. Pure.
import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale'

const DAY_MS = 86_400_000
export const toDay = (date: string): number => Date.parse(date) / DAY_MS

export interface Axis {
  readonly at: (value: number) => number
  readonly ticks: readonly { readonly value: number; readonly text: string }[]
}

/** The width of a character of a tick, in pixels. */
const CHARACTER = 8

/** The ticks whose texts neither overlap nor leave the picture, which has this width. */
export function thinTicks({ at, ticks }: Axis, width: number): Axis['ticks'] {
  const kept: Axis['ticks'][number][] = []
  let end = Number.NEGATIVE_INFINITY
  for (const tick of ticks) {
    const half = (tick.text.length * CHARACTER) / 2
    const middle = at(tick.value)
    if (middle - half < end || middle + half > width) continue
    kept.push(tick)
    end = middle + half
  }
  return kept
}

/** Days since 1970. */
export function dayAxis([first, last]: readonly [number, number], [from, to]: readonly [number, number]): Axis {
  const scale = scaleUtc()
    .domain([new Date(first * DAY_MS), new Date(last * DAY_MS)])
    .range([from, to])
  const wanted = Math.max(2, Math.floor((to - from) / 90))
  const length = last - first
  const format = (date: Date) => date.toISOString().slice(0, length > 365 * 6 ? 4 : length > 92 ? 7 : 10)
  return {
    at: (day) => scale(new Date(day * DAY_MS)),
    ticks: scale.ticks(wanted).map((date) => ({ value: date.getTime() / DAY_MS, text: format(date) })),
  }
}

/** Days since a start. */
export function sinceAxis([first, last]: readonly [number, number], [from, to]: readonly [number, number]): Axis {
  const scale = scaleLinear().domain([first, last]).range([from, to])
  const wanted = Math.max(2, Math.floor((to - from) / 70))
  return { at: scale, ticks: scale.ticks(wanted).map((value) => ({ value, text: String(value) })) }
}

export function countAxis(
  [low, high]: readonly [number, number],
  [from, to]: readonly [number, number],
  { isLog, format }: { isLog: boolean; format: (value: number) => string },
): Axis {
  const scale = isLog
    ? scaleLog()
        .domain([0.7, Math.max(10, high)])
        .range([from, to])
    : scaleLinear()
        .domain([low, high === low ? low + 1 : high])
        .nice(5)
        .range([from, to])
  const ticks = scale
    .ticks(5)
    .filter((value) => (isLog ? Number.isInteger(Math.log10(value)) : Number.isInteger(value)))
  return { at: scale, ticks: ticks.map((value) => ({ value, text: format(value) })) }
}

/** Names often differ only at their end, so the middle is left out. */
export function shorten(name: string, characters: number): string {
  if (name.length <= characters) return name
  const half = Math.floor(characters / 2) - 1
  return `${name.slice(0, half)}…${name.slice(-half)}`
}
