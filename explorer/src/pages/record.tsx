// One record: its fields with what they mean, and its versions through the releases.
import type { RecordVersion } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { useFields } from '../fields.ts'
import { Failure } from '../parts/failure.tsx'
import { Link } from '../parts/link.tsx'
import { formatValue, texts } from '../texts.ts'

type Values = Readonly<Record<string, unknown>>

export function RecordPage({ id }: { id: number }) {
  const { value: versions, error } = useAnswer(`history ${id}`, (signal) => api.history(id, { signal }).toArray())
  const { value: fields } = useFields()
  const { record: words } = texts
  const newest = versions?.at(-1)
  if (error !== undefined) return <Failure error={error} />
  if (versions === undefined || newest === undefined) return <p class="empty">{texts.waiting}</p>
  const values = newest.record as unknown as Values
  const described = fields ?? Object.keys(values).map((name) => ({ name, description: '' }))
  const question = { event: [newest.record.event], series_id: [newest.record.series_id] }
  return (
    <>
      <section class="wide" aria-labelledby="record">
        <h1 id="record">{words.title(id)}</h1>
        {newest.to_release !== null && <p role="alert">{words.withdrawn(newest.to_release)}</p>}
        <p>
          <Link page="explore" to={{ question }}>
            {words.explore}
          </Link>
        </p>
        <dl class="fields">
          {described.map(({ name, description }) => (
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
          {versions.map((version, i) => (
            <li key={version.from_release}>
              <b>{words.range(version.from_release, version.to_release)}</b>{' '}
              <Differences version={version} before={versions[i - 1]} />
            </li>
          ))}
        </ol>
      </section>
    </>
  )
}

/** The counts of the first version; of a later one what differs from the version before. */
function Differences({ version, before }: { version: RecordVersion; before: RecordVersion | undefined }) {
  const values = version.record as unknown as Values
  const earlier = before?.record as unknown as Values | undefined
  const names = Object.keys(values).filter((name) =>
    earlier === undefined
      ? name === 'cases' || name === 'deaths' || name === 'note'
      : JSON.stringify(values[name] ?? null) !== JSON.stringify(earlier[name] ?? null),
  )
  return (
    <>
      {names.map((name) => (
        <span key={name}>
          {name}: {earlier !== undefined && <del>{write(earlier[name])}</del>} <ins>{write(values[name])}</ins>{' '}
        </span>
      ))}
    </>
  )
}

const write = (value: unknown): string => (value === null || value === undefined ? texts.notGiven : formatValue(value))

function FieldValue({ name, value }: { name: string; value: unknown }) {
  if (name === 'source_url' && typeof value === 'string' && /^https?:/.test(value))
    return (
      <a href={value} rel="noreferrer">
        {value}
      </a>
    )
  return <span class={value === null || value === undefined ? 'none' : ''}>{write(value)}</span>
}
