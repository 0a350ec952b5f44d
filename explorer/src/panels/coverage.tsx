// Where and when there are records: a cell for each place and month. An empty cell has none, which says nothing about cases.
import { useMemo } from 'preact/hooks'
import { api, useAnswer } from '../ask.ts'
import { Failure } from '../parts/failure.tsx'
import { coverageParameters, toKey, toObject } from '../requests.ts'
import { goTo, question, view } from '../state.ts'
import { formatNumber, texts } from '../texts.ts'

const MOST_PLACES = 40

export function CoveragePanel({ release, isWhole = false }: { release: number; isWhole?: boolean }) {
  const parameters = coverageParameters(question.value, view.value, release)
  const { value, error, isWaiting } = useAnswer(toKey(parameters), (signal) =>
    api.coverage(toObject(parameters) as never, { signal }),
  )
  const { coverage } = texts
  const rows = isWhole ? value?.data : value?.data.slice(0, MOST_PLACES)
  const months = useMemo(() => listMonths(rows?.flatMap(({ periods }) => periods.map(({ period }) => period)) ?? []), [rows])
  const most = rows?.flatMap(({ periods }) => periods).reduce((largest, { records }) => Math.max(largest, records), 1) ?? 1
  return (
    <section class="cover" aria-labelledby="cover" aria-busy={isWaiting}>
      <h2 id="cover">{coverage.title}</h2>
      {error !== undefined ? (
        <Failure error={error} />
      ) : rows === undefined ? (
        <p class="empty">{texts.waiting}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label={coverage.title}>
          <table class="heat">
            <thead>
              <tr>
                <th scope="col">{view.value.level}</th>
                <th scope="col">{texts.curve.columns.records}</th>
                {months.map((month) => (
                  <th key={month} scope="col" class={month.endsWith('-01') ? 'year' : ''}>
                    <span class={month.endsWith('-01') ? '' : 'hidden'}>{month.endsWith('-01') ? month.slice(0, 4) : month}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ value: place, records, periods }) => {
                const cells = new Map(periods.map((cell) => [cell.period, cell]))
                return (
                  <tr key={place}>
                    <th scope="row">
                      <button type="button" disabled={place === null} onClick={() => place !== null && pick(place)}>
                        {place ?? texts.notGiven}
                      </button>
                    </th>
                    <td class="number">{formatNumber(records)}</td>
                    {months.map((month) => {
                      const cell = cells.get(month)
                      const depth = cell === undefined ? 0 : Math.ceil((Math.log1p(cell.records) / Math.log1p(most)) * 5)
                      return (
                        <td
                          key={month}
                          class={`cell depth-${depth}${cell !== undefined && cell.changed > 0 ? ' changed' : ''}`}
                          title={texts.coverage.cell(place ?? texts.notGiven, month, cell?.records ?? 0)}
                        >
                          <span class="hidden">{cell?.records ?? 0}</span>
                        </td>
                      )
                    })}
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

const pick = (place: string) =>
  goTo('explore', { question: { ...question.value, [view.value.level]: [place] } })

/** All months from the first to the last, also those without a record. */
export function listMonths(found: readonly string[]): string[] {
  if (found.length === 0) return []
  const [first, last] = [found.reduce((a, b) => (a < b ? a : b)), found.reduce((a, b) => (a > b ? a : b))]
  const months: string[] = []
  for (let month = first; month <= last; ) {
    months.push(month)
    const [year, number] = month.split('-').map(Number) as [number, number]
    month = number === 12 ? `${String(year + 1).padStart(4, '0')}-01` : `${month.slice(0, 4)}-${String(number + 1).padStart(2, '0')}`
  }
  return months
}
