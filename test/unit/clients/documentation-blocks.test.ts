// The examples of the documentation: each kind of fault in a block is found, and a block that does not run says why.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { acceptOutputs, findBlocks, matchesOutput } from '../../../clients/gallery/blocks.ts'
import { runBlocks } from '../../../clients/gallery/run-blocks.ts'
import { listExamplePages, writePrograms } from '../../../clients/gallery/run-pages.ts'

const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-blocks-'))
after(() => rm(scratch, { recursive: true, force: true }))

async function run(page: string) {
  const commands = { sh: { command: ['bash'] }, typescript: { command: [process.execPath] } }
  const environment = { OUTBREAKS_URL: 'http://x.test', PATH: `${await writePrograms(scratch)}:${process.env['PATH']}` }
  const cwd = await mkdtemp(path.join(scratch, 'page-'))
  return runBlocks(findBlocks(page), cwd, { environment, commands, client: scratch })
}
const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`

test('blocks of a language share a program; what each prints belongs to it', async () => {
  const page = `${fence('sh', 'x=1; echo $x > file')}\n${fence('sh', 'echo "$((x + 1)) $(cat file)"')}\n${fence('text', '2 1')}`
  const results = await run(page)
  assert.deepEqual(
    results.map(({ printed, fault }) => [printed, fault]),
    [
      ['', null],
      ['2 1', null],
    ],
  )
  assert.equal(results[1]?.block.expected?.text, '2 1\n')
})

test('a block that fails is a fault, and so are those after it', async () => {
  const results = await run(`${fence('sh', 'echo a')}${fence('sh', 'no-such-program')}${fence('sh', 'echo c')}`)
  assert.deepEqual(
    results.map(({ fault }) => fault?.replace(/.*: line/, 'line') ?? null),
    [null, 'line 5: no-such-program: command not found', 'a block before it failed'],
  )
})

for (const [name, page] of [
  ['an unset variable', fence('sh', 'echo "$NOT_SET_ANYWHERE"')],
  ['JSON that does not parse', fence('json', '{ "a": 1, }')],
  ['SQL that does not parse', fence('sql', 'selec 1')],
  ['TypeScript that throws', fence('ts', 'const n: number = 1; throw new Error(String(n))')],
  ['a language that nothing runs', fence('cobol', 'x')],
  ['a command that changes the machine', fence('sh', 'apt-get update')],
] as const)
  test(`${name} is a fault, unless the page says why it is not run`, async () => {
    const [result] = await run(page)
    assert.notEqual(result?.fault ?? null, null)
    assert.deepEqual(await run(`<!-- not run: it shows a fault -->\n\n${page}`), [])
    assert.deepEqual(await run(`<!-- not run on this page: faults -->\n\nText.\n\n${page}`), [])
    // The reason is for the next block only.
    assert.equal((await run(`<!-- not run: it shows a fault -->\n\nText.\n\n${page}`)).length, 1)
  })

test('a block that shows an error must fail', async () => {
  const marked = (code: string) => `<!-- fails on purpose -->\n\n${fence('sh', code)}`
  const [failing] = await run(`${marked('echo no; false')}${fence('sh', 'true')}`)
  assert.deepEqual([failing?.printed, failing?.fault], ['no', null])
  const [passing] = await run(marked('true'))
  assert.equal(passing?.fault, 'the block does not fail')
})

test('valid blocks of each kind pass', async () => {
  const page = [fence('json', '{}'), fence('sql', 'select 1'), fence('ts', 'const n: number = 1; console.log(n)')].join(
    '',
  )
  assert.deepEqual(
    (await run(page)).map(({ printed, fault }) => [printed, fault]),
    [
      ['', null],
      ['1', null],
      ['1', null],
    ],
  )
})

test('a language that is not installed is skipped, and counted as such', async () => {
  const [result] = await run(fence('r', '1'))
  assert.equal(result?.isSkipped, true)
})

test('outputs are compared; … stands for a part of a line, or for lines', () => {
  assert.ok(matchesOutput('a\nb\n', 'a\nb'))
  assert.ok(!matchesOutput('a\nb\n', 'a\nc'))
  assert.ok(!matchesOutput('a\n', 'a\nb'))
  assert.ok(matchesOutput('a…z\n', 'abcz'))
  assert.ok(!matchesOutput('a…z\n', 'ab\nz'))
  assert.ok(matchesOutput('a\n…\nz\n', 'a\nb\nc\nz'))
  assert.ok(!matchesOutput('a.c\n', 'abc'))
})

test('accepting writes only the outputs that differ', () => {
  const page = `${fence('sh', 'a')}\n${fence('text', 'old')}\nText.\n\n${fence('sh', 'b')}\n${fence('text', 'b…')}`
  const [first, second] = findBlocks(page)
  assert.ok(first !== undefined && second !== undefined)
  const accepted = acceptOutputs(
    page,
    new Map([
      [first, 'new\nlines\n'],
      [second, 'b and more'],
    ]),
  )
  assert.equal(accepted, page.replace('old', 'new\nlines'))
})

test('the pages with examples are the README and the documentation; the page that publishes runs last', () => {
  const pages = listExamplePages()
  assert.ok(pages.includes('README.md') && pages.includes('docs/filtering.md'))
  assert.equal(pages.at(-1), 'docs/learn/publish-a-table.md')
})
