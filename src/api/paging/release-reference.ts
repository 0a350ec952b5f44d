// Parses a reference to a release: its number, a day for the latest release whose `as_of` is not after that day, or
// `latest`. Rejects every other form. Pure.
import { INT4_MAX } from '../../datasets/define.ts'
import { isCalendarDate } from '../../platform/calendar-date.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

/** The syntax only. `parseReference` checks that the date exists and that the number is in range. */
export const REFERENCE_PATTERN = '^(latest|[1-9][0-9]{0,9}|[0-9]{4}-[0-9]{2}-[0-9]{2})$'

/** Always the latest release, even where a token would select another one. */
export const LATEST = 'latest'

/** Whether a valid reference always refers to the same release. A date or `latest` may refer to a later one tomorrow. */
export const isReleaseNumber = (text: string | undefined): boolean =>
  text !== undefined && text !== LATEST && !text.includes('-')

export type ReleaseReference = { readonly number: number } | { readonly date: string }

export function parseReference(parameter: string, text: string): ReleaseReference {
  const reference = text.includes('-') ? parseDate(text) : parseNumber(text)
  if (reference !== null) return reference
  throw new Problem(
    'invalid_parameter',
    `${parameter} must be a release number from 1 to ${INT4_MAX}, a date (YYYY-MM-DD) or ${LATEST}.`,
    { parameter },
  )
}

function parseNumber(text: string): ReleaseReference | null {
  const number = Number(text)
  return number <= INT4_MAX ? { number } : null
}

const parseDate = (date: string): ReleaseReference | null => (isCalendarDate(date) ? { date } : null)

export const findRelease = (
  releases: readonly PublishedRelease[],
  reference: ReleaseReference,
): PublishedRelease | undefined =>
  'number' in reference
    ? releases.find((release) => release.number === reference.number)
    : releases.findLast((release) => release.asOf <= reference.date)

/**
 * Whether a parameter alongside a cursor is consistent with the release of the cursor. A date is consistent if the release
 * is as of that day or an earlier one: another such release may have been published after the first page was read.
 */
export function canReferTo(parameter: string, text: string, release: PublishedRelease): boolean {
  if (text === LATEST) return true
  const reference = parseReference(parameter, text)
  return 'number' in reference ? reference.number === release.number : release.asOf <= reference.date
}

/** For a pair of releases. */
export function requireOrder(from: PublishedRelease, to: PublishedRelease): void {
  if (from.number <= to.number) return
  throw new Problem(
    'invalid_parameter',
    `from (release ${from.number}) is later than to (release ${to.number}). Swap them.`,
    {
      parameter: 'from',
    },
  )
}
