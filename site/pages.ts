// Which Markdown files of the repository are pages of the site, their addresses, and where they stand in the navigation.
import { globSync } from 'node:fs'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '..')

/** The address of the site in the service. */
export const BASE = '/docs'
export const REPOSITORY = 'https://github.com/outbreak-data-service/outbreak-data-service/blob/main'

/** Pages that are not in docs/. */
const ELSEWHERE = [
  ...['python', 'r', 'typescript'].flatMap((name) => [
    `clients/${name}/README.md`,
    `clients/${name}/examples/README.md`,
  ]),
  ...['sample/README.md', 'sources/README.md', 'conformance/README.md'],
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
]

/** The paths of all pages from the root of the repository. */
export const listSources = (): string[] => [...globSync('docs/**/*.md', { cwd: root }).toSorted(), ...ELSEWHERE]

/** `docs/decisions/README.md` is `decisions`, `docs/README.md` is the start page, ''. */
export const slugOf = (source: string): string =>
  source
    // Beside docs/security.md.
    .replace(/^SECURITY\.md$/, 'guarantees.md')
    .replace(/^docs\//, '')
    .replace(/(?:^|\/)README\.md$/, '')
    .replace(/\.md$/, '')
    .toLowerCase()

export const addressOf = (source: string): string => {
  const slug = slugOf(source)
  return slug === '' ? `${BASE}/` : `${BASE}/${slug}/`
}

/** Where the title of a page says too little in the navigation. */
export const labelOf = (source: string): string | undefined => {
  const [, client] = /^clients\/(\w+)\//.exec(source) ?? []
  return { python: 'Python', r: 'R', typescript: 'TypeScript' }[client ?? '']
}

/** For contributors, who find them from CONTRIBUTING.md; in the navigation and the search they would hide what readers need. */
const FOR_CONTRIBUTORS = [
  ...['add-a-dataset', 'benchmarks', 'explorer-design', 'mutants', 'real-input-examples', 'recommended-answers'],
  ...['release-process', 'security-fuzz', 'security-requirements'],
].map((name) => `docs/${name}.md`)
export const isForContributors = (source: string): boolean =>
  /^docs\/decisions\/\d/.test(source) || [...FOR_CONTRIBUTORS, 'conformance/README.md'].includes(source)

interface Section {
  readonly label: string
  readonly groups: readonly { readonly label: string; readonly sources: readonly string[] }[]
}

const inDocs = (...names: string[]) => names.map((name) => `docs/${name}.md`)

/** By what the reader wants (diataxis.fr): learn, do, look up, understand. */
export const SECTIONS: readonly Section[] = [
  {
    label: 'Learn',
    groups: [
      {
        label: 'Tutorials',
        sources: inDocs(
          ...['learn/first-answer', 'learn/curve-in-python', 'learn/curve-in-r'],
          ...['learn/reproducible-figure', 'learn/publish-a-table'],
        ),
      },
    ],
  },
  {
    label: 'Do',
    groups: [
      {
        label: 'Read data',
        sources: inDocs(
          ...['search', 'filtering', 'choose-a-release', 'explore-the-data', 'count-and-sum', 'compare-releases'],
          ...['cite-a-query', 'use-in-a-spreadsheet', 'use-with-an-assistant', 'follow-with-a-feed-reader'],
          ...['watch-a-question', 'receive-webhooks'],
          ...['embed-a-picture'],
          ...['download-a-query', 'verify-a-download', 'explorer'],
        ),
      },
      {
        label: 'By program',
        sources: inDocs(
          ...['programs/excel', 'programs/google-sheets', 'programs/libreoffice', 'programs/power-bi'],
          ...['programs/tableau', 'programs/duckdb', 'programs/r-and-pandas'],
        ),
      },
      {
        label: 'Examples',
        sources: ['python', 'r', 'typescript'].map((name) => `clients/${name}/examples/README.md`),
      },
      {
        label: 'Publish data',
        sources: [
          ...inDocs('operating/publish', 'operating/publish-changes', 'operating/rejected-rows', 'mapping'),
          ...inDocs('roll-back-a-release', 'operating/prune', 'operating/files'),
          'sources/README.md',
        ],
      },
      {
        label: 'Operate',
        sources: inDocs(
          ...['demo', 'deploy', 'operating/README', 'operating/install', 'operating/database', 'operating/configure'],
          ...['operating/migrate', 'operating/connection-pooler', 'operating/column-index'],
          ...['operating/population-table', 'operating/cores', 'operating/proxy'],
          ...['operating/notifier', 'upgrade', 'add-a-node'],
        ),
      },
      {
        label: 'Give access',
        sources: inDocs(
          ...['operating/clients', 'operating/client-keys', 'operating/explorer-sign-in', 'operating/openid-connect'],
          ...['operating/change-the-secret', 'rotate-a-key'],
        ),
      },
      {
        label: 'Watch and repair',
        sources: inDocs(
          ...['operating/health', 'operating/monitor', 'operating/doctor', 'operating/audit', 'operating/backup'],
          'operating/replicas',
        ),
      },
    ],
  },
  {
    label: 'Look up',
    groups: [
      { label: 'API', sources: globSync('docs/reference/*.md', { cwd: root }).toSorted() },
      {
        label: 'Data and errors',
        sources: inDocs(
          ...['interface', 'methods', 'data-dictionary', 'errors', 'glossary', 'explorer-marks'],
          ...['mapping-reference', 'validation-rules', 'describe-the-data'],
        ),
      },
      {
        label: 'Clients',
        sources: ['python', 'r', 'typescript'].map((name) => `clients/${name}/README.md`),
      },
      {
        label: 'Operation',
        sources: ['docs/runbooks.md', 'SECURITY.md', 'docs/security.md', 'CHANGELOG.md', 'sample/README.md'],
      },
    ],
  },
  {
    label: 'Understand',
    groups: [
      {
        label: 'The data',
        sources: inDocs('why', 'releases'),
      },
      {
        label: 'The service',
        sources: inDocs('fair-use', 'performance', 'capacity', 'scale', 'failover'),
      },
      {
        label: 'The code',
        sources: ['CONTRIBUTING.md', ...inDocs('architecture', 'writing', 'decisions/README')],
      },
    ],
  },
]
