// The progress line of a command.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createProgress, formatProgress } from '../../../src/platform/cli/progress.ts'
import { createScreen } from './screen.ts'

const lines: [state: Parameters<typeof formatProgress>[0], line: string][] = [
  [{ step: 'reading', done: 0, total: 100, rate: 0 }, 'reading  ░░░░░░░░░░░░░░░░░░░░░░░░    0 %'],
  [
    { step: 'reading', done: 50_000, total: 100_000, rate: 12_500 },
    'reading  ████████████░░░░░░░░░░░░   50 %  12.5K/s  0:04 left',
  ],
  [{ step: 'reading', done: 1, total: 7500, rate: 1 }, 'reading  ░░░░░░░░░░░░░░░░░░░░░░░░    0 %  1/s  2:04:59 left'],
  [{ step: 'reading', done: 100, total: 100, rate: 10 }, 'reading  ████████████████████████  100 %  10/s'],
  [{ step: 'reading', done: 130, total: 100, rate: 13 }, 'reading  ████████████████████████  100 %  13/s'],
  [{ step: 'counting', done: 0, total: null, rate: 0 }, 'counting'],
  [{ step: 'counting', done: 0, total: 0, rate: 0 }, 'counting'],
  [{ step: 'counting', done: 1200, total: null, rate: 600 }, 'counting  1.2K  600/s'],
]
for (const [state, line] of lines) {
  test(`${state.done} of ${state.total} at ${state.rate} a second`, () => assert.equal(formatProgress(state), line))
}

test('one line is rewritten in place, at most ten times a second, and removed at the end', async () => {
  const screen = createScreen()
  const progress = createProgress(screen)
  const end = performance.now() + 350
  for (let done = 1; performance.now() < end; done++) {
    progress.update('reading', done, 100_000)
    await wait(1)
  }
  assert.ok(screen.written.length >= 3 && screen.written.length <= 5, `drawn ${screen.written.length} times`)
  progress.update('counting', 0, null)
  assert.equal(screen.written.at(-1), '\r\u001b[2Kcounting')
  progress.clear()
  assert.equal(screen.written.at(-1), '\r\u001b[2K')
  for (const text of screen.written) assert.ok(text.startsWith('\r\u001b[2K') && !text.includes('\n'))
})

test('the line never wraps', () => {
  const screen = createScreen({ columns: 20 })
  createProgress(screen).update('reading', 1, 2)
  assert.equal(screen.written[0], '\r\u001b[2Kreading  ██████████')
})

test('clear writes nothing if no line was drawn', () => {
  const screen = createScreen()
  createProgress(screen).clear()
  assert.deepEqual(screen.written, [])
})

test('nothing is written if the stream is not a terminal', () => {
  const pipe = createScreen({ isTTY: false })
  const progress = createProgress(pipe)
  progress.update('reading', 1, 2)
  progress.clear()
  assert.deepEqual(pipe.written, [])
})
