// An entry of a feed in words: what a release changed, and the figures before and after. A number that is not known is never 0. Pure.
import { type Dataset, labelOf } from '../../datasets/define.ts'
import { escapeHtml } from '../../platform/escape-html.ts'
import type { Reason } from '../../storage/change-reasons.ts'
import type { ChangeCount } from '../queries/changes.ts'
import type { Threshold } from './feed-question.ts'
import type { EntryFacts, Figures } from './read-entries.ts'

const REASONS: Readonly<Record<Reason, string>> = {
  new_report: 'new report',
  late_report: 'late report',
  source_revised: 'revised by the source',
  reclassified: 'reclassified',
  entry_error: 'entry error',
  duplicate: 'duplicate',
  retracted_by_source: 'retracted by the source',
  identity_changed: 'identity changed',
  method_changed: 'method changed',
  release_withdrawn: 'release withdrawn',
  unspecified: '',
}
const KINDS = ['added', 'corrected', 'withdrawn'] as const
/** More ways of counting are only counted. */
const MAX_WAYS = 3

const formatNumber = (value: number) => value.toLocaleString('en')
const formatDifference = (difference: number) =>
  `${difference < 0 ? '−' : difference > 0 ? '+' : '±'}${formatNumber(Math.abs(difference))}`

/** Below the threshold, at it or above, or not known. */
export const stateOf = (figures: Figures | null, { count, value }: Threshold) => {
  const known = figures?.values?.[count] ?? null
  if (known === null) return 'unknown'
  return known >= value ? 'reached' : 'below'
}

/** True if the figure is on another side of the threshold than before, or became known or unknown. */
export const isCrossed = ({ before, after }: EntryFacts, threshold: Threshold): boolean =>
  stateOf(before, threshold) !== stateOf(after, threshold)

/** True if something that both releases counted was counted in another way: then the figures must not be compared. */
export function isCountedOtherwise({ before, after }: EntryFacts): boolean {
  const earlier = Map.groupBy(before?.ways ?? [], ({ subject }) => subject)
  const later = Map.groupBy(after.ways, ({ subject }) => subject)
  return [...later].some(([subject, ways]) => {
    const known = earlier.get(subject)
    return known !== undefined && !ways.some(({ how }) => known.some((other) => other.how === how))
  })
}

export function titleEntry(dataset: Dataset, facts: EntryFacts, threshold: Threshold | null): string {
  const { release, before, after } = facts
  const counts = Object.keys(after.values ?? before?.values ?? {})
  const [first] = counts
  const valueOf = (figures: Figures | null, count: string) => figures?.values?.[count] ?? null
  const other = counts.slice(1).find((count) => valueOf(before, count) !== valueOf(after, count))
  const isFirstMoved = first === undefined || valueOf(before, first) !== valueOf(after, first)
  const shown = [first, isFirstMoved ? undefined : other].filter((count) => count !== undefined)
  const name = `Release ${release.number}${release.restores === null ? '' : ` (restores release ${release.restores})`}`
  const parts = [
    ...(threshold === null ? [] : [describeCrossing(dataset, facts, threshold)]),
    ...(shown.length === 0 ? [describeValues('', facts, null)] : shown.map((count) => moveOf(dataset, facts, count))),
    ...describeChanges(facts.changes),
  ]
  return `${name}: ${parts.join(', ')}`
}

const nameCount = (dataset: Dataset, count: string) => labelOf(dataset, count).toLowerCase()

const moveOf = (dataset: Dataset, facts: EntryFacts, count: string) =>
  `${nameCount(dataset, count)} ${describeValues(count, facts, isCountedOtherwise(facts) ? 'counted another way' : null)}`

/** Such as "1,204 → 1,187 (−17)". */
function describeValues(count: string, { before, after, previous }: EntryFacts, doubt: string | null): string {
  const now = formatValue(after, count)
  if (previous === null || before === null) return now
  const was = formatValue(before, count)
  const difference = subtract(before, after, count)
  if (was === now) return difference === null ? now : `${now} (unchanged)`
  const detail = doubt ?? (difference === null ? null : formatDifference(difference))
  return `${was} → ${now}${detail === null ? '' : ` (${detail})`}`
}

const formatValue = ({ values }: Figures, count: string) => {
  if (values === null) return 'no single number'
  const value = values[count] ?? null
  return value === null ? 'not known' : formatNumber(value)
}

function subtract(before: Figures | null, after: Figures, count: string): number | null {
  const was = before?.values?.[count] ?? null
  const now = after.values?.[count] ?? null
  return was === null || now === null ? null : now - was
}

/** Such as "9 corrected: revised by the source". */
const describeChanges = (changes: readonly ChangeCount[]): string[] =>
  KINDS.flatMap((kind) => {
    const own = changes.filter((change) => change.kind === kind)
    if (own.length === 0) return []
    const records = own.reduce((sum, change) => sum + change.records, 0)
    const reasons = own.map(({ reason }) => REASONS[reason]).filter((words) => words !== '')
    return `${formatNumber(records)} ${kind}${reasons.length === 0 ? '' : `: ${reasons.join(' or ')}`}`
  })

function describeCrossing(dataset: Dataset, facts: EntryFacts, threshold: Threshold): string {
  const { before, after } = facts
  const name = nameCount(dataset, threshold.count)
  const value = formatNumber(threshold.value)
  const [was, now] = [stateOf(before, threshold), stateOf(after, threshold)]
  if (now === 'unknown') return `${name} can no longer be compared with ${value}`
  if (was === 'unknown') return `${name} became known, ${now === 'below' ? 'below' : 'at or above'} ${value}`
  return `${name} ${now === 'below' ? 'fell below' : 'reached'} ${value} ${CAUSES[findCause(facts)]}`
}

const CAUSES = {
  counted_another_way: 'because it is counted another way',
  rollback: 'by a rollback',
  reports_and_corrections: 'by new reports and corrections',
  new_reports: 'by new reports',
  correction: 'by a correction',
}
export type Cause = keyof typeof CAUSES

/** What moved a figure. New reports and corrections of one release cannot be told apart: both are named. */
export function findCause(facts: EntryFacts): Cause {
  if (isCountedOtherwise(facts)) return 'counted_another_way'
  if (facts.release.restores !== null) return 'rollback'
  const isAdded = facts.changes.some(({ kind }) => kind === 'added')
  const isCorrected = facts.changes.some(({ kind }) => kind !== 'added')
  if (isAdded && isCorrected) return 'reports_and_corrections'
  return isAdded ? 'new_reports' : 'correction'
}

interface EntryTexts {
  /** The query in words. */
  readonly title: string
  readonly citation: string
  readonly links: readonly { readonly words: string; readonly href: string }[]
}

/** The content of an entry as HTML. Everything that comes from records and publishers is escaped. */
export function describeEntry(dataset: Dataset, facts: EntryFacts, { title, citation, links }: EntryTexts): string {
  const { release, previous, before, after, changes } = facts
  const paragraph = (text: string) => `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`
  const rollback =
    release.restores === null ? '' : ` It restores release ${release.restores}: what came between is withdrawn.`
  const ways = [before === null ? [] : wordsOf(before), wordsOf(after)].map((words) => words.join('; '))
  const [was = '', now = ''] = ways
  const doubt = isCountedOtherwise(facts)
    ? [`The numbers were counted another way, so their difference means nothing. Before: ${was}. Now: ${now}.`]
    : now === ''
      ? []
      : [`Counted: ${now}.`]
  const refusals = [
    before?.refusal ? `Release ${previous?.number}, no single number: ${before.refusal}` : '',
    after.refusal ? `Release ${release.number}, no single number: ${after.refusal}` : '',
  ].filter((text) => text !== '')
  const reasons = describeChanges(changes)
  return [
    paragraph(`${title}. Release ${release.number} of ${dataset.title}, data as of ${release.asOf}.${rollback}`),
    writeTable(dataset, facts),
    ...refusals.map(paragraph),
    ...doubt.map(paragraph),
    reasons.length === 0
      ? paragraph(
          'No record of the query changed, but reports of other days did, or how the publisher wants it counted.',
        )
      : `<ul>${changes.map((change) => `<li>${escapeHtml(describeChanges([change]).join())}</li>`).join('')}</ul>`,
    ...(release.note === null ? [] : [paragraph(`Note by the publisher: ${release.note}`)]),
    paragraph(citation),
    `<p>${links.map(({ words, href }) => `<a href="${escapeHtml(href)}">${escapeHtml(words)}</a>`).join(' · ')}</p>`,
  ].join('\n')
}

function wordsOf({ ways }: Figures): string[] {
  const words = [...new Set(ways.map((way) => way.words))].filter((text) => text !== '')
  return words.length > MAX_WAYS ? [...words.slice(0, MAX_WAYS), `and ${words.length - MAX_WAYS} more`] : words
}

/** The counts that one of the releases has, with those of records without a day. */
function writeTable(dataset: Dataset, facts: EntryFacts): string {
  const { release, previous, before, after } = facts
  const rows = [
    ...listRows(dataset, before, after, ''),
    ...listRows(dataset, toUndated(before), toUndated(after), ', records without a day'),
  ]
  if (rows.length === 0) return ''
  const head = ['', `release ${previous?.number}`, `release ${release.number}`, 'difference']
  const columns = previous === null ? [0, 2] : isCountedOtherwise(facts) ? [0, 1, 2] : [0, 1, 2, 3]
  const writeRow = (cells: readonly string[], tag: string) =>
    `<tr>${columns.map((i) => `<${tag}>${escapeHtml(cells[i] ?? '')}</${tag}>`).join('')}</tr>`
  return `<table>${writeRow(head, 'th')}${rows.map((row) => writeRow(row, 'td')).join('')}</table>`
}

const toUndated = (figures: Figures | null): Figures | null => figures && { ...figures, values: figures.undated ?? {} }

function listRows(dataset: Dataset, before: Figures | null, after: Figures | null, suffix: string): string[][] {
  const isKnown = (count: string) => [before, after].some((figures) => (figures?.values?.[count] ?? null) !== null)
  return Object.keys({ ...before?.values, ...after?.values })
    .filter(isKnown)
    .map((count) => {
      const difference = after === null ? null : subtract(before, after, count)
      return [
        nameCount(dataset, count) + suffix,
        before === null ? '' : formatValue(before, count),
        after === null ? '' : formatValue(after, count),
        difference === null ? '' : formatDifference(difference),
      ]
    })
}
