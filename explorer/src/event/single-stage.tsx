// One total of one report: what it says, who said it, and where.
import type { EventSummary, OutbreakRecord, Release } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { PlaceMap } from '../charts/map.tsx'
import { TipText } from '../charts/plot.tsx'
import { formatDay, formatNumber } from '../format.ts'
import { countryName, kindWord, levelWord, sourceWord, statusWord } from '../labels.ts'
import { Answered } from '../parts/answered.tsx'
import { Link } from '../parts/link.tsx'
import { recordFilters, toObject } from '../requests.ts'
import { question } from '../state.ts'

export function SingleStage({ summary, current }: { summary: EventSummary; current: Release }) {
  const [figure] = summary.figures ?? []
  const answer = useAnswer(`one ${current.number} ${summary.event}`, async (signal) => {
    const parameters = {
      ...toObject(recordFilters(question.value)),
      release: current.number,
      num: 4,
      sort: '-date_high',
    }
    return (await api.records(parameters as never, { signal }).nextPage()) ?? []
  })
  const code = summary.country_codes.find((one) => !one.startsWith('X'))
  return (
    <section class="stage" aria-labelledby="single-title">
      <div class="stage-grid one">
        <div>
          <h2 class="h3" id="single-title">
            {summary.records === 1 ? 'One report' : `${formatNumber(summary.records)} reports of one total`}
          </h2>
          <Answered answer={answer}>
            {([record]) => (record === undefined ? <p>No report.</p> : <Facts record={record} />)}
          </Answered>
          <p class="quiet small see">
            {summary.records === 1
              ? 'There is one total, so there is no curve. '
              : 'There are too few days for a curve. '}
            {figure?.interim === true && summary.last_day !== null && (
              <>The event may have gone on after {formatDay(summary.last_day)}.</>
            )}
          </p>
        </div>
        <PlaceMap
          kind="world"
          spots={code === undefined ? [] : [{ code, lines: [countryName(code)], isHot: true }]}
          label={`World map: ${summary.country_codes.map(countryName).join(', ')}`}
          shade={(one) => (summary.country_codes.includes(one) ? 'q3' : '')}
          tip={(_, name) => <TipText title={name} />}
          labels={1}
        />
      </div>
      <div class="stage-foot">
        <span>
          Data: {summary.sources.map(sourceWord).join('; ')}, release {current.number}
        </span>
        <Answered answer={answer} skeleton="line w3">
          {(records) => (
            <span>
              {records.map(({ id }) => (
                <Link key={id} page="records" to={{ item: id, question: {} }}>
                  Record {id}{' '}
                </Link>
              ))}
            </span>
          )}
        </Answered>
      </div>
    </section>
  )
}

function Facts({ record }: { record: OutbreakRecord }) {
  const { source_url: url } = record
  const host = url === null ? null : (URL.parse(url)?.hostname.replace(/^www\./, '') ?? null)
  const rows: readonly (readonly [string, preact.ComponentChildren, string?])[] = [
    ['Source', sourceWord(record.source_name), record.source_report ?? ''],
    ...(record.date_report === null ? [] : [['Published', formatDay(record.date_report)] as const]),
    ...(url === null || host === null
      ? []
      : [
          [
            'Address',
            <a key="url" href={url} rel="noreferrer">
              {host}
            </a>,
          ] as const,
        ]),
    [
      'Counted',
      `${statusWord(record.case_status)}, ${kindWord(record.count_kind)}, ${levelWord(record.location_granularity)}`,
    ],
    [
      'Checked by us',
      record.verification === 'unverified' ? 'No' : 'Yes',
      record.verification === 'unverified'
        ? 'The figure was not compared with the report.'
        : 'The figure was read in the named report.',
    ],
    ...(record.note === null || record.note === '' ? [] : [['Note', record.note] as const]),
  ]
  return (
    <dl class="facts">
      {rows.map(([name, value, small = '']) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value} {small !== '' && <small>{small}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
