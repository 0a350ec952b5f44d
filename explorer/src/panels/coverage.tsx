// Where and when there are reports, with the table behind the picture.
import { useState } from 'preact/hooks'
import type { RecordCoverage } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { describeCell, Heat } from '../charts/heat.tsx'
import { useOutlines } from '../charts/outlines.ts'
import { countOf, formatPeriod } from '../format.ts'
import { countryName } from '../labels.ts'
import { Answered } from '../parts/answered.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { listPeriods } from '../periods.ts'
import { coverageParameters, type PlaceField, toKey, toObject } from '../requests.ts'
import { question, view } from '../state.ts'
import { texts } from '../texts.ts'

interface CoverageProps {
  readonly release: number
  readonly level: PlaceField
  readonly interval: 'year' | 'month'
  readonly limit?: number
}

export function CoveragePanel({ release, level, interval, limit = Number.POSITIVE_INFINITY }: CoverageProps) {
  const parameters = coverageParameters(
    question.value,
    level === 'admin_l1' ? 'country_code' : level,
    interval,
    release,
  )
  const answer = useAnswer(`coverage ${toKey(parameters)}`, (signal) =>
    api.coverage(toObject(parameters) as never, { signal }),
  )
  return <Answered answer={answer}>{(value) => <CoverageFigure value={value} level={level} limit={limit} />}</Answered>
}

function CoverageFigure({ value, level, limit }: { value: RecordCoverage; level: PlaceField; limit: number }) {
  const [isOpen, setOpen] = useState(false)
  const states = useOutlines(level === 'al1_code' ? 'states' : null)
  const nameOf = (code: string | null) =>
    code === null
      ? 'Place not given'
      : level === 'al1_code'
        ? (states?.find((shape) => shape.code === code)?.name ?? code)
        : countryName(code)
  const rows = value.data.slice(0, limit).map((row) => ({ ...row, name: nameOf(row.value) }))
  const periods = listPeriods(rows.flatMap((row) => row.periods.map(({ period }) => period)))
  const cells = rows.flatMap(({ name, periods: found }) => found.map((one) => ({ name, ...one })))
  return (
    <>
      <Heat rows={rows} periods={periods} label={`Number of reports by ${texts.places[level]} and ${value.interval}`} />
      <div class="under group">
        {value.undated > 0 && (
          <span class="quiet small">{countOf(value.undated, 'report')} without a day: in no period.</span>
        )}
        {value.data.length > rows.length && (
          <Link page="coverage" to={{ view: { ...view.value, level, period: 'month' } }}>
            All {value.data.length} places
          </Link>
        )}
        <button class="btn plain s" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Table
        </button>
      </div>
      {isOpen && (
        <Table label="Reports by place and period" columns={['Place', 'Period', 'Reports']}>
          {cells.slice(0, MOST_CELLS).map(({ name, period, records, changed }) => (
            <tr key={`${name} ${period}`}>
              <th scope="row">{name}</th>
              <td>{formatPeriod(period)}</td>
              <td>{describeCell(records, changed)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

const MOST_CELLS = 2000
