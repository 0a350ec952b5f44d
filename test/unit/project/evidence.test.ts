// docs/security.md and docs/security-requirements.md: every path that they name exists, and every requirement that is met names evidence.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')
const PATH =
  /^(\.[a-z]+\/|\.[a-z]+(rc\.json|rc)$|(src|test|docs|deploy|dev|explorer|conformance|migrations)\/|[A-Z]+\.md$|tsconfig\.json$)/
const STATES = ['met', 'partly', 'operator', 'not met', 'not applicable']
/** The chapters of the standard. */
const CHAPTERS = 17
/** Lines of the table, some with several requirements. */
const MIN_ROWS = 125

const listPaths = (text: string): string[] =>
  [...text.matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name).filter((name) => PATH.test(name))

/** What is wrong, as sentences. */
function findFaults(text: string, exists: (name: string) => boolean): string[] {
  const rows = text
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, id = '', , state = '']) => /^\d+\.\d+\.\d+/.test(id) && STATES.includes(state))
  return [
    ...listPaths(text)
      .filter((name) => !exists(name))
      .map((name) => `${name} does not exist`),
    ...rows
      .filter(([, , , state, evidence = '']) => state === 'met' && listPaths(evidence).length === 0)
      .map(([, id]) => `${id} has no evidence`),
    ...rows
      .filter(([, , , state, evidence = '']) => state !== 'met' && evidence === '')
      .map(([, id]) => `${id} has no reason`),
  ]
}

const readPage = (name: string) => readFileSync(path.join(root, 'docs', name), 'utf8')
const text = readPage('security-requirements.md')

test('every path exists, and every requirement that is met has evidence', () => {
  assert.ok(listPaths(text).length > 130)
  assert.deepEqual(
    findFaults(`${readPage('security.md')}${text}`, (name) => existsSync(path.join(root, name))),
    [],
  )
})

test('every line of the standard has a state, and every chapter and every API risk is there', () => {
  const rows = text.split('\n').filter((line) => /^\| \d+\.\d+\.\d+/.test(line))
  const [, level2 = '', level3 = ''] = text.split(/^## OWASP ASVS|^### Level 3/m)
  const own = rows.filter((row) => level2.includes(row))
  assert.ok(own.length >= MIN_ROWS, `${own.length} lines`)
  for (const row of own) assert.ok(STATES.includes(row.split('|')[3]?.trim() ?? ''), row)
  assert.ok(level3.includes('10.3.5'))
  for (let chapter = 1; chapter <= CHAPTERS; chapter++)
    assert.ok(
      own.some((row) => row.startsWith(`| ${chapter}.`)),
      `chapter ${chapter}`,
    )
  for (let risk = 1; risk <= 10; risk++) assert.match(text, new RegExp(`^\\| API${risk} `, 'm'))
})

test('a missing path, a claim without evidence and a gap without a reason are found', () => {
  const faults = findFaults(
    ['| 1.2.3 | x | met | `src/gone.ts` |', '| 1.2.4 | y | met | trust us |', '| 1.2.5 | z | not applicable |  |'].join(
      '\n',
    ),
    () => false,
  )
  assert.deepEqual(faults, ['src/gone.ts does not exist', '1.2.4 has no evidence', '1.2.5 has no reason'])
})
