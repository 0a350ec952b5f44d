// Rejects a search without words.
import { Problem } from '../../platform/problem.ts'
import { splitQuery } from './words.ts'

export const MAX_WORDS = 10

/** Rejects a query that is missing, has no letter or digit, or has too many words. */
export function requireWords(q: string | undefined): string {
  const words = splitQuery(q ?? '')
  if (q !== undefined && words.length > 0 && words.length <= MAX_WORDS) return q
  throw new Problem(
    'invalid_parameter',
    `q must have 1 to ${MAX_WORDS} different words that contain letters or digits.`,
    {
      parameter: 'q',
    },
  )
}
