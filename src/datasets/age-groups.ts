// Age groups as ranges of years, to find out whether two of them have ages in common. Pure.

/** 0-4, 0–4, 15+, >=15, ≥ 15, <5, under 5, 7: both ends are included. */
const RANGE = /^(\d+)\s*(?:-|–|to)\s*(\d+)$/
const FROM = /^(?:>=|≥)?\s*(\d+)\s*(?:\+|and (?:over|above|older))?$/
const BELOW = /^(?:<|under)\s*(\d+)$/

function parseAges(group: string): readonly [from: number, to: number] | null {
  const text = group
    .toLowerCase()
    .replace(/\s*(?:years?|yrs?|y)(?: old| of age)?$/, '')
    .trim()
  const range = RANGE.exec(text)
  if (range !== null) return [Number(range[1]), Number(range[2])]
  const below = BELOW.exec(text)
  if (below !== null) return [0, Number(below[1]) - 1]
  const from = FROM.exec(text)
  if (from === null) return null
  return [Number(from[1]), /^\d+$/.test(text) ? Number(from[1]) : Number.POSITIVE_INFINITY]
}

/** True if two of the groups have an age in common. Groups without numbers, such as "adults", are not compared. */
export function agesOverlap(groups: readonly string[]): boolean {
  const ranges = groups.map(parseAges).filter((range) => range !== null)
  ranges.sort(([a], [b]) => a - b)
  return ranges.some(([from], i) => i > 0 && from <= (ranges[i - 1] as readonly [number, number])[1])
}
