// What changed between two releases, and why: the old and the new value of each record of the question.
import type { Change } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { Failure } from '../parts/failure.tsx'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { goTo, linkTo, question } from '../state.ts'
import { texts } from '../texts.ts'

const SHOWN = 20

export function ChangesPanel({ from, to }: { from: number | null; to: number }) {
  const [earlier, later] = from === null ? [0, to] : [Math.min(from, to), Math.max(from, to)]
  const filters = recordFilters(question.value)
  const { value, error, isWaiting } = useAnswer(earlier === 0 ? '' : `${earlier} ${later} ${toKey(filters)}`, async (signal) => {
    const walk = api.changes(
      { from: earlier, to: later, changed_fields: true, num: 100, ...toObject(filters) } as never,
      { signal },
    )
    const found: Change[] = []
    for await (const page of walk.pages()) {
      found.push(...page)
      if (found.length >= SHOWN) return { changes: found.slice(0, SHOWN), hasMore: !walk.done || found.length > SHOWN }
    }
    return { changes: found, hasMore: false }
  })
  const { changes } = texts
  return (
    <section class="what" aria-labelledby="what" aria-busy={isWaiting}>
      <h2 id="what">{changes.title(earlier, later)}</h2>
      {earlier === 0 ? (
        <p class="empty">{changes.choose}</p>
      ) : error !== undefined ? (
        <Failure error={error} />
      ) : value === undefined ? (
        <p class="empty">{texts.waiting}</p>
      ) : value.changes.length === 0 ? (
        <p class="empty">{changes.none}</p>
      ) : (
        <ChangeTable changes={value.changes} caption={changes.all(value.changes.length, value.hasMore)} />
      )}
    </section>
  )
}

export function ChangeTable({ changes, caption }: { changes: readonly Change[]; caption: string }) {
  const { columns, kinds, reasons } = texts.changes
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={caption}>
      <table class="changes">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {Object.entries(columns).map(([name, text]) => (
              <th key={name} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => {
            const record = change.after ?? change.before
            return (
              <tr key={change.id} class={change.change}>
                <td>{kinds[change.change]}</td>
                <td>
                  <a
                    href={linkTo('records', { item: change.id })}
                    onClick={(event) => {
                      event.preventDefault()
                      goTo('records', { item: change.id })
                    }}
                  >
                    {change.id}
                  </a>
                </td>
                <td>
                  {record?.admin_l2 ?? record?.admin_l1 ?? record?.country}, {record?.date_high ?? record?.date_low}
                </td>
                <td>{describeValues(change)}</td>
                <td>{reasons[change.reason] ?? change.reason}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
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
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
