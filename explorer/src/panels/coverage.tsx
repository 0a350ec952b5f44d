// Where and when there are records: a cell for each place and period. An empty cell has none, which says nothing about cases.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RecordCoverage } from '../../../clients/typescript/src/client.ts'
import { PERIODS, type View } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { Answered } from '../parts/answered.tsx'
import { Select } from '../parts/select.tsx'
import { Table } from '../parts/table.tsx'
import { useWidth } from '../parts/use-width.ts'
import { listPeriods } from '../periods.ts'
import { coverageParameters, toKey, toObject } from '../requests.ts'
import { goTo, question, setView, view } from '../state.ts'
import { formatNumber, texts } from '../texts.ts'

const MOST_PLACES = 40
const DEPTHS = 5

/** Beside the curve: the places with the most records, by month. */
export function CoveragePanel({ release }: { release: number }) {
  return (
    <section class="cover" aria-labelledby="cover">
      <h2 id="cover">{texts.coverage.title('month')}</h2>
      <CoverageTable release={release} interval="month" limit={MOST_PLACES} />
    </section>
  )
}

/** All places. */
export function CoveragePage({ release }: { release: number }) {
  const { period } = view.value
  return (
    <section class="cover wide" aria-labelledby="cover">
      <h1 id="cover">{texts.coverage.title(period)}</h1>
      <p class="choices">
        <Select
          label={texts.coverage.period}
          value={period}
          options={PERIODS}
          names={texts.interval}
          onChoose={(chosen) => setView({ period: chosen })}
        />
      </p>
      <CoverageTable release={release} interval={period} limit={Number.POSITIVE_INFINITY} />
    </section>
  )
}

interface CoverageTableProps {
  readonly release: number
  readonly interval: View['period']
  readonly limit: number
}

function CoverageTable({ release, interval, limit }: CoverageTableProps) {
  const parameters = coverageParameters(question.value, view.value, interval, release)
  const answer = useAnswer(toKey(parameters), (signal) => api.coverage(toObject(parameters) as never, { signal }))
  return <Answered answer={answer}>{(value) => <CoverageFigure value={value} limit={limit} />}</Answered>
}

function CoverageFigure({ value, limit }: { value: RecordCoverage; limit: number }) {
  const [pointed, setPointed] = useState<string | null>(null)
  const rows = useMemo(() => value.data.slice(0, limit), [value, limit])
  const periods = useMemo(() => listPeriods(rows.flatMap((row) => row.periods.map(({ period }) => period))), [rows])
  const [width, frame] = useWidth<HTMLElement>(760)
  const cell = Math.min(WIDEST, Math.max(NARROWEST, Math.floor((width - BESIDE) / Math.max(1, periods.length))))
  const scroll = useRef<HTMLDivElement>(null)
  // The latest periods are at the end.
  useEffect(() => {
    if (scroll.current !== null) scroll.current.scrollLeft = scroll.current.scrollWidth
  }, [periods, cell])
  const { coverage } = texts
  const title = coverage.title(value.interval)
  const most = rows.flatMap((row) => row.periods).reduce((largest, { records }) => Math.max(largest, records), 1)
  return (
    <figure ref={frame}>
      <div ref={scroll} class="scroll" tabIndex={0} role="group" aria-label={title}>
        <table class="heat">
          <thead>
            <tr>
              <th scope="col">{texts.map.level[view.value.level]}</th>
              <th scope="col">{texts.curve.columns.records}</th>
              <th scope="col">
                <PeriodAxis periods={periods} cell={cell} label={title} />
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <PlaceRow key={row.value} row={row} periods={periods} cell={cell} most={most} onPoint={setPointed} />
            ))}
          </tbody>
        </table>
      </div>
      <figcaption aria-live="polite">{pointed ?? coverage.legend}</figcaption>
      <p class="note">
        {value.undated > 0 && coverage.undated(value.undated)}{' '}
        {value.data.length > rows.length && coverage.more(value.data.length - rows.length)}
      </p>
      <CellTable rows={rows} />
    </figure>
  )
}

const ROW = 22
const [NARROWEST, WIDEST] = [4, 20]
/** What the columns beside the picture take. */
const BESIDE = 240

/** A cell is narrow, so only some periods are written: January, or every tenth year. */
function PeriodAxis({ periods, cell, label }: { periods: readonly string[]; cell: number; label: string }) {
  return (
    <svg width={periods.length * cell + 40} height={ROW} role="img" aria-label={label}>
      {periods.map((period, i) =>
        (period.length === 4 ? period.endsWith('0') : period.endsWith('-01')) || i === 0 ? (
          <g key={period}>
            <line class="grid" x1={i * cell + 0.5} x2={i * cell + 0.5} y1={4} y2={ROW} />
            <text class="tick" x={i * cell + 4} y={15}>
              {period.slice(0, 4)}
            </text>
          </g>
        ) : null,
      )}
    </svg>
  )
}

type Row = RecordCoverage['data'][number]

interface PlaceRowProps {
  readonly row: Row
  readonly periods: readonly string[]
  /** The width of a period. */
  readonly cell: number
  readonly most: number
  readonly onPoint: (text: string | null) => void
}

function PlaceRow({ row, periods, cell, most, onPoint }: PlaceRowProps) {
  const { value: place, records } = row
  const name = place ?? texts.notGiven
  const position = new Map(periods.map((period, i) => [period, i]))
  const cells = new Map(row.periods.map((found) => [found.period, found]))
  const describe = (period: string) =>
    texts.coverage.cell(name, period, cells.get(period)?.records ?? 0, cells.get(period)?.changed ?? 0)
  return (
    <tr>
      <th scope="row">
        {place === null ? (
          name
        ) : (
          <button type="button" onClick={() => explore(place)}>
            {name}
          </button>
        )}
      </th>
      <td class="number">{formatNumber(records)}</td>
      <td>
        <svg
          class="cells"
          width={periods.length * cell}
          height={ROW}
          role="img"
          aria-label={texts.coverage.filled(row.periods.length, periods.length)}
          onMouseMove={(event) => onPoint(describe(periods[Math.floor(event.offsetX / cell)] ?? ''))}
          onMouseLeave={() => onPoint(null)}
        >
          {row.periods.map(({ period, records: found, changed }) => (
            <rect
              key={period}
              class={`depth-${Math.ceil((Math.log1p(found) / Math.log1p(most)) * DEPTHS)}${changed > 0 ? ' changed' : ''}`}
              x={(position.get(period) ?? 0) * cell + 0.5}
              y={1.5}
              width={cell - 1}
              height={ROW - 3}
            />
          ))}
        </svg>
      </td>
    </tr>
  )
}

const MOST_CELLS = 1000

function CellTable({ rows }: { rows: readonly Row[] }) {
  const [isOpen, setOpen] = useState(false)
  const cells = rows.flatMap(({ value, periods }) =>
    periods.map((found) => ({ place: value ?? texts.notGiven, ...found })),
  )
  const { coverage } = texts
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.asTable(cells.length)}</summary>
      {isOpen && (
        <Table
          label={texts.asTable(cells.length)}
          columns={Object.values(coverage.columns)}
          {...(cells.length > MOST_CELLS ? { caption: coverage.first(MOST_CELLS) } : {})}
        >
          {cells.slice(0, MOST_CELLS).map(({ place, period, records, changed }) => (
            <tr key={`${place} ${period}`}>
              <th scope="row">{place}</th>
              <td>{period}</td>
              <td class="number">{formatNumber(records)}</td>
              <td class="number">{formatNumber(changed)}</td>
            </tr>
          ))}
        </Table>
      )}
    </details>
  )
}

const explore = (place: string) => goTo('explore', { question: { ...question.value, [view.value.level]: [place] } })
