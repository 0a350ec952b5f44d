// The records of the question: what they differ in, a page of them as a table, and all of them as a file.
import { useState } from 'preact/hooks'
import { api, signInIfEnded, useAnswer } from '../ask.ts'
import { countOf, formatDay, formatNumber, formatValue } from '../format.ts'
import { countryName, eventTitle, fields, fieldWord, valueWord } from '../labels.ts'
import { Answered } from '../parts/answered.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { question, setView, view } from '../state.ts'
import { FORMATS, type Format } from '../take/count-records.ts'
import { downloadRecords, Incomplete } from '../take/download.ts'
import { Facets } from './facets.tsx'

const PAGE_SIZE = 50

export function RecordsTable({ release, isEvent }: { release: number; isEvent: boolean }) {
  const columns = view.value.columns.filter((name) => !isEvent || name !== 'event')
  const filters = recordFilters(question.value)
  const base = `${release} ${columns.join()} ${toKey(filters)}`
  const [pages, setPages] = useState<{ base: string; cursors: (string | null)[] }>({ base, cursors: [null] })
  const cursors = pages.base === base ? pages.cursors : [null]
  const cursor = cursors.at(-1) ?? null
  const answer = useAnswer(`records ${base} ${cursor}`, async (signal) => {
    const parameters = {
      ...toObject(filters),
      release,
      num: PAGE_SIZE,
      count: 'exact',
      fields: withId(columns).join(','),
    }
    const walk = api.records(parameters as never, { cursor, signal })
    const page = await walk.nextPage()
    return {
      rows: page as unknown as Record<string, unknown>[],
      count: walk.count,
      next: walk.done ? null : walk.cursor,
    }
  })
  const first = (cursors.length - 1) * PAGE_SIZE
  return (
    <div class="cols records-cols">
      <div class="c3">
        <Facets release={release} />
      </div>
      <div class="c9">
        <div class="section-head">
          <h2>{answer.value?.count == null ? 'Records' : countOf(answer.value.count, 'record')}</h2>
          <div class="group">
            <Columns chosen={view.value.columns} />
            <Downloads release={release} />
          </div>
        </div>
        <Answered answer={answer}>
          {({ rows, count, next }) => (
            <>
              <Table
                label="Records"
                columns={columns.map((name) => ({ name: fieldWord(name), isNumber: isCount(name) }))}
              >
                {rows.map((row) => (
                  <tr key={String(row['id'])}>
                    {columns.map((name) => (
                      <td key={name} class={isCount(name) ? 'r' : name.startsWith('date_') ? 'nowrap' : ''}>
                        {name === 'id' ? (
                          <Link page="records" to={{ item: Number(row['id']), question: {} }} class="id">
                            {String(row['id'])}
                          </Link>
                        ) : (
                          write(name, row[name])
                        )}
                      </td>
                    ))}
                  </tr>
                ))}
              </Table>
              <div class="pager">
                <span role="status">
                  {formatNumber(first + Math.min(1, rows.length))} – {formatNumber(first + rows.length)}
                  {count !== null && ` of ${countOf(count, 'record')}`}
                </span>
                <span class="quiet">– means not reported, which is not zero</span>
                <span class="group">
                  <button
                    class="btn"
                    type="button"
                    disabled={cursors.length === 1}
                    onClick={() => setPages({ base, cursors: cursors.slice(0, -1) })}
                  >
                    Previous
                  </button>
                  <button
                    class="btn"
                    type="button"
                    disabled={next === null}
                    onClick={() => setPages({ base, cursors: [...cursors, next] })}
                  >
                    Next
                  </button>
                </span>
              </div>
            </>
          )}
        </Answered>
      </div>
    </div>
  )
}

const withId = (columns: readonly string[]) => [...new Set(['id', ...columns])]
const COUNTS = new Set(['cases', 'deaths', 'hospitalised', 'recovered', 'tested', 'id'])
const isCount = (name: string) => COUNTS.has(name)

/** A value in words; what the record does not say is a dash. */
function write(name: string, value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'number') return isCount(name) ? formatNumber(value) : String(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = formatValue(value)
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return formatDay(text)
  if (name === 'event') return eventTitle(text)
  return name === 'country_code' ? countryName(text) : valueWord(name, text)
}

function Columns({ chosen }: { chosen: readonly string[] }) {
  const [isOpen, setOpen] = useState(false)
  const change = (name: string, isChosen: boolean) => {
    const columns = isChosen ? [...chosen, name] : chosen.filter((one) => one !== name)
    if (columns.length > 0) setView({ columns }, { replaces: true })
  }
  return (
    <>
      <button class="btn" type="button" onClick={() => setOpen(true)}>
        <Icon name="table" /> Columns
      </button>
      {isOpen && (
        <Dialog title="Columns" onClose={() => setOpen(false)}>
          <fieldset class="columns facet">
            <legend class="sr">Columns of the table</legend>
            {[...fields.value.values()].map(({ name, label, description }) => (
              <label key={name} title={description}>
                <input
                  type="checkbox"
                  checked={chosen.includes(name)}
                  onChange={(event) => change(name, event.currentTarget.checked)}
                />
                {label}
              </label>
            ))}
          </fieldset>
        </Dialog>
      )}
    </>
  )
}

/** All records of the question as one file: complete, or not saved. */
export function Downloads({ release }: { release: number }) {
  const [state, setState] = useState('')
  const start = async (chosen: Format) => {
    setState('Asking …')
    try {
      const records = await downloadRecords(chosen, recordFilters(question.value), release)
      setState(`Saved: ${countOf(records, 'record')}, as many as match.`)
    } catch (error) {
      signInIfEnded(error)
      const { message } = error as Error
      setState(
        error instanceof Incomplete ? `Not complete: ${message}. Nothing was saved.` : `Not downloaded: ${message}`,
      )
    }
  }
  return (
    <>
      {(Object.keys(FORMATS) as Format[]).map((name) => (
        <button
          key={name}
          class="btn"
          type="button"
          aria-label={`Download as ${name}`}
          onClick={() => void start(name)}
        >
          <Icon name="download" /> {name}
        </button>
      ))}
      <span class="small" role="status">
        {state}
      </span>
    </>
  )
}
