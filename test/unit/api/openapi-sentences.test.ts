// The sentences of the OpenAPI document are whole: a text that was replaced halfway stayed in it for weeks.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const FAULTS: [name: string, pattern: RegExp][] = [
  ['two full stops', /(?<!\.)\.\.(?!\.)/],
  ['a capital in the middle of a sentence', /[,;] (?:and |or )?(?:There|The|This|It|An?) /],
  ['a word twice', /\b([a-z]+) \1\b/],
]

const findFaults = (text: string) => [
  ...FAULTS.filter(([, pattern]) => pattern.test(text)).map(([name]) => name),
  ...(text.split('`').length % 2 === 0 ? ['a backtick alone'] : []),
]

/** Every description and summary, wherever it is. */
const listTexts = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) =>
        typeof member === 'string' && ['description', 'summary'].includes(name) ? [member] : listTexts(member),
      )
    : []

test('every sentence of the OpenAPI document is whole', () => {
  const file = path.resolve(import.meta.dirname, '../../../docs/openapi.json')
  const texts = listTexts(JSON.parse(readFileSync(file, 'utf8')))
  assert.ok(texts.length > 500)
  assert.deepEqual(
    texts.flatMap((text) => findFaults(text).map((fault) => `${fault}: ${text}`)),
    [],
  )
})

for (const [fault, text] of [
  ['two full stops', 'Run outbreakctl..'],
  ['a capital in the middle of a sentence', 'The service is unavailable, or There is no release.'],
  ['a word twice', 'Read the the service.'],
  ['a backtick alone', '`Always `private`.'],
] as const)
  test(`${fault} is noticed`, () => assert.deepEqual(findFaults(text), [fault]))
