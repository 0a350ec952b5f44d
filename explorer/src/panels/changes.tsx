// What changed between two releases, and why: by place in short, or the old and the new value of each record.
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { Change, OutbreakRecord } from '../../../clients/typescript/src/client.ts'
import { type Answer, api, useAnswer } from '../ask.ts'
import { asText, capitalise, countOf, formatDay, formatNumber, formatSigned } from '../format.ts'
import { fieldWord } from '../labels.ts'
import { Answered } from '../parts/answered.tsx'
import { Badge } from '../parts/figure.tsx'
import { Icon } from '../parts/icon.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { question } from '../state.ts'
import { texts } from '../texts.ts'
import { areaOf, type ChangeLine, describeMove, joinMoved, placeOf } from './moved.ts'

/** The most changes that are read: more are said to exist. */
const MOST_CHANGES = 1000

interface Changes {
  readonly changes: readonly Change[]
  readonly hasMore: boolean
}

export function useChanges(from: number | null, to: number): Answer<Changes> {
  const filters = recordFilters(question.value)
  return useAnswer(from === null ? '' : `changes ${from} ${to} ${toKey(filters)}`, async (signal) => {
    const parameters = { from: from ?? 0, to, changed_fields: true, num: MOST_CHANGES, ...toObject(filters) }
    const walk = api.changes(parameters, { signal })
    const changes = (await walk.nextPage()) ?? []
    return { changes, hasMore: !walk.done }
  })
}

const recordOf = ({ after, before }: Change): OutbreakRecord | null => after ?? before ?? null
export const tally = (changes: readonly Change[]): Record<Change['change'], number> => {
  const count = (kind: Change['change']) => changes.filter(({ change }) => change === kind).length
  return { added: count('added'), corrected: count('corrected'), withdrawn: count('withdrawn') }
}

/** New counts by area, before and after: only where reports are new counts can they be added up. */
function movesByArea(changes: readonly Change[]): { name: string; by: number }[] {
  const byArea = new Map<string, number>()
  for (const { before, after } of changes) {
    const record = after ?? before
    if (record == null || record.count_kind !== 'new') continue
    const by = (after?.cases ?? 0) - (before?.cases ?? 0)
    byArea.set(areaOf(record), (byArea.get(areaOf(record)) ?? 0) + by)
  }
  return [...byArea]
    .map(([name, by]) => ({ name, by }))
    .filter(({ by }) => by !== 0)
    .toSorted((a, b) => Math.abs(b.by) - Math.abs(a.by))
}

export function ChangesSummary({ from, to }: { from: number | null; to: number }) {
  const answer = useChanges(from, to)
  return (
    <section class="section" aria-labelledby="what">
      <div class="section-head">
        <h2 id="what">What changed in release {to}</h2>
        {from !== null && (answer.value?.changes.length ?? 0) > 1 && (
          <Link page="event" to={{ tab: 'changes' }}>
            All {formatNumber(answer.value?.changes.length ?? 0)} changes
          </Link>
        )}
      </div>
      {from === null ? (
        <p class="quiet">This is the first release: nothing changed before it.</p>
      ) : (
        <Answered answer={answer} skeleton="line w8">
          {({ changes, hasMore }) => <Moves changes={changes} hasMore={hasMore} />}
        </Answered>
      )}
    </section>
  )
}

/** That are named in a sentence. */
const MOST_MOVES = 2

const isMoved = ({ from }: ChangeLine): boolean => from !== null
const describeLine = ({ change: { after }, from }: ChangeLine): string =>
  from?.before != null && after != null ? describeMove(from.before, after) : ''

export function Moves({ changes, hasMore }: Changes) {
  if (changes.length === 0) return <p class="quiet">Nothing changed here.</p>
  const { added, corrected, withdrawn } = tally(changes)
  const moved = [...Map.groupBy(joinMoved(changes).filter(isMoved), describeLine)].toSorted(
    ([, a], [, b]) => b.length - a.length,
  )
  return (
    <>
      <ul class="rows two">
        {movesByArea(changes)
          .slice(0, 5)
          .map(({ name, by }) => (
            <li key={name}>
              <span>{name}</span>
              <b class={`r ${by > 0 ? 'up' : 'gone'}`}>{formatSigned(by)}</b>
            </li>
          ))}
      </ul>
      <p class="quiet small under">
        {hasMore && 'Of the first thousand changes: '}
        {countOf(added, 'report')} added, {formatNumber(corrected)} corrected, {formatNumber(withdrawn)} withdrawn
        {moved.length > 0 &&
          `. With the same day and count, ${moved
            .slice(0, MOST_MOVES)
            .map(([words, all]) => `${formatNumber(all.length)} only moved ${words}`)
            .join(', ')}`}
        {moved.length > MOST_MOVES && `, and others to ${formatNumber(moved.length - MOST_MOVES)} more places`}.
      </p>
    </>
  )
}

const KINDS = ['all', 'added', 'corrected', 'withdrawn', 'moved'] as const
const STEP = 25

/** Each change, the largest difference first. */
export function ChangeTable({ answer, earlier, later }: { answer: Answer<Changes>; earlier: number; later: number }) {
  const [kind, setKind] = useState<(typeof KINDS)[number]>('all')
  const [wanted, setWanted] = useState(STEP)
  return (
    <section class="section what" aria-labelledby="each">
      <Answered answer={answer}>
        {({ changes, hasMore }) => {
          const lines = joinMoved(changes)
          const counts = { ...tally(changes), all: changes.length, moved: lines.filter(isMoved).length }
          // What only moved is one row, except among the added or the withdrawn.
          const rows = (
            kind === 'all' || kind === 'moved'
              ? lines.filter((line) => kind === 'all' || isMoved(line))
              : changes.filter(({ change }) => change === kind).map((change) => ({ change, from: null }))
          ).toSorted((a, b) => sizeOf(b) - sizeOf(a))
          return (
            <>
              <div class="section-head">
                <h2 id="each">Each change, and why</h2>
                <div class="chips" role="group" aria-label="Kind of change">
                  {KINDS.filter((name) => name !== 'moved' || counts.moved > 0).map((name) => (
                    <button
                      key={name}
                      class="chip"
                      type="button"
                      aria-pressed={kind === name}
                      onClick={() => setKind(name)}
                    >
                      {name === 'all' ? 'All' : texts.changes[name]} <span class="n">{formatNumber(counts[name])}</span>
                    </button>
                  ))}
                </div>
              </div>
              {rows.length === 0 ? (
                <p class="quiet">Nothing changed here.</p>
              ) : (
                <Table
                  label="Each change, and why"
                  class="lines-s"
                  columns={[
                    'Change',
                    'Place',
                    'Day',
                    'What',
                    { name: `Release ${earlier}`, isNumber: true },
                    { name: `Release ${later}`, isNumber: true },
                    'Reason given',
                    { name: 'Record', isNumber: true },
                  ]}
                >
                  {rows.slice(0, wanted).map((line) => (
                    <ChangeRow key={line.change.id} {...line} />
                  ))}
                </Table>
              )}
              <div class="pager">
                <span>
                  {formatNumber(Math.min(wanted, rows.length))} of{' '}
                  {kind === 'all' && counts.moved > 0 && `${countOf(rows.length, 'row')} with `}
                  {countOf(kind === 'all' ? changes.length : rows.length, 'change')}, largest difference first
                  {hasMore && '; there are more'}
                </span>
                {rows.length > wanted && (
                  <button class="btn" type="button" onClick={() => setWanted(wanted + 8 * STEP)}>
                    Show more
                  </button>
                )}
              </div>
            </>
          )
        }}
      </Answered>
    </section>
  )
}

const sizeOf = ({ change: { before, after }, from }: ChangeLine): number =>
  from === null ? Math.abs((after?.cases ?? 0) - (before?.cases ?? 0)) : 0

function ChangeRow({ change, from }: ChangeLine) {
  const record = recordOf(change)
  const { after } = change
  const before = from?.before ?? change.before
  const kind = from === null ? change.change : 'moved'
  const place =
    record === null
      ? ''
      : from === null
        ? placeOf(record)
        : capitalise(`${describeLine({ change, from })}, ${areaOf(record)}`)
  const reasons = new Set([...(from === null ? [] : [from.reason]), change.reason])
  const fields = (change.fields ?? []).filter((name) => name !== 'cases')
  const day = record?.date_high ?? record?.date_low
  const write = (one: OutbreakRecord | null | undefined) => (one?.cases == null ? '–' : formatNumber(one.cases))
  return (
    <tr class={kind}>
      <td>
        <Badge change={kind}>
          <Icon name={kind === 'moved' ? 'arrow' : kind} /> {texts.changes[kind]}
        </Badge>
      </td>
      <th scope="row">{place}</th>
      <td data-l="Day">{day == null ? 'not given' : formatDay(day)}</td>
      <td data-l="What">{kind === 'corrected' && fields.length > 0 ? describeFields(change, fields) : 'Cases'}</td>
      <td class="r" data-l="Before">
        {kind === 'added' ? (
          '–'
        ) : kind !== 'withdrawn' && before?.cases === after?.cases ? (
          write(before)
        ) : (
          <del>{write(before)}</del>
        )}
      </td>
      <td class="r" data-l="After">
        {kind === 'withdrawn' ? '–' : kind === 'moved' ? write(after) : <ins>{write(after)}</ins>}
      </td>
      <td data-l="Reason given">{Array.from(reasons, (reason) => texts.reasons[reason] ?? reason).join('; ')}</td>
      <td class="r" data-l="Record">
        <span>
          {[...(from === null ? [] : [from.id]), change.id].map((id) => (
            <Fragment key={id}>
              <Link page="records" to={{ item: id, question: {} }} class="id">
                {id}
              </Link>{' '}
            </Fragment>
          ))}
        </span>
      </td>
    </tr>
  )
}

/** Fields other than the cases, with both values. */
function describeFields({ before, after }: Change, fields: readonly string[]) {
  const read = (record: object | null | undefined, name: string) => {
    const value = (record as Record<string, unknown> | null | undefined)?.[name]
    return value == null ? 'not given' : asText(value)
  }
  return fields.map((name) => (
    <span key={name} class="field">
      {fieldWord(name)}: <del>{read(before, name)}</del> <ins>{read(after, name)}</ins>{' '}
    </span>
  ))
}
