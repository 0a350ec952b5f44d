// `search`: events, diseases, pathogens, places and sources by name.

import * as z from 'zod'
import type { SearchAnswer, SearchMatch } from '../../../typescript/src/client.ts'
import type { Draft } from '../envelope.ts'
import { toTable } from '../table.ts'
import { defineTool } from './tool.ts'

const COLUMNS = ['kind', 'parameter', 'value', 'label', 'match', 'records', 'events', 'first_day', 'last_day']

export const search = defineTool({
  name: 'search',
  title: 'Find a name',
  description:
    'Finds the exact names of events, diseases, places and sources; forgives typos, synonyms and other languages. `parameter` and `value` are a filter for the other tools.',
  input: z.object({
    words: z.string().min(1).max(200),
    limit: z.int().min(1).max(50).optional(),
    release: z.union([z.int(), z.string()]).optional(),
  }),
  answer: async ({ words, limit: num = 10, release: asked }, { outbreaks, signal }): Promise<Draft> => {
    const query = { q: words, num, release: asked }
    const { body, release, newestRelease } = await outbreaks.read<SearchAnswer>('search', query, { signal })
    const hits: readonly SearchMatch[] = body.data.length > 0 ? body.data : body.suggestions
    const isSimilar = body.data.length === 0 || hits.some(({ match }) => match === 'similar')
    return {
      outcome: body.data.length > 0 ? 'answer' : hits.length > 0 ? 'choose' : 'none',
      release: release ?? 'latest',
      newestRelease,
      title: `Search for ${words}`,
      resource: 'search',
      query,
      page: null,
      method: 'Names of this release. The numbers count records and events, not cases.',
      warnings: [
        ...(hits.length === 0 ? ['Nothing has this name. That says nothing about cases.'] : []),
        ...(hits.length > 0 && isSimilar ? ['No name has all the words: these are only similar.'] : []),
      ],
      ...(body.data.length === 0 && hits.length > 0
        ? {
            choices: hits.slice(0, 5).map(({ label, parameter, value }) => ({
              words: label,
              call: { tool: 'count', arguments: { [parameter]: value, release } },
            })),
          }
        : {}),
      data: (shown) => ({ ...toTable(hits.slice(0, shown) as never, COLUMNS), total: body.total }),
      rows: hits.length,
      more: (shown) => {
        const left = Math.max(body.total, hits.length) - shown
        if (left <= 0) return null
        return { left, ...(num < 50 ? { call: { tool: 'search', arguments: { words, limit: 50, release } } } : {}) }
      },
    }
  },
})
