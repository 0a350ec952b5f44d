// `release check` and `release publish` accept the same inputs: random difficult text, and known difficult cases.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { createTestDatabase } from '../../database.ts'
import { fullRow, writeText } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'
import { fc } from '../../seed.ts'

const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
after(() => database.close())

const difficultText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '\0',
    '\ud800',
    '\udc00x',
    '\\u0000',
    '\\N',
    '\\.',
    '\u202eabc',
    'a\u0301',
    '__proto__',
    'constructor',
    '\t',
    '\r\n',
    "'",
    '"',
    '\u001b[2J',
  ),
  fc
    .tuple(
      fc.constantFrom('x', 'é', '\u{1f9a0}', '\u{10ffff}'),
      fc.constantFrom(199, 200, 201, 499, 500, 501, 2000, 2001, 9000),
    )
    .map(([unit, times]) => unit.repeat(times)),
)
const nest = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
/** As JSON: programs that print an object of 6,000 levels run out of stack. */
const extra = fc.oneof(
  fc
    .dictionary(fc.oneof(difficultText, fc.constant('__proto__')), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })
    .map((value) => JSON.stringify(value)),
  fc.dictionary(difficultText, difficultText, { maxKeys: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(1, 9, 10, 11, 100, 6000).map(nest),
)
const lineOf = ({ extra: json = '{}', ...change }: Record<string, unknown>) => {
  const { extra: _, ...row } = fullRow({ key: 'k' })
  return `${JSON.stringify({ ...row, ...change }).slice(0, -1)},"extra":${String(json)}}\n`
}
const columns: Record<string, fc.Arbitrary<string>> = {
  ...Object.fromEntries(
    hedOutbreaks.content
      .filter(({ kind, derive }) => kind === 'text' && derive === undefined)
      .map(({ name }) => [name, difficultText]),
  ),
  country: fc.constant('A ship'),
  source_url: difficultText.map((text) => `https://example.org/${text}`),
  extra,
}
/** One or two columns at a time: a row with difficult text in every column is hardly ever accepted. */
const changes = fc
  .subarray(Object.keys(columns), { minLength: 1, maxLength: 2 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, columns[name] as fc.Arbitrary<string>]))))

async function assertAgree(line: string): Promise<boolean> {
  const { errors } = await validateRelease(hedOutbreaks, await writeText('a.ndjson', line))
  const published = await publishRelease(database, hedOutbreaks, await writeText('a.ndjson', line)).catch(
    (error: unknown) => {
      // An error for the operator, never a database error.
      assert.ok(error instanceof OperatorError, String(error))
      return null
    },
  )
  assert.equal(published !== null, errors === 0, line.slice(0, 300))
  return published !== null
}

test('publish accepts an input if and only if check accepts it, and rejects others with an operator error', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(changes, async (change) => {
      if (await assertAgree(lineOf({ location_granularity: 'locality', ...change }))) accepted += 1
    }),
    { numRuns: 25 },
  )
  assert.ok(accepted > 8 && accepted < 56, `${accepted} were accepted`)
})

for (const [title, change, isValid] of [
  ['a source_name of 3,300 characters', { source_name: 'x'.repeat(3300) }, false],
  ['an event of 9,000 characters', { event: 'x'.repeat(9000) }, false],
  ['an event of 200 characters of four bytes', { event: '\u{1f9a0}'.repeat(200) }, true],
  ['a source_name of 500 characters of four bytes', { source_name: '\u{10ffff}'.repeat(500) }, true],
  ['NUL', { note: 'a\0b' }, false],
  ['half of a surrogate pair', { event: '\ud800' }, false],
  ['half of a surrogate pair in extra', { extra: '{"a":"\\ud800"}' }, false],
  ['6,000 levels', { extra: nest(6000) }, false],
  ['__proto__ in extra', { extra: '{"__proto__":{"polluted":true}}' }, true],
] as const)
  test(`${title} is ${isValid ? 'published' : 'rejected'}`, async () => {
    assert.equal(await assertAgree(lineOf(change)), isValid)
  })

/** The records of the newest release. */
async function readNewest(): Promise<string[]> {
  const [latest] = await database.query<{ number: number }>(sql`select max(number) as number from release`)
  return readStoredRecords(database, latest?.number ?? 0)
}

test('__proto__ in extra is published unchanged and does not pollute Object.prototype', async () => {
  assert.match((await readNewest()).at(-1) ?? '', /"extra":\{"__proto__":\{"polluted":true\}\}/)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('a text with backslashes, quotes and control characters of COPY is published unchanged', async () => {
  for (const [i, note] of ['a\\b', '\\N', '\\.', 'a\\\\tb', 'say "x"', 'C:\\new\\table'].entries()) {
    const key = `text ${i}`
    await publishRelease(
      database,
      hedOutbreaks,
      await writeText('a.ndjson', lineOf({ key, note, extra: JSON.stringify({ note }) })),
      {
        confirmedWithdrawn: 1,
      },
    )
    const record = JSON.parse((await readNewest()).at(-1) ?? '{}') as Record<string, unknown>
    assert.deepEqual([record['note'], record['extra']], [note, { note }])
  }
})
