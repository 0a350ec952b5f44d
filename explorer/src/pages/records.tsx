// The records of the question as a table, a page at a time, with chosen columns; and all of them as a file.
import { useState } from 'preact/hooks'
import { api, signInIfEnded, useAnswer } from '../ask.ts'
import { FORMATS, type Format } from '../count-records.ts'
import { downloadRecords, Incomplete } from '../download.ts'
import { useFields } from '../fields.ts'
import { Chips } from '../panels/ask.tsx'
import { Answered } from '../parts/answered.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { question, setView, view } from '../state.ts'
import { formatValue, texts } from '../texts.ts'

const PAGE_SIZE = 100

export function RecordsPage({ release }: { release: number }) {
  const { columns } = view.value
  const filters = recordFilters(question.value)
  const base = `${release} ${columns.join()} ${toKey(filters)}`
  const [pages, setPages] = useState<{ base: string; cursors: (string | null)[] }>({ base, cursors: [null] })
  const cursors = pages.base === base ? pages.cursors : [null]
  const cursor = cursors.at(-1) ?? null
  const answer = useAnswer(`${base} ${cursor}`, async (signal) => {
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
  const { table: words } = texts
  const first = (cursors.length - 1) * PAGE_SIZE
  return (
    <section class="wide" aria-labelledby="records">
      <h1 id="records">{texts.pages.records}</h1>
      <Chips />
      <Columns chosen={columns} />
      <Downloads release={release} />
      <Answered answer={answer}>
        {({ rows, count, next }) => (
          <>
            <p role="status">{words.shown(first + Math.min(1, rows.length), first + rows.length, count)}</p>
            <Table label={texts.pages.records} columns={columns}>
              {rows.map((row) => (
                <tr key={String(row['id'])}>
                  {columns.map((name) => (
                    <td
                      key={name}
                      class={typeof row[name] === 'number' ? 'number' : name.startsWith('date_') ? 'day' : ''}
                    >
                      {name === 'id' ? (
                        <Link page="records" to={{ item: Number(row['id']) }}>
                          {String(row['id'])}
                        </Link>
                      ) : (
                        format(row[name])
                      )}
                    </td>
                  ))}
                </tr>
              ))}
            </Table>
            <p class="choices">
              <button
                type="button"
                disabled={cursors.length === 1}
                onClick={() => setPages({ base, cursors: cursors.slice(0, -1) })}
              >
                {words.before}
              </button>
              <button
                type="button"
                disabled={next === null}
                onClick={() => setPages({ base, cursors: [...cursors, next] })}
              >
                {words.next}
              </button>
            </p>
          </>
        )}
      </Answered>
    </section>
  )
}

const withId = (columns: readonly string[]) => [...new Set(['id', ...columns])]

const format = (value: unknown): string => (value === null || value === undefined ? '' : formatValue(value))

function Columns({ chosen }: { chosen: readonly string[] }) {
  const { value: fields = [] } = useFields()
  const change = (name: string, isChosen: boolean) => {
    const columns = isChosen ? [...chosen, name] : chosen.filter((one) => one !== name)
    if (columns.length > 0) setView({ columns }, { replaces: true })
  }
  return (
    <details class="columns">
      <summary>{texts.table.columns(chosen.length)}</summary>
      <fieldset>
        <legend class="hidden">{texts.table.columns(chosen.length)}</legend>
        {fields.map(({ name, description }) => (
          <label key={name} title={description}>
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={(event) => change(name, event.currentTarget.checked)}
            />{' '}
            {name}
          </label>
        ))}
      </fieldset>
    </details>
  )
}

/** All records of the question as one file: complete, or not saved. */
function Downloads({ release }: { release: number }) {
  const [state, setState] = useState('')
  const { download } = texts
  const start = async (chosen: Format) => {
    setState(texts.waiting)
    try {
      setState(download.saved(await downloadRecords(chosen, recordFilters(question.value), release)))
    } catch (error) {
      signInIfEnded(error)
      const { message } = error as Error
      setState(error instanceof Incomplete ? download.incomplete(message) : download.failed(message))
    }
  }
  return (
    <p class="choices">
      {(Object.keys(FORMATS) as Format[]).map((name) => (
        <button key={name} type="button" onClick={() => void start(name)}>
          {download.question(name)}
        </button>
      ))}
      <span role="status">{state}</span>
    </p>
  )
}
