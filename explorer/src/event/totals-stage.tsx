// Several counts and none is a curve: each is a line over the days that it covers. They are never joined or added up.
import { useState } from 'preact/hooks'
import type { EventSummary, Release, Series } from '../../../clients/typescript/src/client.ts'
import { COUNTS } from '../address.ts'
import { Totals } from '../charts/totals.tsx'
import { capitalise, countOf, formatDays, formatNumber } from '../format.ts'
import { type CountRow, listRows } from '../forms.ts'
import { Segmented } from '../parts/choose.tsx'
import { Stage } from '../parts/stage.tsx'
import { Table } from '../parts/table.tsx'
import { setQuestion, setView, view } from '../state.ts'
import { texts } from '../texts.ts'
import { useCitation } from '../use-event.ts'
import { ShownLine } from './shown.tsx'

interface TotalsStageProps {
  readonly summary: EventSummary
  readonly current: Release
  /** The answer, if the service chose one of the totals. */
  readonly series: Series | undefined
}

const MOST_ROWS = 20

export function TotalsStage({ summary, current, series }: TotalsStageProps) {
  const all = listRows(summary)
  const counts = COUNTS.filter((name) => all.some((row) => row.counts[name] !== null))
  const wanted = view.value.count
  const count = counts.includes(wanted) ? wanted : (counts[0] ?? 'cases')
  const rows = all.filter((row) => row.counts[count] !== null)
  const [svg, setSvg] = useState<SVGSVGElement | null>(null)
  const [isSaving, setSaving] = useState(false)
  const [isAll, setAll] = useState(false)
  const citation = useCitation(current.number, isSaving)
  const common = mostCommon(rows.map(({ status }) => status))
  const title = 'What each source counted'
  const drawn = isAll ? rows : rows.slice(0, MOST_ROWS)
  return (
    <Stage
      title={title}
      sub="A line covers the days of a count. Counts may overlap, so they stand side by side."
      above={series === undefined ? undefined : <ShownLine series={series} form="total" />}
      controls={
        counts.length > 1 && (
          <Segmented
            label="Count"
            value={count}
            options={counts}
            names={Object.fromEntries(counts.map((name) => [name, capitalise(texts.counts[name])])) as never}
            onChoose={(chosen) => setView({ count: chosen })}
          />
        )
      }
      source={`Data: ${countOf(summary.sources.length, 'source')}, release ${current.number}`}
      svg={svg}
      pictureTitle={`${summary.title}: ${title}`}
      citation={citation.isWaiting ? null : (citation.value ?? null)}
      onSave={() => setSaving(true)}
      table={() => <RowTable rows={all} />}
    >
      <div class="lassa-body">
        <Totals
          rows={drawn.map((row) => ({
            key: row.key,
            name: row.source,
            what: row.what,
            first: row.first,
            last: row.last,
            value: row.counts[count] ?? 0,
            isOpen: row.status !== common,
          }))}
          unit={texts.counts[count]}
          label={`${countOf(rows.length, 'count')} of the same outbreak, each over its own days`}
          onDraw={setSvg}
        />
        {rows.length > drawn.length && (
          <button class="link" type="button" onClick={() => setAll(true)}>
            {rows.length - drawn.length} more
          </button>
        )}
        {rows.length === 0 && <p class="quiet">No count of {texts.counts[count]} is reported.</p>}
      </div>
    </Stage>
  )
}

const mostCommon = (values: readonly string[]): string =>
  [...Map.groupBy(values, (value) => value)].toSorted((a, b) => b[1].length - a[1].length)[0]?.[0] ?? ''

/** Every way of counting with all its numbers. */
export function RowTable({
  rows,
  badge,
}: {
  rows: readonly CountRow[]
  badge?: (row: CountRow) => preact.ComponentChildren
}) {
  const columns = [
    'Source',
    'What it counts',
    'Days',
    { name: 'Reports', isNumber: true },
    { name: 'Cases', isNumber: true },
    { name: 'Deaths', isNumber: true },
    ...(badge === undefined ? [] : ['In the picture']),
  ]
  const write = (value: number | null) => (value === null ? '–' : formatNumber(value))
  return (
    <Table label="Sources side by side" columns={columns} class="lines-s counts">
      {rows.map((row) => (
        <tr key={row.key}>
          <th scope="row">
            <button class="link" type="button" onClick={() => setQuestion(row.question)}>
              {row.source}
            </button>
          </th>
          <td data-l="What it counts">{capitalise(row.what)}</td>
          <td data-l="Days">
            {row.first === null || row.last === null ? 'not given' : formatDays(row.first, row.last)}
          </td>
          <td class="r" data-l="Reports">
            {formatNumber(row.records)}
          </td>
          <td class="r" data-l="Cases">
            {write(row.counts.cases)}
          </td>
          <td class="r" data-l="Deaths">
            {write(row.counts.deaths)}
          </td>
          {badge !== undefined && <td data-l="In the picture">{badge(row)}</td>}
        </tr>
      ))}
    </Table>
  )
}
