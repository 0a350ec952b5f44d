// The chart of an answer at a width, with what it says: a curve, counts side by side, one total, or why there is no number. Pure.
import type { VNode } from 'preact'
import { COUNTS } from '../address.ts'
import { CurveShapes, layOutCurve } from '../charts/curve.tsx'
import { Patterns } from '../charts/plot.tsx'
import { TotalsShape, totalsHeight } from '../charts/totals.tsx'
import { toBars, toSpans } from '../curve-bars.ts'
import { writeNotes } from '../event/notes.ts'
import { dateTypeWords, explainMarks, leftOutWords, nameCurve, shownWords } from '../event/picture-words.ts'
import { capitalise, countOf, formatDay, formatDays, formatNumber, wrapWords } from '../format.ts'
import { fields, kindWord, levelWord, readFields, sourceWord, statusWord } from '../labels.ts'
import type { Interval } from '../requests.ts'
import { texts } from '../texts.ts'
import type { PictureAnswer, PictureSeries, PictureTotal } from './answer.ts'

export interface Chart {
  /** What is drawn. */
  readonly title: string
  /** How it was counted, and what the marks mean. */
  readonly lines: readonly string[]
  /** The same as a sentence, for those who do not see it. */
  readonly description: string
  readonly height: number
  readonly shapes: VNode
  /** What the numbers in a small picture stand for. */
  readonly notes: readonly string[]
}

export function drawChart(answer: PictureAnswer, width: number, id: string): Chart {
  const { refusal, series, totals } = answer
  fields.value = readFields(answer.properties)
  if (refusal !== null) return drawSentence('No number is shown', refusal, width)
  if (series !== null) return drawCurve(answer, series, width, id)
  const known = totals.filter(({ counts }) => Object.values(counts).some((value) => value !== null))
  const [only, second] = known
  if (only === undefined) return drawSentence('No count', 'No count of this question is known in this release.', width)
  return second === undefined ? drawSingle(only, width) : drawTotals(answer, known, width)
}

const [SENTENCE_LINE, SENTENCE_CHARACTER] = [22, 9.4]

function drawSentence(title: string, sentence: string, width: number): Chart {
  const lines = wrapWords(sentence, Math.floor((width - 32) / SENTENCE_CHARACTER))
  const height = lines.length * SENTENCE_LINE + 32
  return {
    title,
    lines: [],
    description: sentence,
    height,
    notes: [],
    shapes: (
      <>
        <rect class="soft" x={0} y={0} width={width} height={height} rx={6} />
        {lines.map((line, i) => (
          <text key={line} class="off" x={16} y={34 + i * SENTENCE_LINE} font-size={16}>
            {line}
          </text>
        ))}
      </>
    ),
  }
}

function drawCurve(answer: PictureAnswer, series: PictureSeries, width: number, id: string): Chart {
  const { count, kind, isLog, how, title: asked } = answer
  const interval = series.interval as Interval
  const last = how?.last_day ?? ''
  const bars = toBars(series.points ?? [], answer, how?.first_day ?? '', last === '' ? '9999-12-31' : last)
  const spans = toSpans(series, answer, interval)
  const isOneWay = series.chosen.length < 2
  const status = isOneWay ? statusWord(how?.values['case_status']) : 'cases'
  const { title, unit } = nameCurve({ count, kind, interval, status })
  const notes = writeNotes(bars, {
    ...{ count, kind, interval, last, other: [], otherRelease: null, curves: [] },
    nameOf: (code) => code ?? '',
  })
  const data = { bars, spans, notes, unit, isLog, height: 348 }
  const layout = layOutCurve(data, width)
  const source = isOneWay && how !== null ? sourceWord(how.values['source_name']) : undefined
  const leftOut = leftOutWords(series)
  const days = [bars[0]?.first, bars.at(-1)?.last] as const
  return {
    title,
    lines: [
      `Shown: ${shownWords(series, source)}.${leftOut === '' ? '' : ` Left out: ${leftOut}.`}${
        series.undated > 0 ? ` Not drawn: ${countOf(series.undated, 'report')} without a day.` : ''
      }`,
      `${isOneWay ? dateTypeWords(how?.values['date_type']) : ''} ${explainMarks({ bars, spans, isLog })}`.trim(),
    ].filter((line) => line !== ''),
    description: [
      `${title}, ${asked}`,
      ...(days[0] === undefined || days[1] === undefined ? [] : [formatDays(days[0], days[1])]),
      ...notes.map(({ text }) => text),
    ].join('. '),
    height: layout.height,
    notes: layout.isSmall ? notes.map(({ text }) => text) : [],
    shapes: (
      <>
        <Patterns id={id} />
        <CurveShapes
          data={data}
          layout={layout}
          id={id}
          title={({ first, last: end, value }) =>
            `${formatDays(first, end)}: ${value === null ? 'unknown' : formatNumber(value)}`
          }
        />
      </>
    ),
  }
}

const MOST_ROWS = 20

function drawTotals({ count }: PictureAnswer, known: readonly PictureTotal[], width: number): Chart {
  const counted = COUNTS.filter((name) => known.some(({ counts }) => counts[name] != null))
  const shown = counted.includes(count) ? count : (counted[0] ?? 'cases')
  const isRecommended = known.some(({ isChosen }) => isChosen === true)
  const rows = known
    .filter(({ counts }) => counts[shown] != null)
    .map((total, i) => ({
      key: String(i),
      name: nameOf(total),
      what: capitalise(describeTotal(total)),
      first: total.first_day,
      last: total.last_day,
      value: total.counts[shown] ?? 0,
      isOpen: isRecommended && total.isChosen !== true,
    }))
  const drawn = rows.slice(0, MOST_ROWS)
  const label = `${countOf(rows.length, 'count')}, each over its own days`
  return {
    title: `What each source counted: ${texts.counts[shown]}`,
    lines: [
      `A line covers the days of a count. Counts may overlap, so they stand side by side.${
        isRecommended ? ' Filled: the one that the service recommends.' : ''
      }${rows.length > drawn.length ? ` ${rows.length - drawn.length} more are not drawn.` : ''}`,
    ],
    description: drawn.map(({ name, what, value }) => `${name}, ${what}: ${formatNumber(value)}`).join('. '),
    height: totalsHeight(drawn.length, width),
    notes: [],
    shapes: <TotalsShape rows={drawn} unit={texts.counts[shown]} label={label} width={width} />,
  }
}

const nameOf = ({ values, words }: PictureTotal): string =>
  values['source_name'] == null ? words : sourceWord(values['source_name'])

const describeTotal = ({ values }: PictureTotal): string =>
  [
    statusWord(values['case_status']),
    ...(values['location_granularity'] == null ? [] : [levelWord(values['location_granularity'])]),
    ...['age_group', 'sex', 'population'].flatMap((name) => (typeof values[name] === 'string' ? [values[name]] : [])),
    ...(values['count_kind'] == null ? [] : [kindWord(values['count_kind'])]),
  ].join(', ')

function drawSingle(total: PictureTotal, width: number): Chart {
  const { counts, first_day: first, last_day: last } = total
  const known = COUNTS.flatMap((name) => (counts[name] == null ? [] : [[name, counts[name]] as const]))
  const [main, ...others] = known.map(
    ([name, value]) =>
      [formatNumber(value), name === 'cases' ? statusWord(total.values['case_status']) : texts.counts[name]] as const,
  )
  const days = last === null ? 'No day given' : first === null ? `To ${formatDay(last)}` : formatDays(first, last)
  const said = [...others.map(([value, unit]) => `${value} ${unit}`), days, `${nameOf(total)}: ${describeTotal(total)}`]
  const facts = said.flatMap((fact) => wrapWords(fact, Math.floor(width / SENTENCE_CHARACTER)))
  const [value = '', unit = ''] = main ?? []
  return {
    title: 'One total',
    lines: ['There is one total, or too few days for a curve.'],
    description: [`${value} ${unit}`, ...said].join('. '),
    height: 98 + facts.length * SENTENCE_LINE,
    notes: [],
    shapes: (
      <>
        <text class="val" x={0} y={48} font-size={52}>
          {value}
        </text>
        <text class="name" x={0} y={80} font-size={18}>
          {unit}
        </text>
        {facts.map((fact, i) => (
          <text key={fact} class="ann" x={0} y={108 + i * SENTENCE_LINE} font-size={16}>
            {fact}
          </text>
        ))}
      </>
    ),
  }
}
