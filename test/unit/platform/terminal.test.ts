// The output of commands: aligned text at a terminal, JSON otherwise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { formatOutput } from '../../../src/platform/cli/terminal.ts'
import { createScreen } from './screen.ts'

const screen = createScreen()
const pipe = createScreen({ isTTY: false })
/** Colours have separate tests. */
const formatWithoutColour = (output: Parameters<typeof formatOutput>[0]) =>
  stripVTControlCharacters(formatOutput(output, screen)).split('\n')

const records = [
  { name: 'a', when: new Date('2026-01-02T03:04:05.678Z'), count: 5, scopes: ['x', 'y'], ended: null },
  { name: 'longer', when: null, count: 12_345, scopes: [], ended: true },
]

test('without a terminal the output is JSON', () => {
  assert.deepEqual(JSON.parse(formatOutput(records, pipe)), JSON.parse(JSON.stringify(records)))
  assert.equal(formatOutput([], pipe), '[]')
})

test('at a terminal several records are a table', () => {
  assert.deepEqual(formatWithoutColour(records), [
    'name    when                  count  scopes  ended',
    'a       2026-01-02T03:04:05Z  5      x y     -',
    'longer  -                     12345  -       true',
  ])
  assert.equal(formatOutput([], screen), '(none)')
})

test('at a terminal one record is a list of names and values', () => {
  assert.deepEqual(formatWithoutColour({ id: 1, longer_name: undefined }), ['id           1', 'longer_name  -'])
})

test('a list inside a record is a table below it', () => {
  const findings = [
    { line: 2, rule: 'type' },
    { line: 10, rule: 'range' },
  ]
  assert.deepEqual(formatWithoutColour({ errors: 2, findings }), [
    'errors  2',
    '',
    'line  rule',
    '2     type',
    '10    range',
  ])
})

const [dim, red, green, yellow] = [2, 31, 32, 33].map((code) => (text: string) => {
  const end = code === 2 ? 22 : 39
  return `\u001b[${code}m${text}\u001b[${end}m`
}) as [(text: string) => string, (text: string) => string, (text: string) => string, (text: string) => string]

test('names are dim; added, corrected and withdrawn counts have a colour unless they are 0 or null', () => {
  assert.equal(
    formatOutput({ added: 12, withdrawn: 0 }, screen),
    `${dim('added')}      ${green('12')}\n${dim('withdrawn')}  0`,
  )
  const rows = [
    { event: 'a', added: 0, corrected: 5, withdrawn: 3 },
    { event: 'b', added: 7, corrected: 0, withdrawn: null },
  ]
  assert.deepEqual(formatOutput(rows, screen).split('\n'), [
    ['event', 'added', 'corrected', 'withdrawn'].map(dim).join('  '),
    `a      0      ${yellow('5')}          ${red('3')}`,
    `b      ${green('7')}      0          -`,
  ])
})

test('an error is red and a warning yellow', () => {
  const [, first, second] = formatOutput([{ severity: 'error' }, { severity: 'warning' }], screen).split('\n')
  assert.deepEqual([first, second], [red('error'), yellow('warning')])
  assert.equal(formatOutput({ errors: 1 }, screen), `${dim('errors')}  ${red('1')}`)
})

test('a terminal without colours gets the same text without colour codes', () => {
  const colourless = createScreen({ colours: 1 })
  assert.equal(formatOutput({ added: 12 }, colourless), 'added  12')
})
