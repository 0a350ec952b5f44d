// The filters of a query for figures: those that were sent, those of the words in `q`, and a territory under its other code.
import { Type } from 'typebox'
import type { FigureQuery } from '../figures/figure-request.ts'
import { requireWords } from '../search/require-words.ts'
import { type Understood, understandQuestion } from '../search/understand-question.ts'
import type { ResourceOptions } from './resource-options.ts'

export interface UnderstoodQuery<Query> {
  readonly query: Query
  /** What was understood, for the response; null if nothing had to be. */
  readonly understood: { readonly q: string | null; readonly filters: Record<string, readonly string[]> } | null
  readonly warnings: readonly string[]
}

export async function understandQuery<Query extends FigureQuery & { readonly release?: string }>(
  { dataset, loadIndex, releases }: Pick<ResourceOptions, 'dataset' | 'loadIndex' | 'releases'>,
  sent: Query,
): Promise<UnderstoodQuery<Query>> {
  const alsoKnownAs = dataset.search?.alsoKnownAs ?? (() => null)
  const codes = (sent['country_code'] as readonly string[] | undefined) ?? []
  const isTerritory = codes.some((code) => alsoKnownAs('country_code', code) !== null)
  if (sent.q === undefined && !isTerritory) return { query: sent, understood: null, warnings: [] }
  const index = await loadIndex(await releases.resolveParameter('release', sent.release))
  const { filters, guesses }: Understood =
    sent.q === undefined
      ? { filters: new Map(), guesses: [] }
      : await understandQuestion(dataset, index, requireWords(sent.q))
  const query: Record<string, unknown> = { ...sent }
  const added: Record<string, readonly string[]> = {}
  // What was sent as a filter is more than what was read in words.
  for (const [name, values] of filters) {
    if (sent[name] !== undefined) continue
    added[name] = values
    query[name] = name.startsWith('date_') ? values[0] : values
  }
  const [code, second] = codes
  const other =
    code === undefined || second !== undefined || index.has('country_code', code)
      ? null
      : alsoKnownAs('country_code', code)
  if (other !== null && index.has(...other) && sent[other[0]] === undefined) {
    delete query['country_code']
    query[other[0]] = [other[1]]
    added[other[0]] = [other[1]]
  }
  const isUnderstood = Object.keys(added).length > 0
  return {
    query: query as Query,
    understood: isUnderstood ? { q: sent.q ?? null, filters: added } : null,
    warnings: guesses,
  }
}

export const understoodSchema = Type.Union(
  [
    Type.Object({
      q: Type.Union([Type.String(), Type.Null()]),
      filters: Type.Object(
        {},
        { additionalProperties: Type.Array(Type.String()), description: 'The filters by parameter.' },
      ),
    }),
    Type.Null(),
  ],
  {
    description:
      'The filters that were read in the words of `q`, or in a code that the records do not have; otherwise null.',
  },
)

export const warningsSchema = Type.Array(Type.String(), {
  description:
    'What you may not have meant: values that match no records, and words that were guessed. `Outbreaks-Warning` has them too.',
})
