// Every decision has its own number, a status, a date, at most 400 words, and a line in the index that says the same.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const folder = path.resolve(import.meta.dirname, '../../../docs/decisions')
const STATUS_LINE = /^Status: (proposed|accepted|(?:superseded|withdrawn) by (\d{4})) · Date: (\d{4}-\d{2}-\d{2})$/

const MAX_WORDS = 400
const MAX_WORDS_OF_ALL = 12_000

type Pages = Record<string, string>

/** What is wrong, as sentences. `pages` is the text of each decision by the name of its file. */
function findFaults(pages: Pages, index: string): string[] {
  const numbers = Object.keys(pages).map(numberOf)
  const rows = index.split('\n').filter((line) => line.startsWith('| ['))
  const unlisted = rows.filter((row) => !Object.keys(pages).some((name) => row.includes(`(${name})`)))
  return [
    ...Object.entries(pages).flatMap(([name, text]) =>
      findPageFaults(name, text, numbers, rows).map((fault) => `${name} ${fault}`),
    ),
    ...unlisted.map((row) => `the index has a line without a page: ${row}`),
  ]
}

function findPageFaults(name: string, text: string, numbers: readonly string[], rows: readonly string[]): string[] {
  const number = numberOf(name)
  const repeated = numbers.filter((other) => other === number).length > 1
  const [title = '', blank, line = ''] = text.split('\n')
  const titled = /^# (\d{4}) (\S.*)$/.exec(title)
  const stated = STATUS_LINE.exec(line)
  const successor = stated?.[2]
  const row = rows.find((each) => each.includes(`(${name})`))
  const cells = row?.split('|').map((cell) => cell.trim())
  const expected = [`[${number}](${name})`, titled?.[2], stated?.[1], stated?.[3]]
  return [
    ...(repeated ? [`shares the number ${number}`] : []),
    ...(titled?.[1] === number ? [] : ['does not begin with its number and title']),
    ...(stated !== null && blank === '' && isDay(stated[3]) ? [] : ['has no status and date under its title']),
    ...(successor === undefined || numbers.includes(successor) ? [] : [`names ${successor}, which does not exist`]),
    ...(countWords(text) > MAX_WORDS ? [`has more than ${MAX_WORDS} words`] : []),
    ...(cells === undefined ? ['is not in the index'] : []),
    ...(cells === undefined || expected.every((cell, i) => cell === cells[i + 1])
      ? []
      : ['has another title, status or date in the index']),
  ]
}

/** Lines of tables and marks are no words. */
const countWords = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

const numberOf = (name: string) => name.slice(0, 4)

function isDay(text: string | undefined): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(String(text))
}

function readPages(): Pages {
  const names = readdirSync(folder).filter((name) => name !== 'README.md')
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]))
}

test('every decision has its own number, a status, a date, 400 words at most and a line in the index', () => {
  const pages = readPages()
  assert.ok(Object.keys(pages).length > 15)
  assert.deepEqual(findFaults(pages, readFileSync(path.join(folder, 'README.md'), 'utf8')), [])
})

test('all decisions together have at most 12,000 words', () => {
  const words = Object.values(readPages()).reduce((sum, text) => sum + countWords(text), 0)
  assert.ok(words <= MAX_WORDS_OF_ALL, `${words} words`)
})

const PAGE = '# 0001 Data is published in releases\n\nStatus: accepted · Date: 2026-11-15\n\nText.\n'
const ROW = '| [0001](0001-releases.md) | Data is published in releases | accepted | 2026-11-15 |'

test('a page and its line in the index have no faults', () => {
  assert.deepEqual(findFaults({ '0001-releases.md': PAGE }, ROW), [])
})

for (const [title, page, row, fault] of [
  ['no status line', PAGE.replace(/^Status.*\n/m, ''), ROW, 'has no status and date under its title'],
  ['no date', PAGE.replace(/ · Date.*/, ''), ROW, 'has no status and date under its title'],
  ['a day that does not exist', PAGE.replace('11-15', '02-30'), ROW, 'has no status and date under its title'],
  ['an unknown status', PAGE.replace('accepted', 'agreed'), ROW, 'has no status and date under its title'],
  ['a status line that is not under the title', PAGE.replace('\n\n', '\n\nText.\n\n'), ROW, 'has no status and date'],
  [
    'a successor that does not exist',
    PAGE.replace('accepted', 'superseded by 0007'),
    ROW,
    'names 0007, which does not',
  ],
  ['another number in the title', PAGE.replace('0001', '0002'), ROW, 'does not begin with its number and title'],
  ['a page that is too long', PAGE + 'word '.repeat(400), ROW, 'has more than 400 words'],
  ['no line in the index', PAGE, '', 'is not in the index'],
  ['another title in the index', PAGE, ROW.replace('Data', 'All data'), 'has another title, status or date'],
  ['another status in the index', PAGE, ROW.replace('accepted', 'proposed'), 'has another title, status or date'],
  ['another date in the index', PAGE, ROW.replace('11-15', '11-16'), 'has another title, status or date'],
] as const) {
  test(`${title} is noticed`, () => {
    const faults = findFaults({ '0001-releases.md': page }, row)
    assert.ok(
      faults.some((each) => each.startsWith(`0001-releases.md ${fault}`)),
      faults.join('\n'),
    )
  })
}

test('a number that is used twice is noticed', () => {
  const pages = { '0001-releases.md': PAGE, '0001-versions.md': PAGE }
  assert.deepEqual(findFaults(pages, `${ROW}\n${ROW.replace('0001-releases.md', '0001-versions.md')}`), [
    '0001-releases.md shares the number 0001',
    '0001-versions.md shares the number 0001',
  ])
})

test('a line of the index without a page is noticed', () => {
  assert.deepEqual(findFaults({}, ROW), [`the index has a line without a page: ${ROW}`])
})
