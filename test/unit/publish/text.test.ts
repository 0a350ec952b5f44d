// Text is normalised with a warning that names the column, has a maximum length, and is never changed without a warning.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldSchema } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { fullRow, writeCsv, writeText } from '../../fixtures/releases.ts'
import { validateOneRow } from './validate-one-row.ts'

const changed: [title: string, cell: string, text: string | null, message: RegExp][] = [
  ['white space at both ends', ' Lagos ', 'Lagos', /white space at the start or end/],
  ['a no-break space at the end', 'Lagos\u00a0', 'Lagos', /white space at the start or end/],
  ['an ideographic space at the end', 'Lagos\u3000', 'Lagos', /white space at the start or end/],
  ['NFD', 'Co\u0302te', 'Côte', /NFC/],
  ['a Hangul syllable in parts', '\u1112\u1161\u11ab', '한', /NFC/],
  ['a tab', 'a\tb', 'a b', /control characters/],
  ['a line end', 'a\r\nb', 'a b', /line ends/],
  ['a line separator', 'a\u2028b', 'a b', /line ends/],
  ['an escape that colours a terminal', '\u001b[31mred', '[31mred', /control characters.*white space/],
  ['a C1 control', 'a\u0085b', 'a b', /control characters/],
  ['a direction mark', 'abc\u202edef', 'abcdef', /invisible characters were removed/],
  ['a directional isolate', '\u2066abc\u2069', 'abc', /invisible characters were removed/],
  ['a zero-width space', 'La\u200bgos', 'Lagos', /invisible characters were removed/],
  ['a soft hyphen', 'Boli\u00advar', 'Bolivar', /invisible characters were removed/],
  ['nothing but white space', ' \u00a0 ', null, /white space/],
]
for (const [title, cell, text, expected] of changed) {
  for (const format of ['csv', 'ndjson'] as const)
    test(`${format}: ${title} is changed with a warning`, () => {
      const { record, findings } = validateOneRow(format, { note: cell })
      assert.equal(record?.['note'], text)
      assert.equal(findings.length, 1)
      assert.match(findings[0] ?? '', /^note .*\(warning text_normalised\)$/)
      assert.match(findings[0] ?? '', expected)
    })
}

for (const text of ['a', 'a b', 'é', 'Ōkawa', '中村', 'a\u00a0b', 'नमस्ते', 'می\u200cخواهم', '👩\u200d🔬', 'a  b', '""'])
  test(`${JSON.stringify(text)} is published unchanged`, () => {
    const { record, findings } = validateOneRow('csv', { note: text })
    assert.deepEqual([record?.['note'], findings], [text, []])
  })

test('a required text of only white space is rejected', () => {
  const { record, findings } = validateOneRow('csv', { event: '  ' })
  assert.equal(record, null)
  assert.match(findings.join(), /event must not be empty \(error required\)/)
})

test('the warning names file, line and column', async () => {
  const directory = await writeCsv([
    { key: 'a' },
    { key: 'b', location_granularity: 'locality', locality: 'Kano\u00a0' },
  ])
  const { findings, records } = await validateRelease(hedOutbreaks, directory)
  const warnings = findings.filter(({ rule }) => rule === 'text_normalised')
  assert.deepEqual(
    [records, warnings.map(({ file, line, column }) => [file, line, column])],
    [2, [['records.csv', 3, 'locality']]],
  )
})

for (const [column, maxLength] of [
  ['event', 200],
  ['source_name', 500],
  ['pathogen', 500],
  ['age_group', 500],
  ['note', 2000],
  ['location_as_reported', 2000],
] as const) {
  test(`${column} has at most ${maxLength} characters, counted as code points`, () => {
    assert.notEqual(validateOneRow('csv', { [column]: '\u{1f9a0}'.repeat(maxLength) }).record, null)
    const { record, findings } = validateOneRow('csv', { [column]: 'x'.repeat(maxLength + 1) })
    assert.equal(record, null)
    assert.deepEqual(findings, [`${column} has ${maxLength + 1} characters; the limit is ${maxLength} (error length)`])
  })
}

test('every text and URI has a maximum length in its schema', () => {
  for (const field of hedOutbreaks.content.filter(({ kind }) => kind === 'text' || kind === 'uri')) {
    const schema = JSON.stringify(fieldSchema(field))
    assert.match(schema, new RegExp(`"maxLength":${field.maxLength}\\b`), field.name)
  }
})

test('a URI has at most 2,000 characters and no invisible characters', () => {
  const address = (length: number) => `https://example.org/${'x'.repeat(length - 'https://example.org/'.length)}`
  assert.notEqual(validateOneRow('csv', { source_url: address(2000) }).record, null)
  assert.equal(validateOneRow('csv', { source_url: address(2001) }).record, null)
  for (const hidden of ['\u0001', '\u202e', '\u200b', '\u00a0'])
    assert.equal(validateOneRow('csv', { source_url: `https://example.org/${hidden}x` }).record, null)
})

const nested = (levels: number): unknown => (levels === 1 ? {} : { a: nested(levels - 1) })
const extras: [title: string, extra: string, error: RegExp | null][] = [
  ['ten levels', JSON.stringify(nested(10)), null],
  ['eleven levels', JSON.stringify(nested(11)), /deeper than 10 levels/],
  ['6,000 levels', `${'{"a":'.repeat(5999)}{}${'}'.repeat(5999)}`, /deeper than/],
  ['200,000 levels', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, /deeper than/],
  ['10,000 characters', JSON.stringify({ a: 'x'.repeat(9992) }), null],
  ['10,001 characters', JSON.stringify({ a: 'x'.repeat(9993) }), /has 10001 characters/],
  ['half of a surrogate pair', '{"a":"\\ud800"}', /half of a surrogate pair/],
  ['half of a surrogate pair in a key', '{"\\udc00":1}', /half of a surrogate pair/],
  ['NUL deep inside', '{"a":[{"b":"\\u0000"}]}', /NUL/],
  ['a text that only looks like an escape', '{"a":"\\\\u0000 \\\\ud800"}', null],
  ['a whole surrogate pair as escapes', '{"a":"\\ud83e\\udda0"}', null],
  ['1e400', '{"a":1e400}', /1e400 cannot be represented exactly/],
  ['1e-400', '{"a":1e-400}', /1e-400 cannot be represented exactly/],
  ['an integer of 30 digits', '{"a":123456789012345678901234567890}', /cannot be represented exactly/],
  ['2^53 + 1', '{"a":9007199254740993}', /9007199254740993 cannot be represented exactly/],
  ['2^53 + 2, which a double represents exactly', '{"a":9007199254740994}', null],
  ['25 decimals', '{"a":[0.1234567890123456789012345]}', /cannot be represented exactly/],
  ['17 decimals, as programs print a double', '{"a":0.10000000000000001}', null],
  ['the same digits as a text', '{"a":"123456789012345678901234567890"}', null],
  ['__proto__', '{"__proto__":{"a":1}}', null],
]
for (const [title, extra, error] of extras) {
  const assertResult = async (file: string, text: string) => {
    const { findings, records } = await validateRelease(hedOutbreaks, await writeText(file, text))
    if (error === null) assert.deepEqual([records, findings.filter(({ severity }) => severity === 'error')], [1, []])
    else assert.match(findings[0]?.message ?? '', error)
  }
  test(`csv: extra with ${title} is ${error === null ? 'accepted' : 'rejected'}`, async () => {
    const { extra: _, ...row } = fullRow({ key: 'k' })
    const names = [...Object.keys(row), 'extra']
    const cells = [...Object.values(row).map((value) => (value === null ? '' : String(value))), extra]
    await assertResult('a.csv', `${names.join()}\n${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join()}\n`)
  })
  test(`ndjson: extra with ${title} is ${error === null ? 'accepted' : 'rejected'}`, async () => {
    const { extra: _, ...row } = fullRow({ key: 'k' })
    await assertResult('a.ndjson', `${JSON.stringify(row).slice(0, -1)},"extra":${extra}}\n`)
  })
}

for (const [title, manifest, message] of [
  ['a title of 501 characters', { title: 'x'.repeat(501) }, /title/],
  ['a title with NUL', { title: 'a\0b' }, /title contains a control character/],
  ['a title with an escape', { title: '\u001b[31m' }, /title contains a control character/],
  ['a note of 10,001 characters', { note: 'x'.repeat(10_001) }, /note/],
  ['half of a surrogate pair in a note', { note: '\ud800' }, /note contains .*half of a surrogate pair/],
  ['NUL in the event of a reason', { reasons: { events: { 'a\0': {} } } }, /reasons\.events contains/],
  [
    'an event of 201 characters in a reason',
    { reasons: { events: { ['x'.repeat(201)]: {} } } },
    /reasons\.events .*longer than 200 characters/,
  ],
] as const)
  test(`release.json with ${title} is rejected`, async () => {
    const directory = await writeText('a.ndjson', '', manifest)
    await assert.rejects(validateRelease(hedOutbreaks, directory), message)
  })
