// Positions on a chart: days across, counts up. A log scale has no zero, so it starts below one. Pure.
import { formatRate, formatShort, monthName } from '../format.ts'

const DAY_MS = 86_400_000
export const toDay = (date: string): number => Date.parse(date) / DAY_MS
/** A character of a label, in pixels. */
export const CHARACTER = 6.9

export interface Tick {
  readonly value: number
  readonly text: string
}

export interface Scale {
  readonly at: (value: number) => number
  readonly ticks: readonly Tick[]
}

/** Round numbers from below the lowest to above the highest count. Counts are whole, rates are not. */
function roundTicks(low: number, high: number, wanted: number, isWhole = true): number[] {
  const raw = (high - low) / wanted || 1
  const power = 10 ** Math.floor(Math.log10(raw))
  const factor = [1, 2, 5, 10].find((one) => one * power >= raw) ?? 10
  const step = Math.max(isWhole ? 1 : 0, factor * power)
  const ticks: number[] = []
  for (let i = Math.floor(low / step); i * step < high + step; i++) ticks.push(i * step)
  return ticks
}

export function countScale(
  [low, high]: readonly [number, number],
  [bottom, top]: readonly [number, number],
  { isLog = false, wanted = 5, isRate = false } = {},
): Scale {
  const write = isRate ? formatRate : formatShort
  if (isLog) {
    /** The power of ten at which a log scale begins: counts begin with one. */
    const start = isRate && low > 0 ? Math.floor(Math.log10(low)) : 0
    const [first, last] = [start + Math.log10(0.7), Math.log10(Math.max(isRate ? 0 : 10, high * 1.1))]
    const at = (value: number) =>
      value > 0 ? bottom - ((Math.log10(value) - first) / (last - first)) * (bottom - top) : Number.NaN
    const ticks = Array.from({ length: Math.max(1, Math.floor(last) - start + 1) }, (_, i) => 10 ** (start + i))
    return { at, ticks: ticks.map((value) => ({ value, text: write(value) })) }
  }
  const ticks = roundTicks(isRate ? 0 : low, isRate ? high : Math.max(1, high), wanted, !isRate)
  const end = ticks.at(-1) ?? 1
  const start = low < 0 ? low * 1.08 : 0
  return {
    at: (value) => bottom - ((value - start) / (end - start)) * (bottom - top),
    ticks: ticks.filter((value) => value >= start).map((value) => ({ value, text: write(value) })),
  }
}

export const leftOf = ({ ticks }: Scale): number => Math.max(...ticks.map(({ text }) => text.length), 1) * 7 + 14

const linear =
  ([first, last]: readonly [number, number], [from, to]: readonly [number, number]) =>
  (value: number) =>
    from + ((value - first) / Math.max(1, last - first)) * (to - from)

const STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240]

/** Days since 1970, with the first days of months or years as ticks. `room` is what a label needs, in pixels. */
export function dayScale(
  [first, last]: readonly [number, number],
  [from, to]: readonly [number, number],
  room: number,
): Scale {
  const at = linear([first, last], [from, to])
  const step = STEPS.find((months) => at(first + months * 30.4) - from >= room) ?? 240
  const start = new Date(first * DAY_MS)
  const ticks: Tick[] = []
  const index = start.getUTCFullYear() * 12 + start.getUTCMonth()
  for (let month = Math.ceil(index / step) * step; ; month += step) {
    const value = Date.UTC(Math.floor(month / 12), month % 12, 1) / DAY_MS
    if (value >= last) break
    const year = Math.floor(month / 12)
    const name = monthName(month % 12)
    const text = step >= 12 ? String(year) : ticks.length === 0 || month % 12 === 0 ? `${name} ${year}` : name
    if (value >= first) ticks.push({ value, text })
  }
  return { at, ticks }
}

/** Days since a start. */
export function sinceScale(domain: readonly [number, number], range: readonly [number, number], room: number): Scale {
  const at = linear(domain, range)
  const wanted = Math.max(1, Math.floor((range[1] - range[0]) / room))
  const ticks = roundTicks(0, domain[1], wanted).filter((value) => value <= domain[1])
  return { at, ticks: ticks.map((value, i) => ({ value, text: i === 0 ? 'day 0' : String(value) })) }
}

/** Names often differ only at their end, so the middle is left out. */
export function shorten(name: string, characters: number): string {
  if (name.length <= characters) return name
  const half = Math.max(2, Math.floor(characters / 2) - 1)
  return `${name.slice(0, half)}…${name.slice(-half)}`
}

export function wrapText(text: string, characters: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < characters) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
