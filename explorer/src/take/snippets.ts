// Writes the query on the screen as code: curl, Python, R and TypeScript. Each names the release, so its numbers stay. Pure.
// A link can contain any value, so a value becomes a literal and never code.
import type { View } from '../address.ts'
import type { Parameters } from '../requests.ts'

export type Language = View['code']

interface Syntax {
  readonly assign: string
  readonly true: string
  readonly false: string
  readonly list: (items: string) => string
  readonly indent: string
}

const PYTHON: Syntax = { assign: '=', true: 'True', false: 'False', list: (items) => `[${items}]`, indent: '    ' }
const R: Syntax = { assign: ' = ', true: 'TRUE', false: 'FALSE', list: (items) => `c(${items})`, indent: '  ' }
const TYPESCRIPT: Syntax = { assign: ': ', true: 'true', false: 'false', list: (items) => `[${items}]`, indent: '  ' }
/** More characters are a line for each argument. */
const MOST_IN_A_LINE = 50

/** `verb` is the path of the API and the name of the method. */
export function writeSnippets(origin: string, verb: string, parameters: Parameters): Record<Language, string> {
  const query = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value]))
  return {
    curl: `curl -H "Authorization: Bearer $TOKEN" ${shellQuote(`${origin}/v2/hed-outbreaks/${verb}?${query}`)}`,
    python: `from outbreaks import Client\n\n${verb} = Client().${verb}(${writeArguments(parameters, PYTHON)}).to_pandas()\nprint(${verb})`,
    r: `library(outbreakdata)\n\n${verb} <- ob_${verb}(${writeArguments(parameters, R, ['ob_client()'])})\nprint(${verb})`,
    typescript: `import { Outbreaks } from '@outbreak-data/client'\n\nconst ${verb} = await Outbreaks.fromEnv().${verb}({${writeArguments(parameters, TYPESCRIPT, [], ' ')}})\nconsole.log(${verb})`,
  }
}

/** A repeated name becomes a list. `space` is inside of the brackets, if all are in one line. */
function writeArguments(parameters: Parameters, syntax: Syntax, first: readonly string[] = [], space = ''): string {
  const values = Map.groupBy(parameters, ([name]) => name)
  const written = [...values].map(([name, pairs]) => {
    const items = pairs.map(([, value]) => writeLiteral(name, value, syntax)).join(', ')
    return `${name}${syntax.assign}${pairs.length === 1 ? items : syntax.list(items)}`
  })
  const line = [...first, ...written].join(', ')
  if (line.length <= MOST_IN_A_LINE) return `${space}${line}${space}`
  return `\n${[...first, ...written].map((one) => syntax.indent + one).join(',\n')}\n`
}

function writeLiteral(name: string, value: string, syntax: Syntax): string {
  if (name === 'release' && /^[1-9]\d*$/.test(value)) return value
  if ((name === 'composite' || name === 'side_by_side') && (value === 'true' || value === 'false')) return syntax[value]
  return quote(value)
}

/** What JSON escapes, all three languages read. Characters that change the reading direction would make a string look like code. */
const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const shellQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
