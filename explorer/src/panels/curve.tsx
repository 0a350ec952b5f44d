// The curve of the question, over the outline of another release, or the reason why it is not drawn.
import { useState } from 'preact/hooks'
import type { Series } from '../../../clients/typescript/src/client.ts'
import type { View } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import type { Range } from '../marks.ts'
import { Answered } from '../parts/answered.tsx'
import { Curve, type Panel } from '../parts/curve.tsx'
import { Failure } from '../parts/failure.tsx'
import { Comparable } from '../parts/guard.tsx'
import { seriesParameters, toKey, toObject } from '../requests.ts'
import { saveSvg } from '../save-picture.ts'
import { question, setView, view } from '../state.ts'
import { formatValue, texts } from '../texts.ts'

const useSeries = (key: string, release: number) =>
  useAnswer(
    key,
    (signal) => api.series(toObject(seriesParameters(question.value, view.value, release)) as never, { signal }),
    { isUrgent: true },
  )

/** `source` is printed on a saved picture; null until it is known. */
export function CurvePanel({ release, source }: { release: number; source: string | null }) {
  const { count, kind, interval, scale, align, compare, group } = view.value
  const hasEvent = question.value.event !== undefined
  const keyOf = (number: number) => (hasEvent ? toKey(seriesParameters(question.value, view.value, number)) : '')
  const answer = useSeries(keyOf(release), release)
  const other = useSeries(compare === null ? '' : keyOf(compare), compare ?? 0)
  const [svg, setSvg] = useState<SVGSVGElement | null>(null)
  const title = texts.curve.title(texts.kinds[kind], texts.counts[count], texts.interval[interval])
  const pictureTitle = texts.curve.picture(question.value.event?.join(', ') ?? '', title)
  return (
    <section class="curve" aria-labelledby="curve">
      <h2 id="curve">{title}</h2>
      <Answered answer={answer}>
        {(series) => (
          <>
            <Comparable series={series} />
            <Curve
              panels={toPanels(series, other.value, view.value)}
              label={title}
              view={view.value}
              interval={interval}
              onDraw={setSvg}
            />
            {compare !== null && other.error === undefined && <p class="note">{texts.curve.outline(compare)}</p>}
            {other.error !== undefined && <Failure error={other.error} />}
            <div class="choices">
              <label>
                <input
                  type="checkbox"
                  checked={scale === 'log'}
                  onChange={(event) => setView({ scale: event.currentTarget.checked ? 'log' : 'linear' })}
                />{' '}
                {texts.curve.logarithmic}
              </label>
              {group !== 'none' && (
                <label>
                  <input
                    type="checkbox"
                    checked={align === 'first'}
                    onChange={(event) => setView({ align: event.currentTarget.checked ? 'first' : 'date' })}
                  />{' '}
                  {texts.curve.align}
                </label>
              )}
              {(['SVG', 'PNG'] as const).map((format) => (
                <button
                  key={format}
                  type="button"
                  // A picture never has the numbers of one question and the citation of another.
                  disabled={svg === null || source === null || answer.isWaiting}
                  onClick={() =>
                    svg !== null && source !== null && void saveSvg(svg, { title: pictureTitle, source, format })
                  }
                >
                  {texts.curve.save(format)}
                </button>
              ))}
            </div>
            {scale === 'log' && <p class="note">{texts.curve.zeroOnLog}</p>}
          </>
        )}
      </Answered>
    </section>
  )
}

function toPanels(series: Series, other: Series | undefined, { kind, count }: View): Panel[] {
  const describe = (group: Readonly<Record<string, unknown>>) =>
    Object.values(group)
      .map((value) => (value === null ? texts.notGiven : formatValue(value)))
      .join(', ')
  if (series.groups === undefined)
    return [
      {
        name: '',
        points: series.points ?? [],
        spans: series.spans ?? [],
        outline: other?.points ?? [],
        ranges: new Map(),
      },
    ]
  const ranges = new Map(
    (series.range ?? []).flatMap(({ period, ...kinds }) => {
      const range = (kinds[kind] as Record<string, Range | null> | undefined)?.[count] ?? null
      return range === null ? [] : [[period, range]]
    }),
  )
  const outlines = new Map(other?.groups?.map(({ group, points }) => [describe(group), points]))
  return series.groups.map(({ group, points, spans }) => {
    const name = describe(group)
    return { name, points, spans, outline: outlines.get(name) ?? [], ranges }
  })
}
