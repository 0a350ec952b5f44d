// One record: what it says in words, its history through the releases, and all its fields.
import type { ComponentChildren } from 'preact'
import type { OutbreakRecord, RecordVersion } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { capitalise, formatDays, formatNumber, formatValue } from '../format.ts'
import { countryName, eventTitle, fields, fieldWord, kindWord, levelWord, sourceWord, statusWord } from '../labels.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Failure } from '../parts/failure.tsx'
import { EventLink, Link } from '../parts/link.tsx'
import { useTitles } from '../read-events.ts'

type Values = Readonly<Record<string, unknown>>

export function RecordPage({ id }: { id: number }) {
  const { value: versions, error } = useAnswer(`history ${id}`, (signal) => api.history(id, { signal }).toArray())
  const newest = versions?.at(-1)
  useTitles(newest === undefined ? [] : [newest.record.event], newest?.from_release ?? 1)
  if (error !== undefined)
    return (
      <div class="wrap">
        <Failure error={error} />
      </div>
    )
  if (versions === undefined || newest === undefined) return <div class="wrap skel chart" aria-busy="true" />
  const { record } = newest
  const place = placeOf(record)
  return (
    <div class="wrap">
      <div class="head">
        <ol class="crumbs" aria-label="Where you are">
          <li>
            <EventLink event={record.event}>{eventTitle(record.event)}</EventLink>
          </li>
          <li>
            <Link page="event" to={{ tab: 'records', question: { event: [record.event] } }}>
              Records
            </Link>
          </li>
          <li aria-current="page">{id}</li>
        </ol>
        <div class="head-row">
          <div>
            <h1>{titleOf(record, place)}</h1>
            <p>
              {record.disease ?? record.pathogen} · {daysOf(record)} · record {id}
            </p>
          </div>
          <div class="group">
            <CopyButton text={location.href} label="Copy link" icon="link" />
            <Link page="event" to={{ question: { event: [record.event], series_id: [record.series_id] } }} class="btn">
              Explore its series
            </Link>
          </div>
        </div>
        {newest.to_release !== null && (
          <p class="note warn" role="alert">
            Withdrawn in release {newest.to_release}.
          </p>
        )}
      </div>
      <div class="cols record-cols">
        <div class="c7">
          <Facts record={record} place={place} />
          <Fields record={record} />
        </div>
        <div class="c5">
          <History versions={versions} />
        </div>
      </div>
    </div>
  )
}

const placeOf = (record: OutbreakRecord): string =>
  [record.locality, record.admin_l3, record.admin_l2, record.admin_l1, capitalise(countryName(record.country_code))]
    .filter((part) => part !== null)
    .join(', ')

function titleOf({ cases, deaths, case_status: status }: OutbreakRecord, place: string): string {
  if (cases !== null)
    return `${formatNumber(cases)} ${cases === 1 ? statusWord(status).replace(/s$/, '') : statusWord(status)}, ${place}`
  return deaths === null ? `A report without a count, ${place}` : `${formatNumber(deaths)} deaths, ${place}`
}

const daysOf = ({ date_low: low, date_high: high }: OutbreakRecord): string => {
  const [first, last] = [low ?? high, high ?? low]
  return first === null || last === null ? 'no day given' : formatDays(first, last)
}

const QUALIFIERS = { exact: 'Exact.', at_least: 'At least.', at_most: 'At most.', approximate: 'Approximate.' }
const TYPES: Readonly<Record<string, string>> = {
  report: 'Day of report, not of illness.',
  onset: 'Day on which people fell ill.',
  specimen: 'Day of the sample.',
  notification: 'Day of notification.',
}

function Facts({ record, place }: { record: OutbreakRecord; place: string }) {
  const { source_url: url } = record
  return (
    <>
      <Group title="What">
        <Fact name="Cases" value={record.cases === null ? null : formatNumber(record.cases)}>
          {QUALIFIERS[record.count_qualifier]}
        </Fact>
        <Fact name="Deaths" value={record.deaths === null ? null : formatNumber(record.deaths)} />
        <Fact
          name="Kind of count"
          value={capitalise(`${statusWord(record.case_status)}, ${kindWord(record.count_kind)}`)}
        />
        <Fact name="Disease" value={`${record.disease ?? 'not given'} (${record.pathogen})`} />
      </Group>
      <Group title="Where">
        <Fact name="Place" value={place}>
          {capitalise(levelWord(record.location_granularity))} count.
          {record.location_as_reported !== null && ` As written by the source: “${record.location_as_reported}”.`}
        </Fact>
      </Group>
      <Group title="When">
        <Fact name="Days" value={daysOf(record)}>
          {TYPES[record.date_type ?? ''] ?? ''}
        </Fact>
      </Group>
      <Group title="Who says so">
        <Fact name="Source" value={sourceWord(record.source_name)} />
        {url !== null && /^https?:/.test(url) && (
          <Fact
            name="Address"
            value={
              <a href={url} rel="noreferrer">
                {url}
              </a>
            }
          />
        )}
        <Fact name="Licence" value={record.licence} />
        <Fact name="Checked by us" value={record.verification === 'unverified' ? 'No' : 'Yes'} />
        {record.note !== null && <Fact name="Note" value={record.note} />}
      </Group>
    </>
  )
}

const Group = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="fact-group" aria-label={title}>
    <h2>{title}</h2>
    <dl class="facts">{children}</dl>
  </section>
)

const Fact = ({
  name,
  value,
  children,
}: {
  name: string
  value: ComponentChildren | null
  children?: ComponentChildren
}) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {value ?? 'Not reported'} <small>{value === null ? 'Unknown is not zero.' : children}</small>
    </dd>
  </div>
)

function Fields({ record }: { record: OutbreakRecord }) {
  const values = record as unknown as Values
  const described = Object.keys(values).map((name) => ({
    name,
    description: fields.value.get(name)?.description ?? '',
  }))
  return (
    <details class="more under">
      <summary>All {described.length} fields with their names in the API</summary>
      <dl class="facts fields">
        {described.map(({ name, description }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {plain(values[name])} <small>{description}</small>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

const plain = (value: unknown): string => (value === null || value === undefined ? 'not given' : formatValue(value))

function History({ versions }: { versions: readonly RecordVersion[] }) {
  return (
    <section class="news" aria-labelledby="versions">
      <h2 id="versions">History of this record</h2>
      <ol class="hist versions">
        {versions.map((version, i) => (
          <li key={version.from_release} class={version.to_release === null ? 'now' : ''}>
            <b>
              {version.to_release === null
                ? `Since release ${version.from_release}`
                : version.to_release - 1 === version.from_release
                  ? `Release ${version.from_release}`
                  : `Releases ${version.from_release} to ${version.to_release - 1}`}
            </b>{' '}
            <Differences version={version} before={versions[i - 1]} />
          </li>
        ))}
      </ol>
    </section>
  )
}

/** The counts of the first version; of a later one what differs from the version before. */
function Differences({ version, before }: { version: RecordVersion; before: RecordVersion | undefined }) {
  const values = version.record as unknown as Values
  const earlier = before?.record as unknown as Values | undefined
  const names = Object.keys(values).filter((name) =>
    earlier === undefined
      ? name === 'cases' || name === 'deaths'
      : JSON.stringify(values[name] ?? null) !== JSON.stringify(earlier[name] ?? null),
  )
  return (
    <>
      {names.map((name) => (
        <p key={name} class="change">
          <small>{fieldWord(name)}</small> {earlier !== undefined && <del>{plain(earlier[name])}</del>}{' '}
          <ins>{plain(values[name])}</ins>
        </p>
      ))}
    </>
  )
}
