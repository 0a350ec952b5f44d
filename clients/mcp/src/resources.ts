// What a person can add to a conversation: the fields, the rules of counting, the latest release.
import type { McpServer } from '@modelcontextprotocol/server'
import type { Release } from '../../typescript/src/client.ts'
import type { Access } from './access.ts'
import { cleanText } from './untrusted-text.ts'

interface Field {
  readonly title?: string
  readonly description?: string
}

const METHODS = `# How outbreaks are counted

- A record is one report: event, place, period, population, status and source, with its counts. Several records often count the same people.
- Counts of different statuses (confirmed, suspected, total), geographic levels, sources and kinds (new, cumulative) are never added up.
- Where an event was counted in several ways, the rule for recommended answers chooses one for each event. It is in \`chosen\`, the others with their numbers and reasons are in \`left_out\`.
- Where nothing is clearly the best, the answer is a choice. Every way is named with its number; no number is right alone.
- null is unknown, never 0. A period without records says nothing about cases.
- New counts of a cumulative series are differences. A count over days that lie in no single period is a span, never the count of one period.
- A release never changes. A number with its release and its address can be read again, byte for byte. Corrections are in what_changed.
`

export function registerResources(server: McpServer, access: Access): void {
  const { outbreaks, baseUrl, dataset, signal } = access
  const register = (name: string, title: string, description: string, mimeType: string, read: () => Promise<string>) =>
    server.registerResource(name, `outbreaks://${name}`, { title, description, mimeType }, async (uri) => ({
      contents: [{ uri: uri.href, mimeType, text: await read() }],
    }))
  register(
    'dictionary',
    'Data dictionary',
    'The fields of a record, which are the filters of the tools.',
    'text/markdown',
    async () => {
      const { body } = await outbreaks.read<{ properties: Record<string, Field> }>('schema', {}, { signal })
      const lines = Object.entries(body.properties).map(
        ([name, field]) => `- ${name}: ${cleanText(field.description ?? field.title ?? '')}`,
      )
      return `# Fields of ${dataset}\n\n${lines.join('\n')}\n`
    },
  )
  register(
    'methods',
    'How outbreaks are counted',
    'What can be added together, and what the results mean.',
    'text/markdown',
    async () => METHODS,
  )
  register(
    'release',
    'The latest release',
    'Its number, day, licence, digest and what it changed.',
    'application/json',
    async () => {
      const { body } = await outbreaks.read<Release>('releases/latest', {}, { signal })
      const { files: _files, warnings: _warnings, preferred: _preferred, note, title, ...facts } = body
      return JSON.stringify({
        ...facts,
        title: cleanText(title),
        note: note && cleanText(note),
        url: `${baseUrl}/v2/${dataset}/releases/${body.number}`,
      })
    },
  )
}
