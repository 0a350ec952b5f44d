// Filters by range: days of a period, counts, and a box of coordinates. Their parameters and parsing. Pure.
import { type TSchema, Type } from 'typebox'
import type { Dataset, Field, Period } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'

type Query = Readonly<Record<string, unknown>>

export interface DayRange {
  readonly from: string | null
  readonly to: string | null
}

export interface CountRange {
  readonly min: number | null
  readonly max: number | null
}

/** Degrees. If `west` is greater than `east`, the box crosses the 180th meridian. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** The fields whose counts can be filtered by `{name}_min` and `{name}_max`. */
export const countFields = ({ series, content }: Dataset): Field[] =>
  content.filter(({ name }) => series?.counts.includes(name))

export function rangeParameters(dataset: Dataset): [string, TSchema][] {
  const days = dataset.periods.flatMap(({ name, description }): [string, TSchema][] => [
    [`${name}_from`, daySchema(`First day of the range: ${description} ends on this day or later.`)],
    [`${name}_to`, daySchema(`Last day of the range: ${description} begins on this day or earlier.`)],
  ])
  const counts = countFields(dataset).flatMap(({ name, minimum, maximum }): [string, TSchema][] =>
    ['min', 'max'].map((end) => [
      `${name}_${end}`,
      Type.Integer({
        minimum: minimum ?? 0,
        maximum: maximum ?? 0,
        description: `Only records whose \`${name}\` is known and ${end === 'min' ? 'at least' : 'at most'} this number.`,
      }),
    ]),
  )
  return [...days, ...counts, ...(dataset.coordinates === undefined ? [] : [['bbox', boxSchema] as [string, TSchema]])]
}

/** PostgreSQL has no year 0. */
const daySchema = (description: string) => Type.String({ format: 'date', pattern: '^(?!0000)', description })

const DEGREES = '-?[0-9]{1,3}(?:\\.[0-9]{1,10})?'
const boxSchema = Type.String({
  pattern: `^${DEGREES},${DEGREES},${DEGREES},${DEGREES}$`,
  description:
    'Only records with coordinates in this box: west,south,east,north in decimal degrees. If west is greater than east, the box crosses the 180th meridian.',
})

export function parseDayRange({ name }: Period, query: Query): DayRange {
  const from = (query[`${name}_from`] as string | undefined) ?? null
  const to = (query[`${name}_to`] as string | undefined) ?? null
  if (from === null || to === null || from <= to) return { from, to }
  throw invalidRange(`${name}_from`, `${name}_from (${from}) is later than ${name}_to (${to}). Swap them.`)
}

export function parseCountRange(name: string, query: Query): CountRange {
  const min = (query[`${name}_min`] as number | undefined) ?? null
  const max = (query[`${name}_max`] as number | undefined) ?? null
  if (min === null || max === null || min <= max) return { min, max }
  throw invalidRange(`${name}_min`, `${name}_min (${min}) is greater than ${name}_max (${max}). Swap them.`)
}

export function parseBox(query: Query): Box | null {
  const text = query['bbox']
  if (typeof text !== 'string') return null
  // Adding 0 makes -0 equal to 0, so that both have one canonical form.
  const [west = 0, south = 0, east = 0, north = 0] = text.split(',').map((degrees) => Number(degrees) + 0)
  if (Math.max(Math.abs(west), Math.abs(east)) > 180)
    throw invalidRange('bbox', 'In bbox=west,south,east,north, west and east must be from -180 to 180.')
  if (Math.max(Math.abs(south), Math.abs(north)) > 90)
    throw invalidRange('bbox', 'In bbox=west,south,east,north, south and north must be from -90 to 90.')
  if (south > north)
    throw invalidRange('bbox', 'In bbox=west,south,east,north, south is greater than north. Swap them.')
  return { west, south, east, north }
}

const invalidRange = (parameter: string, detail: string) => new Problem('invalid_parameter', detail, { parameter })
