// `cite`: the citation of the records behind a question, with their sources.

import * as z from 'zod'
import type { Citation } from '../../../typescript/src/client.ts'
import type { Draft } from '../envelope.ts'
import { mainFilters, toArguments, toQuery, withFilters } from '../query.ts'
import { toTable } from '../table.ts'
import { defineTool } from './tool.ts'

const MAX_SOURCES = 30
/** A long citation is cut: `question` has it in full. */
const MAX_LENGTH = 2000

export const cite = defineTool({
  name: 'cite',
  title: 'Cite records',
  description: 'A citation of the matching records with their sources and licence, as text and on request as BibTeX.',
  input: withFilters({ ...mainFilters, bibtex: z.boolean().optional() }),
  answer: async (given, access): Promise<Draft> => {
    const { body, release, newestRelease, warning } = await access.outbreaks.read<Citation>(
      'citation',
      toQuery(given, ['bibtex']),
      access,
    )
    const query = toArguments(new URL(body.url).search)
    const { sources, more_sources: more } = body
    return {
      outcome: sources.length === 0 ? 'none' : 'answer',
      release: release ?? body.release,
      newestRelease,
      title: body.title,
      resource: 'citation',
      query,
      page: { path: '/records', query },
      method:
        'The citation names every record that matches, of all ways of counting, and the number of records of each source.',
      warnings: [...(warning === null ? [] : [warning]), ...(sources.length === 0 ? ['No record matches.'] : [])],
      data: (shown) => ({
        records_url: body.url,
        licence: body.licence,
        digest: body.digest,
        as_of: body.as_of,
        ...(given.bibtex ? { bibtex: body.bibtex.slice(0, MAX_LENGTH) } : {}),
        sources: toTable(sources.slice(0, shown), ['source_name', 'records']),
      }),
      rows: Math.min(sources.length, MAX_SOURCES),
      more: (shown) => (sources.length + more > shown ? { left: sources.length + more - shown } : null),
    }
  },
})
