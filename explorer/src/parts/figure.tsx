// Numbers on top of a page: what is counted, the number, and where it comes from.
import type { ComponentChildren } from 'preact'

interface FigureProps {
  readonly name: string
  /** Null if it is not reported, which is not zero. */
  readonly value: ComponentChildren | null
  readonly unit?: string
  readonly children?: ComponentChildren
}

export function Figure({ name, value, unit, children }: FigureProps) {
  return (
    <div class="kpi">
      <dt>{name}</dt>
      {value === null ? (
        <>
          <dd class="v unknown">Not reported</dd>
          <dd>Unknown, which is not zero</dd>
        </>
      ) : (
        <>
          <dd class="v">
            {value} {unit !== undefined && <small>{unit}</small>}
          </dd>
          <dd>{children}</dd>
        </>
      )}
    </div>
  )
}

/** What a release did to a record, with a sign and a word. */
export function Badge({ change, children }: { change: string; children: ComponentChildren }) {
  return <span class={`badge ${change}`}>{children}</span>
}
