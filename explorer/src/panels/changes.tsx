// What changed between two releases, and why: the old and the new value of each record of the question.
import { useState } from 'preact/hooks'
import type { Change, Release } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { Answered } from '../parts/answered.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { question, view } from '../state.ts'
import { formatValue, texts } from '../texts.ts'

const STEP = 20

/** Without a release to compare with, the one before. */
export function ChangesPanel({ releases, to }: { releases: readonly Release[]; to: Release }) {
  const before = releases.filter(({ number }) => number < to.number).at(-1)?.number ?? null
  const from = view.value.compare === to.number ? before : (view.value.compare ?? before)
  if (from === null)
    return (
      <section class="what wide" aria-labelledby="what">
        <h2 id="what">{texts.changes.first}</h2>
      </section>
    )
  return <Changes earlier={Math.min(from, to.number)} later={Math.max(from, to.number)} />
}

function Changes({ earlier, later }: { earlier: number; later: number }) {
  const filters = recordFilters(question.value)
  const [wanted, setWanted] = useState(STEP)
  const answer = useAnswer(`${earlier} ${later} ${wanted} ${toKey(filters)}`, async (signal) => {
    const parameters = { from: earlier, to: later, changed_fields: true, num: 100, ...toObject(filters) }
    const walk = api.changes(parameters, { signal })
    const found: Change[] = []
    for await (const page of walk.pages()) {
      found.push(...page)
      if (found.length > wanted) break
    }
    return { changes: found.slice(0, wanted), hasMore: found.length > wanted || !walk.done }
  })
  const { changes } = texts
  return (
    <section class="what" aria-labelledby="what">
      <h2 id="what">{changes.title(earlier, later)}</h2>
      <Answered answer={answer}>
        {({ changes: found, hasMore }) =>
          found.length === 0 ? (
            <p class="empty">{changes.none}</p>
          ) : (
            <>
              <ChangeTable changes={found} caption={changes.all(found.length, hasMore)} />
              {hasMore && (
                <button type="button" onClick={() => setWanted(wanted + 5 * STEP)}>
                  {texts.more}
                </button>
              )}
            </>
          )
        }
      </Answered>
    </section>
  )
}

function ChangeTable({ changes, caption }: { changes: readonly Change[]; caption: string }) {
  const { columns, kinds, reasons } = texts.changes
  return (
    <Table label={caption} columns={Object.values(columns)} caption={caption}>
      {changes.map((change) => {
        const record = change.after ?? change.before
        return (
          <tr key={change.id} class={change.change}>
            <td>{kinds[change.change]}</td>
            <td class="number">
              <Link page="records" to={{ item: change.id }}>
                {change.id}
              </Link>
            </td>
            <td>
              {record?.admin_l2 ?? record?.admin_l1 ?? record?.country}, {record?.date_high ?? record?.date_low}
            </td>
            <td>{describeValues(change)}</td>
            <td>{reasons[change.reason] ?? change.reason}</td>
          </tr>
        )
      })}
    </Table>
  )
}

function describeValues({ change, before, after, fields = [] }: Change) {
  if (change === 'corrected')
    return fields.map((field) => (
      <span key={field}>
        {field}: <del>{format(before, field)}</del> <ins>{format(after, field)}</ins>{' '}
      </span>
    ))
  const record = after ?? before
  return `${texts.counts.cases}: ${format(record, 'cases')}, ${texts.counts.deaths}: ${format(record, 'deaths')}`
}

function format(record: object | null | undefined, field: string): string {
  const value = (record as Record<string, unknown> | null | undefined)?.[field]
  if (value === null || value === undefined) return texts.unknown
  return formatValue(value)
}
