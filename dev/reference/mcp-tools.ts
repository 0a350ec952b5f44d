// The page of the tools for assistants, from their declarations: arguments, answers, resources and prompts are what clients/mcp declares.
import { envelope } from '../../clients/mcp/src/envelope.ts'
import { shortSchema } from '../../clients/mcp/src/short-schema.ts'
import { TOOLS } from '../../clients/mcp/src/tools/all.ts'
import { MCP_BODY_LIMIT } from '../../src/mcp/route.ts'
import { GENERATED } from './operations.ts'

interface Described {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly items?: Described
  readonly description?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly required?: readonly string[]
}

const MEMBERS: Readonly<Record<keyof typeof envelope.shape, string>> = {
  outcome: '`answer`; `choose` if there is no single right number; `none` if nothing is known, which is not 0 cases',
  release: 'the release that was read',
  published_at: 'when it was published, UTC',
  newest_release: 'the latest release',
  question: 'the URL of the answer, pinned to the release: it always gives the same bytes',
  explorer: 'the page that shows it; null if there is none',
  citation: 'what to quote: the question in words, the release, its day, the licence and the URL',
  method: 'how it was counted',
  warnings: 'what to say with the number',
  choices: 'with `choose`: at most five ways to go on, each with a call that works as it stands',
  data: 'the answer; `columns` and `rows` are a table',
  more: 'what is not shown, with the call for it; null if nothing is left',
}

const describeType = ({ type, enum: values, items }: Described): string => {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ')
  if (type === 'array' && items !== undefined) return `list of ${describeType(items)}`
  return [type ?? 'any'].flat().join(' or ').replace('array', 'list')
}

const describe = (schema: Parameters<typeof shortSchema>[0]) =>
  shortSchema(schema)['~standard'].jsonSchema.input() as Described

function renderTool({ name, title, description, input }: (typeof TOOLS)[number]): string[] {
  const { properties = {}, required = [] } = describe(input)
  const rows = Object.entries(properties).map(
    ([argument, schema]) =>
      `| \`${argument}\`${required.includes(argument) ? ', required' : ''} | ${describeType(schema)} | ${schema.description ?? ''} |`,
  )
  return [
    `## ${name}`,
    '',
    `${title}. ${description}`,
    '',
    '| argument | values | meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ]
}

export const renderMcpTools = (): string =>
  [
    ...['# Tools for assistants', '', GENERATED, ''],
    '`POST /mcp` of a service, and the program `@outbreak-data/mcp`, have these tools of the Model Context Protocol.',
    '[Use with an assistant](../use-with-an-assistant.md) connects a host.',
    'Every tool but `search` takes every [filter](../filtering.md#choose-records) by its name, even those that are not listed.',
    `A message has at most ${MCP_BODY_LIMIT / 1024} KiB, an answer at most 8 kB.`,
    ...['', ...TOOLS.flatMap(renderTool)],
    ...['## Answers', '', '| member | meaning |', '|---|---|'],
    ...Object.entries(MEMBERS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`),
    ...['', 'A call that is wrong gives `isError` and a sentence that says what to correct. It has no number.', ''],
    ...['## Resources and prompts', '', '| name | content |', '|---|---|'],
    '| `outbreaks://dictionary` | the fields of a record |',
    '| `outbreaks://methods` | what may be added up |',
    '| `outbreaks://release` | the latest release |',
    '| `situation_summary` | a prompt: summarise an outbreak |',
    '| `check_claim` | a prompt: check a claim |',
    '',
  ].join('\n')
