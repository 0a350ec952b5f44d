// Writes the citation of a query as text, BibTeX and CSL-JSON. Pure.
export const CITATION_FORMATS = ['json', 'text', 'bibtex', 'csl-json'] as const

export interface Citation {
  /** The canonical query, pinned to one release: it always returns the same bytes. */
  readonly url: string
  /** What was asked, in words; without filters the title of the release. */
  readonly title: string
  /** The title of the dataset. */
  readonly dataset: string
  readonly licence: string
  readonly release: number
  readonly publishedAt: Date
  /** The day up to which the data is known. */
  readonly asOf: string
  /** SHA-256 of the release, in hexadecimal digits. */
  readonly digest: string
  readonly sources: readonly { readonly value: string; readonly records: number }[]
  /** The number of other sources. */
  readonly moreSources: number
}

const dayOf = ({ publishedAt }: Pick<Citation, 'publishedAt'>) => publishedAt.toISOString().slice(0, 10)

export const citeAsText = (citation: Citation): string => `${citeRelease(citation)} ${formatSources(citation)}`

/** Without the sources. */
export function citeRelease(citation: Omit<Citation, 'sources' | 'moreSources'>): string {
  const { title, dataset, release, asOf, licence, url, digest } = citation
  return `${title}. ${dataset}, release ${release}, data as of ${asOf}, published ${dayOf(citation)}. ${licence}. ${url} (SHA-256 of the release: ${digest}).`
}

function formatSources({ sources, moreSources }: Citation): string {
  if (sources.length === 0) return 'No records.'
  const list = sources.map(({ value, records }) => `${value} (${records})`).join('; ')
  return `Sources, with their numbers of records: ${list}${moreSources === 0 ? '' : `; and ${moreSources} more`}.`
}

export function citeAsBibtex(citation: Citation): string {
  const lines = {
    title: `{${escapeTex(citation.title)}}`,
    howpublished: `\\url{${citation.url}}`,
    version: String(citation.release),
    year: dayOf(citation).slice(0, 4),
    month: String(Number(dayOf(citation).slice(5, 7))),
    day: String(Number(dayOf(citation).slice(8, 10))),
    url: citation.url,
    copyright: escapeTex(citation.licence),
    note: escapeTex(
      `${citation.dataset}, release ${citation.release}, data as of ${citation.asOf}, SHA-256 ${citation.digest}. ${formatSources(citation)}`,
    ),
  }
  const body = Object.entries(lines).map(([name, value]) => `  ${name} = {${value}},\n`)
  return `@misc{outbreaks_${citation.release}_${citation.digest.slice(0, 8)},\n${body.join('')}}\n`
}

const TEX: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
}
/** Escapes the special characters of TeX. */
const escapeTex = (text: string) => text.replace(/[\\{}$&#%_~^]/g, (sign) => TEX[sign] ?? `\\${sign}`)

export const citeAsCsl = (citation: Citation) => ({
  id: `outbreaks-${citation.release}-${citation.digest.slice(0, 8)}`,
  type: 'dataset',
  title: citation.title,
  'container-title': citation.dataset,
  version: String(citation.release),
  issued: { 'date-parts': [dayOf(citation).split('-').map(Number)] },
  license: citation.licence,
  URL: citation.url,
  note: `Data as of ${citation.asOf}. SHA-256 of the release: ${citation.digest}. ${formatSources(citation)}`,
})
