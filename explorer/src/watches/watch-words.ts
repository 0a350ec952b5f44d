// Watches and what they say, in words. Pure, but for the labels of the service.
import { type COUNTS, FILTERS, type Question } from '../address.ts'
import { formatNumber, formatSigned } from '../format.ts'
import { countryName, fieldWord, valueWord } from '../labels.ts'
import { texts } from '../texts.ts'
import type { Endpoint, Notice, Watch } from './watch-requests.ts'

export const KINDS = ['changes', 'crosses', 'corrects', 'appears'] as const
export type Kind = (typeof KINDS)[number]

/** What a person chose. */
export interface Condition {
  readonly kind: Kind
  readonly count: (typeof COUNTS)[number]
  /** As typed: for `changes` the least difference, or nothing; for `crosses` the value. */
  readonly amount: string
}

const AMOUNT = /^[1-9]\d{0,9}$/

/** As the service reads it; null if a number is missing or is none. */
export function formatCondition({ kind, count, amount }: Condition): string | null {
  if (kind === 'appears' || kind === 'corrects' || (kind === 'changes' && amount === '')) return kind
  return AMOUNT.test(amount) ? `${kind}:${count}:${amount}` : null
}

export function describeCondition(when: string): string {
  const [kind, count = '', amount] = when.split(':')
  const value = formatNumber(Number(amount))
  if (kind === 'crosses') return `${fieldWord(count)}: reaches ${value}, or falls below`
  if (kind === 'appears') return 'A new event matches'
  if (kind === 'corrects') return 'Records are corrected or withdrawn'
  return amount === undefined ? 'A release changes it' : `${fieldWord(count)}: moves by ${value} or more`
}

/** What else the question selects besides its event. */
export const describeFilters = (question: Question): string =>
  FILTERS.filter((name) => name !== 'event')
    .flatMap((name) => {
      const values = question[name] ?? []
      const words = values.map((value) => (name === 'country_code' ? countryName(value) : valueWord(name, value)))
      return values.length === 0 ? [] : [`${fieldWord(name)}: ${words.join(', ')}`]
    })
    .join('; ')

/** Where people know an endpoint by: a host and a path, or a mailbox. */
export const addressWords = ({ address }: Pick<Endpoint, 'address'>): string => address.replace('https://', '')

export const stateWords = ({ state, ended_because: reason }: Watch): string =>
  state === 'ended' ? `Ended${reason === null ? '' : `: ${reason}`}` : state === 'paused' ? 'Paused' : 'Watching'

export interface Moved {
  readonly name: string
  readonly figures: string
  /** By how much; empty if that cannot be said. */
  readonly by: string
}

/** The counts of a notice before and after. Empty if neither release has a number. */
export function describeFigures({ data }: Notice): Moved[] {
  const { before, after, counted_another_way: isOtherwise } = data
  const names = Object.keys(after ?? before ?? {})
  return names
    .map((name) => ({ name, was: before?.[name] ?? null, now: after?.[name] ?? null }))
    .filter(({ was, now }) => was !== null || now !== null)
    .map(({ name, was, now }) => ({
      name: fieldWord(name),
      figures:
        was === now
          ? formatNumber(now ?? 0)
          : `${figureWords(was, data.refused_before)} → ${figureWords(now, data.refused_after)}`,
      by: was === null || now === null || isOtherwise ? '' : was === now ? 'unchanged' : formatSigned(now - was),
    }))
}

const figureWords = (value: number | null, refusal: string | null): string =>
  value !== null ? formatNumber(value) : refusal === null ? 'not known' : 'no single number'

/** Why a notice has no number. */
export function describeNoFigures({ data }: Notice): string {
  if (data.reason === 'pruned') return 'The releases cannot be compared: records were deleted.'
  return data.refused_after === null ? 'No number is known.' : 'The counts have no single number.'
}

/** 30 reports added, 2 corrected (revised by the source). */
export function describeChanges({ data }: Notice): string {
  const parts = data.changes.map(({ kind, reason, records }) => {
    const words = texts.reasons[reason]?.toLowerCase()
    const why = reason === 'new_report' || reason === 'unspecified' || words === undefined ? '' : ` (${words})`
    return `${formatNumber(records)} ${kind}${why}`
  })
  return parts.length === 0 ? '' : `Reports: ${parts.join(', ')}`
}

/** Of a notice about a value: on which side the count is now. */
export function describeCrossing({ type, data }: Notice): string {
  const [, count = '', amount] = data.when.split(':')
  const now = data.after?.[count]
  if (type !== 'question.crossed' || now == null) return ''
  return `${now >= Number(amount) ? 'Reached' : 'Fell below'} ${formatNumber(Number(amount))}`
}

/** The class of a badge, and its words. */
export const CAUSES: Readonly<Record<string, readonly [badge: string, words: string]>> = {
  new_reports: ['added', 'New reports'],
  correction: ['corrected', 'Correction'],
  reports_and_corrections: ['corrected', 'New reports and corrections'],
  rollback: ['withdrawn', 'Rollback'],
  counted_another_way: ['corrected', 'Counted another way'],
}
