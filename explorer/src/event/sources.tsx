// Who counted what, side by side, and which of it is in the picture.
import type { EventSummary, Series } from '../../../clients/typescript/src/client.ts'
import { listRows, setKey } from '../forms.ts'
import { Icon } from '../parts/icon.tsx'
import { Link } from '../parts/link.tsx'
import { RowTable } from './totals-stage.tsx'

interface SourcesProps {
  readonly summary: EventSummary
  readonly series: Series | undefined
  readonly limit?: number
}

export function SourcesPanel({ summary, series, limit = Number.POSITIVE_INFINITY }: SourcesProps) {
  const rows = listRows(summary).toSorted((a, b) => b.records - a.records)
  const leftOut = new Map(series?.left_out.map((set) => [setKey(set.values), set.reason]))
  const chosen = new Set(series?.chosen.map((set) => setKey(set.values)))
  const isOnly = series !== undefined && series.chosen.length === 0 && rows.length === 1
  return (
    <section class="section" aria-labelledby="sources">
      <div class="section-head">
        <h2 id="sources">Sources side by side</h2>
        {rows.length > limit && (
          <Link page="event" to={{ tab: 'sources' }}>
            All {rows.length} counts
          </Link>
        )}
      </div>
      <RowTable
        rows={rows.slice(0, limit)}
        {...(series === undefined || (chosen.size === 0 && !isOnly)
          ? {}
          : {
              badge: (row) =>
                chosen.has(setKey(row.values)) || isOnly ? (
                  <span class="badge is-shown">
                    <Icon name="check" /> Shown
                  </span>
                ) : (
                  <span class="badge" title={leftOut.get(setKey(row.values)) ?? ''}>
                    Left out
                  </span>
                ),
            })}
      />
    </section>
  )
}
