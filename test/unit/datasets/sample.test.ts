// The first release of the sample is valid by the declaration of the dataset, and its records are consistent.
// Names no column that the declaration does not have.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { Value } from 'typebox/value'
import { type Content, type Field, type FieldValue, fieldSchema, inputFields } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'

const read = (name: string) => readFileSync(new URL(`../../../sample/releases/1/${name}`, import.meta.url), 'utf8')
const [header = [], ...lines] = parse(read('outbreaks.csv'), { record_delimiter: '\n' })
/** An input may leave out an optional field. */
const fields = inputFields(hedOutbreaks).filter(({ name, nullable }) => !nullable || header.includes(name))
const keys = lines.map(([key = '']) => key)
const records = lines.map(([, ...cells]) =>
  Object.fromEntries(fields.map((field, i) => [field.name, readCell(field, cells[i] ?? '')])),
)

/** A cell that is not of its kind stays a string, which the schema rejects. */
function readCell({ kind }: Field, cell: string): FieldValue {
  if (kind === 'object') return cell === '' ? {} : JSON.parse(cell)
  if (cell === '') return null
  if (kind === 'boolean' && /^(true|false)$/.test(cell)) return cell === 'true'
  if ((kind === 'integer' || kind === 'number') && /^-?\d+(\.\d+)?$/.test(cell)) return Number(cell)
  return cell
}

function allows(field: Field, value: FieldValue): boolean {
  const known = typeof value !== 'string' || (field.vocabulary?.has(value) ?? true)
  return known && Value.Check(fieldSchema(field), value)
}

const keysWhere = (matches: (record: Content) => boolean) => keys.filter((_, i) => matches(records[i] ?? {}))
const exceeds = (a: FieldValue | undefined, b: FieldValue | undefined) => a != null && b != null && a > b

test('the header has the key, every required field and some optional ones, in the order of the declaration', () => {
  assert.deepEqual(header, ['key', ...fields.map((field) => field.name)])
})

test('keys are unique and sorted', () => {
  assert.deepEqual(keys, [...new Set(keys)].sort())
  assert.notEqual(keys.length, 0)
})

for (const field of fields)
  test(`every ${field.name} is allowed by its declaration`, () => {
    assert.deepEqual(
      keysWhere((record) => !allows(field, record[field.name] ?? null)),
      [],
    )
  })

const contradictions: Record<string, (record: Content) => boolean> = {
  'every record names its source': (record) => !record.source_name,
  'deaths never exceed cases': (record) => exceeds(record.deaths, record.cases),
  'no period ends before it begins': (record) => exceeds(record.date_low, record.date_high),
  'no count covers days after its report': (record) => exceeds(record.date_high, record.date_report),
  'a count is missing if and only if a reason is given': (record) =>
    (record.cases === null) !== (record.cases_missing !== null) ||
    (record.deaths === null) !== (record.deaths_missing !== null),
}
for (const [title, contradicts] of Object.entries(contradictions))
  test(title, () => {
    assert.deepEqual(keysWhere(contradicts), [])
  })

test('the release has a title, a licence and a note', () => {
  const { title, licence, note } = JSON.parse(read('release.json'))
  assert.ok(title && licence && note)
})
