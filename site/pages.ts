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

/** Single decisions are for contributors, who find them in their list; in the search they would hide what readers need. */
export const isSearched = (source: string): boolean => !/^docs\/decisions\/\d/.test(source)

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
          ...['filtering', 'use-in-a-spreadsheet', 'follow-with-a-feed-reader', 'receive-webhooks'],
          'embed-a-picture',
          ...['download-a-query', 'verify-a-download', 'explorer'],
        ),
      },
      {
        label: 'Examples',
        sources: ['python', 'r', 'typescript'].map((name) => `clients/${name}/examples/README.md`),
      },
      {
        label: 'Publish data',
        sources: [...inDocs('mapping', 'roll-back-a-release', 'add-a-dataset'), 'sources/README.md'],
      },
      {
        label: 'Operate',
        sources: inDocs(
          'deploy',
          'operating',
          'upgrade',
          'add-a-node',
          'rotate-a-key',
          'runbooks',
          'failover',
          'release-process',
        ),
      },
    ],
  },
  {
    label: 'Look up',
    groups: [
      { label: 'API', sources: globSync('docs/reference/*.md', { cwd: root }).toSorted() },
      {
        label: 'Interface',
        sources: inDocs('interface', 'data-dictionary', 'describe-the-data', 'errors', 'glossary'),
      },
      {
        label: 'Clients',
        sources: ['python', 'r', 'typescript'].map((name) => `clients/${name}/README.md`),
      },
      { label: 'Program', sources: ['CHANGELOG.md', 'sample/README.md', 'conformance/README.md'] },
    ],
  },
  {
    label: 'Understand',
    groups: [
      {
        label: 'The data',
        sources: inDocs('why', 'releases', 'methods', 'recommended-answers', 'real-input-examples'),
      },
      {
        label: 'The program',
        sources: [
          ...inDocs('architecture', 'explorer-design', 'capacity', 'scale', 'performance', 'mutants'),
          ...['SECURITY.md', ...inDocs('security', 'security-fuzz'), 'CONTRIBUTING.md', 'docs/decisions/README.md'],
        ],
      },
    ],
  },
]
