// One record: its fields with what they mean, and its versions through the releases.
import { api, useAnswer } from '../ask.ts'
import { Failure } from '../parts/failure.tsx'
import { texts } from '../texts.ts'

interface Field {
  readonly name: string
  readonly description: string
}

/** The fields as the service describes them. */
async function readFields(signal: AbortSignal): Promise<Field[]> {
  const response = await fetch('/v2/hed-outbreaks/schema', { signal })
  const schema = (await response.json()) as { properties?: Record<string, { description?: string }> }
  return Object.entries(schema.properties ?? {}).map(([name, { description = '' }]) => ({ name, description }))
}

export function RecordPage({ id }: { id: number }) {
  const history = useAnswer(`history ${id}`, (signal) => api.history(id, { signal }).toArray())
  const fields = useAnswer('schema', readFields)
  const { record: words } = texts
  const newest = history.value?.at(-1)
  if (history.error !== undefined) return <Failure error={history.error} />
  if (newest === undefined) return <p class="empty">{texts.waiting}</p>
  const values = newest.record as unknown as Record<string, unknown>
  return (
    <>
      <section class="wide" aria-labelledby="record">
        <h1 id="record">{words.title(id)}</h1>
        <dl class="fields">
          {(fields.value ?? Object.keys(values).map((name) => ({ name, description: '' }))).map(({ name, description }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <FieldValue name={name} value={values[name]} /> <small>{description}</small>
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <section class="wide" aria-labelledby="versions">
        <h2 id="versions">{words.versions}</h2>
        <ol class="versions">
          {history.value?.map(({ from_release: from, to_release: to, record }) => (
            <li key={from}>
              <b>{words.range(from, to)}</b>: {texts.counts.cases} {record.cases ?? texts.unknown}, {texts.counts.deaths}{' '}
              {record.deaths ?? texts.unknown}
              {record.note === null ? '' : `, ${record.note}`}
            </li>
          ))}
        </ol>
      </section>
    </>
  )
}

function FieldValue({ name, value }: { name: string; value: unknown }) {
  if (value === null || value === undefined) return <span class="none">{texts.notGiven}</span>
  if (name === 'source_url' && typeof value === 'string' && /^https?:/.test(value))
    return (
      <a href={value} rel="noreferrer">
        {value}
      </a>
    )
  return <span>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</span>
}
