// The checks of the client packages report a planted fault and end with status 1: the gallery, the columns of data frames, the
// copies through the releases, and the first program of a README.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { type Column, compareColumns, readParquet } from '../../../clients/compare/columns.ts'
import { compareCopies, describeLines } from '../../../clients/compare/copies.ts'
import { findProgram, judgeProgram, languages } from '../../../clients/compare/first-program.ts'
import { comparePage, type Example, renderPage } from '../../../clients/gallery/page.ts'
import type { Findings } from '../../../clients/report.ts'

const clients = path.resolve(import.meta.dirname, '../../../clients')
const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-planted-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const newDirectory = () => mkdtempSync(path.join(directory, 'case-'))

/** Ends a program with these findings, as the checks do. */
function report(findings: Findings): { status: number | null; lines: string[] } {
  const program = `import { reportFindings } from ${JSON.stringify(path.join(clients, 'report.ts'))}
    reportFindings('check', ${JSON.stringify(findings)})`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { status, lines: stdout.trimEnd().split('\n') }
}

function assertPasses(findings: Findings): void {
  const { checks } = findings
  assert.deepEqual(report(findings), { status: 0, lines: [`check: ${checks} passed, 0 failed`] })
}

function assertFails(findings: Findings, fault: RegExp): void {
  const { status, lines } = report(findings)
  assert.equal(status, 1)
  assert.equal(lines.at(-1), `check: ${findings.checks - 1} passed, 1 failed`)
  assert.match(lines[0] ?? '', fault)
}

test('a check that has checked nothing fails', () => {
  assert.deepEqual(report({ checks: 0, faults: [] }), { status: 1, lines: ['check: 0 passed, 0 failed'] })
})

const EXAMPLES: Example[] = [
  {
    file: '01.ts',
    title: 'Curve',
    about: '',
    code: 'draw()',
    output: '12 cases',
    picture: ['a.svg', Buffer.from('<svg/>')],
  },
  {
    file: '02.ts',
    title: 'Map',
    about: '',
    code: 'map()',
    output: '3 places',
    picture: ['b.png', Buffer.alloc(30_000)],
  },
]
const pageOf = (examples: readonly Example[]) => renderPage('TypeScript', 'ts', examples)
const replaceFirst = (change: Partial<Example>) =>
  EXAMPLES.map((one, index) => (index === 0 ? { ...one, ...change } : one))
const replacePicture = (bytes: Buffer) =>
  EXAMPLES.map((one, index) => (index === 1 ? { ...one, picture: ['b.png', bytes] as [string, Buffer] } : one))

test('gallery: an accepted page passes; another output, a picture that is not drawn, altered or empty fails', async () => {
  const accepted = newDirectory()
  const compare = async (examples: readonly Example[]): Promise<Findings> => ({
    checks: examples.length,
    faults: await comparePage(accepted, pageOf(examples), examples, { accept: false }),
  })
  await comparePage(accepted, pageOf(EXAMPLES), EXAMPLES, { accept: true })
  assertPasses(await compare(EXAMPLES))
  assertFails(await compare(replaceFirst({ output: '13 cases' })), /README\.md$/)
  assertFails(await compare(replaceFirst({ picture: null })), /README\.md$/)
  assertFails(await compare(replaceFirst({ picture: ['a.svg', Buffer.from('<svg />')] })), /a\.svg$/)
  // What matplotlib draws with axes and without data.
  assertFails(await compare(replacePicture(Buffer.alloc(10_000))), /b\.png$/)
  await writeFile(path.join(accepted, 'README.md'), pageOf(EXAMPLES).replace('3 places', '4 places'))
  assertFails(await compare(EXAMPLES), /README\.md$/)
  rmSync(path.join(accepted, 'README.md'))
  assertFails(await compare(EXAMPLES), /README\.md$/)
})

async function writeParquet(rows: string): Promise<Column[]> {
  const file = path.join(newDirectory(), 'rows.parquet')
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run(
    `copy (from (values ${rows}) as row(id, country_code, cases, day)) to '${file}' (format parquet)`,
  )
  connection.closeSync()
  return readParquet(file)
}

test('frames: equal columns pass; another type, value, null, column or frame fails', async () => {
  const expected = await writeParquet(`(1, 'NA', 5, date '2024-01-01'), (2, 'FR', null, null)`)
  assert.deepEqual(
    expected.map(({ column, type, nulls }) => [column, type, nulls]),
    [
      ['id', 'integer', 0],
      ['country_code', 'text', 0],
      ['cases', 'integer', 1],
      ['day', 'date', 1],
    ],
  )
  const compare = (columns: readonly Column[]) =>
    compareColumns(
      expected,
      columns.map((column) => ({ ...column, frame: 'R' })),
      ['R'],
    )
  assertPasses(compare(expected))
  const planted = {
    cases: [
      `(1, 'NA', 5.0::double, date '2024-01-01'), (2, 'FR', null, null)`,
      `(1, 'NA', 6, date '2024-01-01'), (2, 'FR', null, null)`,
      `(1, 'NA', 5, date '2024-01-01'), (2, 'FR', 0, null)`,
    ],
    country_code: [`(1, null, 5, date '2024-01-01'), (2, 'FR', null, null)`],
    day: [`(1, 'NA', 5, '2024-01-01'), (2, 'FR', null, null)`],
  }
  for (const [column, tables] of Object.entries(planted))
    for (const rows of tables) assertFails(compare(await writeParquet(rows)), new RegExp(`^R: ${column} differs`))
  assertFails(compare(expected.slice(1)), /^R: id differs: undefined/)
  assertFails(compare([...expected, { ...expected[0], column: 'row_names' } as Column]), /no column row_names/)
  assert.equal(compareColumns(expected, [], ['R']).faults.length, expected.length, 'a program that prints nothing')
})

test('sync: equal copies pass; an altered or missing line and a release without a copy fail', async () => {
  const write = async (...lines: string[]) => {
    const file = path.join(newDirectory(), 'copy.ndjson')
    await writeFile(file, lines.map((line) => `${line}\n`).join(''))
    return describeLines(file)
  }
  const published = [await write('{"id":1}'), await write('{"id":1}', '{"id":2,"cases":5}')]
  const compare = (copies: typeof published) =>
    compareCopies(
      'R',
      copies.map((copy, index) => ({ ...copy, release: index + 1, changes: 1 })),
      published,
    )
  const [first] = published as [(typeof published)[number]]
  assert.equal(published[1]?.records, 2)
  assertPasses(compare(published))
  const differs = /^R: the copy of release 2 differs/
  assertFails(compare([first, await write('{"id":1}', '{"id":2,"cases":6}')]), differs)
  assertFails(compare([first, await write('{"id":1}')]), differs)
  assertFails(compare([first, { ...(published[1] ?? first), records: 1 }]), differs)
  assertFails(compare([first]), /^R: there is no copy of release 2/)
})

test('ease: a program that draws nothing or has four lines fails', async () => {
  const readme = await readFile(path.join(clients, 'typescript/README.md'), 'utf8')
  const { program, picture } = findProgram(readme, languages.typescript.fence)
  const shown = path.join(clients, 'typescript', picture)
  const judge = async (text: string, drawn: string): Promise<Findings> => {
    const fault = await judgeProgram(text, drawn, shown)
    return { checks: 1, faults: fault === null ? [] : [fault] }
  }
  const folder = newDirectory()
  assertPasses(await judge(program, shown))
  assertFails(await judge(`${program}\nconsole.log()\nconsole.log()`, shown), /the program has \d lines/)
  const nothing = await languages.typescript.draw(folder, 'console.log("<svg/>")', process.env)
  assertFails(await judge(program, path.join(folder, nothing)), /^curve\.svg shows less/)
  assertFails(await judge(program, path.join(folder, 'curve.png')), /^curve\.png shows less/)
  assert.throws(() => findProgram(readme, 'fortran'), /no program/)
})
