// Counts per 100,000 inhabitants of whole countries: the numbers of the service, whose table they are from, and why some are
// unknown. Pure.
import type { Counts, Point, Series } from '../../../clients/typescript/src/client.ts'

type Count = keyof Counts

const read = (point: Point, column: string): unknown => (point as unknown as Record<string, unknown>)[column]

export function rateOf(point: Point, count: Count): number | null {
  const value = read(point, `${count}_per_100000`)
  return typeof value === 'number' ? value : null
}

/** Why there is no rate: a sentence of the service; empty if there is one. */
export function whyNoRate(point: Point, count: Count, measures: Series['measures']): string {
  const column = `${count}_per_100000`
  const because = read(point, 'null_because')
  const found = typeof because === 'string' ? because.split(' ').find((one) => one.startsWith(`${column}=`)) : undefined
  const reason = found?.slice(column.length + 1)
  return measures?.nulls.find((one) => one.column === column && one.reason === reason)?.words ?? ''
}

/** World Bank, Population, total (SP.POP.TOTL), CC BY 4.0, 2020 – 2021. */
export function describeInhabitants(points: readonly Point[], measures: Series['measures']): string {
  const [source, licence] = [measures?.per_100000?.['source'], measures?.per_100000?.['licence']]
  const years = points
    .map((point) => read(point, 'inhabitants_year'))
    .filter((year) => typeof year === 'number')
    .toSorted((a, b) => a - b)
  const [first, last] = [years[0], years.at(-1)]
  if (typeof source !== 'string' || first === undefined || last === undefined) return ''
  const parts = [source, ...(typeof licence === 'string' ? [licence] : [])]
  return [...parts, first === last ? first : `${first} – ${last}`].join(', ')
}

/** A group without any rate, although it has counts, and the reason of most of its periods. */
export function whyNone(points: readonly Point[], count: Count, measures: Series['measures']): string {
  if (points.some((point) => rateOf(point, count) !== null)) return ''
  const words = points.map((point) => whyNoRate(point, count, measures)).filter((one) => one !== '')
  const [most] = [...Map.groupBy(words, (one) => one)].toSorted(([, a], [, b]) => b.length - a.length)
  return most?.[0] ?? ''
}
