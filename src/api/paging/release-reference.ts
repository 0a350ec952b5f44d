// How a request names a release: by its number, by a day (UTC) and then the newest that was out when the day ended, or
// as the latest. Pure. Reads strictly: anything else is refused, never guessed.
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

/** The form alone; whether the day exists and the number fits is decided when it is read. */
export const REFERENCE_PATTERN = '^(latest|[1-9][0-9]{0,9}|[0-9]{4}-[0-9]{2}-[0-9]{2})$'

/** The newest release, whatever else would decide which one is read. */
export const LATEST = 'latest'

export type ReleaseReference = { readonly number: number } | { readonly date: string; readonly dayEnds: number }

const LARGEST = 2_147_483_647
const DAY_MS = 86_400_000

export function readReference(parameter: string, text: string): ReleaseReference {
  const reference = text.includes('-') ? readDate(text) : readNumber(text)
  if (reference !== null) return reference
  throw new Problem(
    'invalid_parameter',
    `${parameter} must be the number of a release, from 1 to ${LARGEST} in plain digits, a calendar date as YYYY-MM-DD, or ${LATEST}.`,
    { parameter },
  )
}

function readNumber(text: string): ReleaseReference | null {
  const number = Number(text)
  return number <= LARGEST ? { number } : null
}

/** Date takes 30 February for a day in March: only a date that comes back as it was written is one. */
function readDate(date: string): ReleaseReference | null {
  const begins = new Date(`${date}T00:00:00.000Z`)
  const real = !Number.isNaN(begins.getTime()) && begins.toISOString().startsWith(date)
  return real ? { date, dayEnds: begins.getTime() + DAY_MS } : null
}

export const findRelease = (
  releases: readonly PublishedRelease[],
  reference: ReleaseReference,
): PublishedRelease | undefined =>
  'number' in reference
    ? releases.find((release) => release.number === reference.number)
    : releases.findLast((release) => release.publishedAt.getTime() < reference.dayEnds)

/**
 * Whether a parameter that is sent along with a cursor may mean the release of the cursor. Of a date a later page knows
 * only this much: the release had been published by its end. Others may have been published since.
 */
export function canReferTo(parameter: string, text: string, release: PublishedRelease): boolean {
  if (text === LATEST) return true
  const reference = readReference(parameter, text)
  return 'number' in reference ? reference.number === release.number : release.publishedAt.getTime() < reference.dayEnds
}
