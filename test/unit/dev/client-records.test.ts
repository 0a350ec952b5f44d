// The record types of the client packages say the same as the declaration of the dataset, and drift is noticed.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import type { IsoDay, OutbreakRecord } from '../../../clients/typescript/src/record.ts'
import { renderPython, renderR, renderTypeScript } from '../../../dev/client-records.ts'
import { findOutdated, writeGenerated } from '../../../dev/generated-files.ts'
import type { Dataset, Field } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { outbreakExample } from '../../../src/datasets/outbreak-example.ts'
import { skipWithoutPython } from '../../oracle/python.ts'

const clients = path.resolve(import.meta.dirname, '../../../clients')

test('TypeScript tells nullable from required, dates from text, and closed lists from open text', () => {
  // tsc checks this test: an expected error that does not occur is an error.
  type Selected = Pick<
    OutbreakRecord,
    'id' | 'event' | 'cases' | 'latitude' | 'date_high' | 'host' | 'composite' | 'extra'
  >
  const valid: Selected = {
    ...{ id: 1, event: 'Ebola', cases: null, latitude: 0.5, date_high: '2020-02-29', host: 'human' },
    ...{ composite: false, extra: { pump: [1] } },
  }
  const day: IsoDay = '2020-02-29'
  const invalid: Selected[] = [
    // @ts-expect-error: an event is required
    { ...valid, event: null },
    // @ts-expect-error: a date is not any text
    { ...valid, date_high: 'yesterday' },
    // @ts-expect-error: a closed list
    { ...valid, host: 'humans' },
    // @ts-expect-error: a count is a number
    { ...valid, cases: '5' },
    // @ts-expect-error: a flag is never null
    { ...valid, composite: null },
  ]
  assert.deepEqual([invalid.length, valid.date_high], [5, day])
})

/** A field as every package must describe it. */
const describeField = ({ kind, nullable, choices = [] }: Field) => ({
  type: {
    ...{ identifier: 'integer', integer: 'integer', number: 'real', date: 'date', boolean: 'boolean' },
    ...{ text: 'text', code: 'text', uri: 'text', choice: 'category', object: 'json' },
  }[kind],
  nullable,
  choices,
})
const expected = Object.fromEntries(hedOutbreaks.fields.map((field) => [field.name, describeField(field)]))

/** Reads the types as a type checker does, and compares the example with them. */
const READ_PYTHON = `
import importlib.util, json, sys, types, typing
spec = importlib.util.spec_from_file_location("record", sys.argv[1])
record = importlib.util.module_from_spec(spec)
spec.loader.exec_module(record)
plain = {int: "integer", float: "real", str: "text", bool: "boolean", record.IsoDay: "date"}
described = {}
for name, hint in typing.get_type_hints(record.OutbreakRecord).items():
    members = [m for m in (typing.get_args(hint) if isinstance(hint, types.UnionType) or type(None) in typing.get_args(hint) else [hint])]
    nullable = type(None) in members
    [kind] = [m for m in members if m is not type(None)]
    literal = typing.get_origin(kind) is typing.Literal
    choices = list(typing.get_args(kind)) if literal else []
    type_name = "category" if literal else "json" if typing.get_origin(kind) is dict else plain[kind]
    assert record.COLUMNS[name] == type_name, name
    assert list(record.CATEGORIES.get(name, ())) == choices, name
    described[name] = {"type": type_name, "nullable": nullable, "choices": choices}
assert list(record.COLUMNS) == list(described)
print(json.dumps(described))
`

test('Python has the same types in OutbreakRecord, COLUMNS and CATEGORIES', { skip: skipWithoutPython }, () => {
  const file = path.join(clients, 'python/src/outbreaks/_generated/record.py')
  const described = JSON.parse(execFileSync('python3', ['-B', '-c', READ_PYTHON, file], { encoding: 'utf8' })) as object
  assert.deepEqual(described, expected)
  assert.deepEqual(Object.keys(described), Object.keys(outbreakExample))
})

const R_TYPES: Record<string, string> = {
  ...{ character: 'text', integer: 'integer', double: 'real', Date: 'date', logical: 'boolean', factor: 'category' },
  json: 'json',
}

test('R has the same types; an id is a double, because an integer of R has 32 bits', () => {
  const columns = renderR(hedOutbreaks).matchAll(
    /^ {2}(\w+) = list\(\s*type = "(\w+)",\s*nullable = (TRUE|FALSE)(?:,\s*levels = c\(\n([^)]*)\))?/gm,
  )
  const described = [...columns].map(([, name = '', type = '', nullable, levels = '']) => [
    name,
    {
      type: R_TYPES[type],
      nullable: nullable === 'TRUE',
      choices: [...levels.matchAll(/"([^"]+)"/g)].map(([, level]) => level),
    },
  ])
  assert.deepEqual(Object.fromEntries(described), { ...expected, id: { ...expected['id'], type: 'real' } })
})

const noR = spawnSync('Rscript', ['--version']).status === 0 ? false : 'Rscript is not installed'
test('R reads the file', { skip: noR }, () => {
  const program = 'source(commandArgs(TRUE)[1]); cat(names(ob_record_columns), sep = ",")'
  const names = execFileSync('Rscript', ['-e', program, path.join(clients, 'r/R/record.R')], { encoding: 'utf8' })
  assert.deepEqual(names.split(','), Object.keys(expected))
})

test('a change of the declaration changes each file', () => {
  const change = (patch: Partial<Field>): Dataset => ({
    ...hedOutbreaks,
    fields: hedOutbreaks.fields.map((field) => (field.name === 'host' ? { ...field, ...patch } : field)),
  })
  for (const patch of [{ nullable: false }, { choices: ['human'] }, { kind: 'date' }, { name: 'hosts' }] as const)
    for (const render of [renderTypeScript, renderPython, renderR])
      assert.notEqual(render(change(patch)), render(hedOutbreaks), JSON.stringify(patch))
})

test('a generated file that is missing or differs is out of date', async (t) => {
  const root = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-generated-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const files = { 'a/b.txt': 'text\n', 'c.txt': 'text\n' }
  assert.deepEqual(findOutdated(root, files), ['a/b.txt', 'c.txt'])
  writeGenerated(root, files)
  assert.deepEqual(findOutdated(root, files), [])
  await writeFile(path.join(root, 'c.txt'), 'another text\n')
  assert.deepEqual(findOutdated(root, files), ['c.txt'])
})
