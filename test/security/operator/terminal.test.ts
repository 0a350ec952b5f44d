// Control characters in headers, file names and names of events do not reach the terminal of the operator, and JSON stays JSON.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { newSettings, outbreakctl } from '../../../dev/service.ts'
import { escapeControls, escapeInLines } from '../../../src/platform/cli/escape-controls.ts'
import { createProgress } from '../../../src/platform/cli/progress.ts'
import { formatOutput } from '../../../src/platform/cli/terminal.ts'
import { createTestDatabase } from '../../database.ts'
import { createScreen } from '../../unit/platform/screen.ts'

const run = promisify(execFile)
const cli = path.resolve(import.meta.dirname, '../../../src/cli.ts')
const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    return false
  }
})()
const skip = !hasScript && 'script of util-linux is not installed, which provides the pseudo-terminal'

/** Clears the screen, sets the title of the window, a C1 sequence, reverses the direction, deletes, goes back. */
const ATTACK = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eabc\u007f\u0008'
const FORBIDDEN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u

const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-terminal-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** The bytes that the command sends to a terminal, with its own line ends and its own progress line removed. */
async function runInTerminal(command: string[], env: Record<string, string> = {}): Promise<string> {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const { stdout } = await run('script', ['-qec', quoted, '/dev/null'], {
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, TERM: 'xterm', ...env },
    timeout: 30_000,
  }).catch((error: Error & { stdout?: string; code?: number }) => {
    if (error.stdout === undefined) throw error
    return { stdout: error.stdout }
  })
  return stdout.replaceAll('\r\u001b[2K', ' ').replaceAll('\r\n', ' ').replaceAll('\n', ' ')
}
const outbreakctlInTerminal = (env: Record<string, string>, ...args: string[]) =>
  runInTerminal([process.execPath, cli, ...args], env)

function writeInput(name: string, file: string, text: string): string {
  const input = path.join(directory, name)
  mkdirSync(input)
  writeFileSync(path.join(input, 'release.json'), JSON.stringify({ title: 'A test', licence: 'CC0-1.0' }))
  writeFileSync(path.join(input, file), text)
  return input
}
const inputs = {
  header: writeInput('header', 'records.csv', `key,event,head${ATTACK}er\r\na,Event,1\r\n`),
  'file name': writeInput('file-name', `rec${ATTACK}ords.csv`, 'key,event\r\na,Event\r\n'),
  event: writeInput('event', 'records.ndjson', `${JSON.stringify({ key: 'a', event: `Cholera${ATTACK}_2020` })}\n`),
  country: writeInput(
    'country',
    'records.ndjson',
    `${JSON.stringify({ key: 'a', country_code: ATTACK, sex: ATTACK })}\n`,
  ),
  'broken JSON': writeInput('broken', 'records.ndjson', `{"key": ${ATTACK}\n`),
  directory: path.join(directory, `no${ATTACK}where`),
}

test('the control: the pseudo-terminal passes on what a program prints', { skip }, async () => {
  const output = await runInTerminal([process.execPath, '-e', `console.log(${JSON.stringify(ATTACK)})`])
  assert.match(output, FORBIDDEN)
  assert.ok(output.includes(ATTACK))
})

for (const [name, input] of Object.entries(inputs))
  test(`release check, control characters in the ${name}`, { skip }, async () => {
    const output = await outbreakctlInTerminal({}, 'release', 'check', input)
    assert.doesNotMatch(output, FORBIDDEN)
    assert.ok(output.length > 20)
  })

test('release check shows what it has escaped', { skip }, async () => {
  assert.ok((await outbreakctlInTerminal({}, 'release', 'check', inputs.header)).includes('\\u001b[2J'))
})

test('release publish, control characters in the errors', { skip }, async () => {
  const settings = newSettings(await createTestDatabase())
  const env = { DATABASE_URL: settings.databaseUrl, OUTBREAKS_SECRET: settings.secret }
  for (const input of [inputs.header, inputs['file name'], inputs.event, inputs.directory]) {
    const output = await outbreakctlInTerminal(env, 'release', 'publish', input)
    assert.match(output, /outbreakctl:/)
    assert.doesNotMatch(output, FORBIDDEN)
  }
  const list = await outbreakctlInTerminal(env, 'audit', 'list')
  assert.doesNotMatch(list, FORBIDDEN)
  assert.ok(list.includes('\\u001b[2J'))
  // The same as JSON: valid, with the characters as they were given.
  const acts = await outbreakctl<{ arguments: string[] }[]>(settings, 'audit', 'list')
  assert.deepEqual(acts[0]?.arguments, [inputs.directory])
})

test('an unknown option with control characters', { skip }, async () => {
  const output = await outbreakctlInTerminal({}, 'release', 'list', `--${ATTACK}`)
  assert.match(output, /unknown option/)
  assert.doesNotMatch(output, FORBIDDEN)
})

test('JSON output has no control characters and the same values', () => {
  const output = [{ name: `a${ATTACK}\nb\u2028c`, [ATTACK]: 'x' }]
  const text = formatOutput(output, createScreen({ isTTY: false }))
  assert.doesNotMatch(text.replaceAll('\n', ''), FORBIDDEN)
  assert.deepEqual(JSON.parse(text), output)
})

test('a table has no control characters, and stays aligned', () => {
  const screen = createScreen({ colours: 1 })
  const lines = formatOutput(
    [
      { name: `a\nb${ATTACK}`, next: 1 },
      { name: 'b', next: 2 },
    ],
    screen,
  ).split('\n')
  assert.equal(lines.length, 3)
  for (const line of lines) assert.doesNotMatch(line, FORBIDDEN)
  assert.equal(lines[1]?.indexOf('1', 50), lines[2]?.indexOf('2', 50))
})

test('the progress line has no control characters but its own', () => {
  const screen = createScreen({ columns: 300 })
  createProgress(screen).update(`reading ${ATTACK}`, 1, 2)
  assert.doesNotMatch(screen.written.join('').replace('\r\u001b[2K', ''), FORBIDDEN)
})

test('every control and bidi character is escaped, and nothing else', () => {
  const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code))
  const escaped = all.filter((character) => escapeControls(character) !== character)
  const codes = escaped.map((character) => character.charCodeAt(0))
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
  assert.deepEqual(codes, [
    ...[...range(0, 0x1f), ...range(0x7f, 0x9f), 0x06_1c, 0x20_0e, 0x20_0f],
    ...[...range(0x20_28, 0x20_2e), ...range(0x20_66, 0x20_69)],
  ])
  assert.equal(escapeInLines('a\nb\r'), 'a\nb\\u000d')
})
