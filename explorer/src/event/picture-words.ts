// What a picture says about itself, on the page and as a file. Pure.
import type { Series } from '../../../clients/typescript/src/client.ts'
import type { View } from '../address.ts'
import type { PeriodBar } from '../curve-bars.ts'
import { capitalise, countOf, formatNumber } from '../format.ts'
import { levelWord, sourceWord } from '../labels.ts'
import type { Interval } from '../requests.ts'
import { texts } from '../texts.ts'

interface CurveName {
  readonly count: View['count']
  readonly kind: View['kind']
  readonly interval: Interval
  /** How cases were counted: confirmed cases. */
  readonly status: string
}

export function nameCurve({ count, kind, interval, status }: CurveName): { title: string; unit: string } {
  const what = count === 'cases' ? status : texts.counts[count]
  return {
    title: capitalise(
      `${kind === 'new' ? `new ${what}` : `${texts.kinds[kind]} ${what}`} by ${texts.interval[interval]}`,
    ),
    unit: kind === 'new' ? `new ${texts.counts[count]}` : texts.counts[count],
  }
}

const TYPES: Readonly<Record<string, string>> = {
  report: 'By day of report.',
  onset: 'By day on which people fell ill.',
  specimen: 'By day of the sample.',
  notification: 'By day of notification.',
}

export const dateTypeWords = (dateType: unknown): string => TYPES[String(dateType)] ?? ''

interface Marked {
  readonly bars: readonly Pick<PeriodBar, 'value' | 'isRevised'>[]
  readonly spans: readonly unknown[]
  readonly isLog: boolean
}

export const explainMarks = ({ bars, spans, isLog }: Marked): string =>
  [
    ...(bars.some(({ value }) => value === null) ? ['Hatched: unknown, not zero.'] : []),
    ...(spans.length > 0 ? ['Outlined boxes: one count over several periods, as a mean.'] : []),
    ...(bars.some(({ isRevised }) => isRevised) ? ['Triangle: the source revised its total.'] : []),
    ...(isLog ? ['On a log scale zero and negative counts are not drawn.'] : []),
  ].join(' ')

const MOST_SOURCES = 3

export const listSources = (sources: readonly string[]): string =>
  `Data: ${sources.slice(0, MOST_SOURCES).join('; ')}${sources.length > MOST_SOURCES ? ` and ${sources.length - MOST_SOURCES} more` : ''}`

type Set = Series['chosen'][number] | Series['left_out'][number]

/** Only some fields say how it was counted: 725 county reports by JHU. */
const describe = ({ records, values }: Pick<Set, 'records' | 'values'>): string =>
  `${formatNumber(records)} ${levelWord(values['location_granularity'])} ${records === 1 ? 'report' : 'reports'}${
    values['source_name'] === undefined ? '' : ` by ${sourceWord(values['source_name'])}`
  }`

export function shownWords({ chosen, records }: Pick<Series, 'chosen' | 'records'>, source?: string): string {
  const [first] = chosen
  if (first === undefined) return `${countOf(records, 'report')}${source === undefined ? '' : ` by ${source}`}`
  return chosen.length === 1
    ? describe(first)
    : `${countOf(chosen.length, 'place or event', 'places or events')}, each counted in its best way`
}

/** Empty if nothing is. */
export function leftOutWords({
  left_out: leftOut,
  left_out_total: total,
}: Pick<Series, 'left_out' | 'left_out_total'>) {
  const [other] = leftOut
  if (other === undefined) return ''
  return total === 1
    ? `${describe(other)}, which would count the same cases twice`
    : `${countOf(total, 'other count')}, which may count the same cases twice`
}
