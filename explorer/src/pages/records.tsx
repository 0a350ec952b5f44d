// The records of the question as a table, a page at a time, with chosen columns; and all of them as a file.
import { useState } from 'preact/hooks'
import { api, useAnswer } from '../ask.ts'
import { Failure } from '../parts/failure.tsx'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { saveBlob } from '../save-picture.ts'
import { goTo, linkTo, question, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

const PAGE_SIZE = 100
const FORMATS = { CSV: 'text/csv', NDJSON: 'application/x-ndjson', Parquet: 'application/vnd.apache.parquet' } as const

export function RecordsPage({ release }: { release: number }) {
  const { columns } = view.value
  const filters = recordFilters(question.value)
  const base = `${release} ${columns.join()} ${toKey(filters)}`
  const [pages, setPages] = useState<{ base: string; cursors: (string | null)[] }>({ base, cursors: [null] })
  const cursors = pages.base === base ? pages.cursors : [null]
  const cursor = cursors.at(-1) ?? null
  const { value, error, isWaiting } = useAnswer(`${base} ${cursor}`, async (signal) => {
    const parameters = { ...toObject(filters), release, num: PAGE_SIZE, fields: withId(columns).join(',') }
    const walk = api.records(parameters as never, { cursor, signal })
    const page = await walk.nextPage()
    return { rows: page as unknown as Record<string, unknown>[], next: walk.done ? null : walk.cursor }
  })
  const { table: words } = texts
  return (
    <section class="wide" aria-labelledby="records" aria-busy={isWaiting}>
      <h1 id="records">{texts.pages.records}</h1>
      <Columns chosen={columns} />
      <Downloads release={release} />
      {error !== undefined ? (
        <Failure error={error} />
      ) : value === undefined ? (
        <p class="empty">{texts.waiting}</p>
      ) : (
        <>
          <div class="scroll" tabIndex={0} role="group" aria-label={texts.pages.records}>
            <table>
              <thead>
                <tr>
                  {columns.map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {value.rows.map((row) => (
                  <tr key={String(row['id'])}>
                    {columns.map((name) => (
                      <td key={name} class={typeof row[name] === 'number' ? 'number' : ''}>
                        {name === 'id' ? <RecordLink id={Number(row['id'])} /> : format(row[name])}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="choices">
            <button type="button" disabled={cursors.length === 1} onClick={() => setPages({ base, cursors: cursors.slice(0, -1) })}>
              {words.before}
            </button>
            <button type="button" disabled={value.next === null} onClick={() => setPages({ base, cursors: [...cursors, value.next] })}>
              {words.next}
            </button>
          </p>
        </>
      )}
    </section>
  )
}

const withId = (columns: readonly string[]) => [...new Set(['id', ...columns])]

const format = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

function RecordLink({ id }: { id: number }) {
  return (
    <a
      href={linkTo('records', { item: id })}
      onClick={(event) => {
        event.preventDefault()
        goTo('records', { item: id })
      }}
    >
      {id}
    </a>
  )
}

function Columns({ chosen }: { chosen: readonly string[] }) {
  const { value: fields = [] } = useAnswer('fields', async (signal) => {
    const response = await fetch('/v2/hed-outbreaks/schema', { signal })
    const schema = (await response.json()) as { properties?: Record<string, unknown> }
    return Object.keys(schema.properties ?? {})
  })
  return (
    <details class="columns">
      <summary>{texts.table.columns(chosen.length)}</summary>
      <fieldset>
        <legend class="hidden">{texts.table.columns(chosen.length)}</legend>
        {fields.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={(event) =>
                setView(
                  { columns: event.currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name) },
                  { replaces: true },
                )
              }
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
  const start = async (format: keyof typeof FORMATS) => {
    setState(texts.waiting)
    try {
      const { blob, records } = await readFile(FORMATS[format], release)
      saveBlob(blob, `outbreaks-${release}.${format.toLowerCase()}`)
      setState(texts.download.saved(records))
    } catch (error) {
      setState(texts.download.failed((error as Error).message))
    }
  }
  return (
    <p class="choices">
      {(Object.keys(FORMATS) as (keyof typeof FORMATS)[]).map((format) => (
        <button key={format} type="button" onClick={() => void start(format)}>
          {texts.download.question(format)}
        </button>
      ))}
      <span role="status">{state}</span>
    </p>
  )
}

/** The header says how many records there are before they arrive; a body that breaks off fails in fetch. */
async function readFile(type: string, release: number): Promise<{ blob: Blob; records: number }> {
  const filters = [...recordFilters(question.value), ['release', String(release)], ['count', 'exact']] as const
  const response = await fetch(`/v2/hed-outbreaks/outbreaks?${toKey(filters)}`, { headers: { accept: type } })
  if (!response.ok) throw new Error(((await response.json()) as { detail?: string }).detail ?? response.statusText)
  const blob = await response.blob()
  return { blob, records: Number(response.headers.get('outbreaks-count')) }
}
