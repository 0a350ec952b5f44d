// How a question is cited: its address for ever, in the forms that people and their reference managers read. Pure.
export const CITATION_FORMATS = ['json', 'text', 'bibtex', 'csl-json'] as const

export interface Cited {
  /** Answers the same bytes for ever: the filters in their one spelling, and the release. */
  readonly url: string
  /** What the release, and what the dataset is called. */
  readonly title: string
  readonly dataset: string
  readonly licence: string
  readonly release: number
  readonly publishedAt: Date
  /** Of the release, in hexadecimal digits. */
  readonly digest: string
  readonly sources: readonly { readonly value: string; readonly records: number }[]
  /** Sources beyond those. */
  readonly moreSources: number
}

const dayOf = ({ publishedAt }: Cited) => publishedAt.toISOString().slice(0, 10)

export function citeAsText(cited: Cited): string {
  const { title, dataset, release, licence, url, digest } = cited
  return `${title}. ${dataset}, release ${release}, published ${dayOf(cited)}. ${licence}. ${url} (SHA-256 of the release: ${digest}). ${attribute(cited)}`
}

function attribute({ sources, moreSources }: Cited): string {
  if (sources.length === 0) return 'No records.'
  const told = sources.map(({ value, records }) => `${value} (${records})`).join('; ')
  return `Sources, with their numbers of records: ${told}${moreSources === 0 ? '' : `; and ${moreSources} more`}.`
}

export function citeAsBibtex(cited: Cited): string {
  const lines = {
    title: `{${escapeTex(cited.title)}}`,
    howpublished: `\\url{${cited.url}}`,
    version: String(cited.release),
    year: dayOf(cited).slice(0, 4),
    month: String(Number(dayOf(cited).slice(5, 7))),
    day: String(Number(dayOf(cited).slice(8, 10))),
    url: cited.url,
    copyright: escapeTex(cited.licence),
    note: escapeTex(`${cited.dataset}, release ${cited.release}, SHA-256 ${cited.digest}. ${attribute(cited)}`),
  }
  const body = Object.entries(lines).map(([name, value]) => `  ${name} = {${value}},\n`)
  return `@misc{outbreaks_${cited.release}_${cited.digest.slice(0, 8)},\n${body.join('')}}\n`
}

const TEX: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
}
/** What TeX would take for more than a character. */
const escapeTex = (text: string) => text.replace(/[\\{}$&#%_~^]/g, (sign) => TEX[sign] ?? `\\${sign}`)

export const citeAsCsl = (cited: Cited) => ({
  id: `outbreaks-${cited.release}-${cited.digest.slice(0, 8)}`,
  type: 'dataset',
  title: cited.title,
  'container-title': cited.dataset,
  version: String(cited.release),
  issued: { 'date-parts': [dayOf(cited).split('-').map(Number)] },
  license: cited.licence,
  URL: cited.url,
  note: `SHA-256 of the release: ${cited.digest}. ${attribute(cited)}`,
})
