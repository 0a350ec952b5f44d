// Counts over several periods: an outline over all their days.
import type { Span } from '../../../clients/typescript/src/client.ts'
import type { View } from '../address.ts'
import { formatNumber, texts } from '../texts.ts'
import { type Axis, toDay } from './scales.ts'

/** A count over several periods at its place on the axis: its area is the count, so it is as high as the mean of a period. */
export interface SpanBar {
  readonly span: Span
  readonly first: number
  readonly after: number
  readonly total: number
  readonly value: number
}

/** The days of a period, on average. */
const LENGTHS: Record<View['interval'], number> = { day: 1, isoweek: 7, epiweek: 7, month: 30.4, year: 365.25 }

export const toSpans = (
  spans: readonly Span[],
  { count, kind }: Pick<View, 'count' | 'kind'>,
  start: number,
  interval: View['interval'],
): SpanBar[] =>
  spans.flatMap((span) => {
    const total = span.new[count]
    if (kind !== 'new' || total === null) return []
    const [first, after] = [toDay(span.first_day) - start, toDay(span.last_day) + 1 - start]
    return [{ span, first, after, total, value: (total * LENGTHS[interval]) / (after - first) }]
  })

/** `foot` is where the axis is if it has no zero. */
export function SpanShape({ one, x, y, foot }: { one: SpanBar; x: Axis; y: Axis; foot: number }) {
  const zero = Number.isFinite(y.at(0)) ? y.at(0) : foot
  const end = Number.isFinite(y.at(one.value)) ? y.at(one.value) : zero
  return (
    <rect
      class="span"
      x={x.at(one.first)}
      width={x.at(one.after) - x.at(one.first)}
      y={Math.min(end, zero)}
      height={Math.abs(zero - end)}
    >
      <title>{describeSpan(one)}</title>
    </rect>
  )
}

const describeSpan = ({ span, total }: SpanBar): string =>
  `${texts.curve.period(span.first_day, span.last_day)}: ${formatNumber(total)}`

/** `group` is null if the table has no groups. */
export function SpanRow({ one: { span, total }, group }: { one: SpanBar; group: string | null }) {
  return (
    <tr>
      {group !== null && <td>{group}</td>}
      <th scope="row">{texts.curve.period(span.first_day, span.last_day)}</th>
      <td class="number">{formatNumber(total)}</td>
      <td class="number">{formatNumber(span.records)}</td>
      <td>{texts.curve.marks.in_span}</td>
    </tr>
  )
}
