// Faults that npm run mutants plants: each kind is found, and each changes one place.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findMutations } from '../../mutants/mutations.ts'

const mutantsOf = (text: string) =>
  findMutations('src/a.ts', text)
    .map(({ mutant }) => mutant)
    .sort()

describe('planted', () => {
  const cases: [fault: string, text: string, mutants: string[]][] = [
    ['a removed guard that throws', "if (wrong) throw new Error('no')", ["if (false) throw new Error('no')"]],
    ['a removed guard that returns', 'if (done) { log(); return }', ['if (false) { log(); return }']],
    ['a shifted boundary', 'const a = b < c', ['const a = b <= c']],
    ['an inverted comparison', 'const a = b === c', ['const a = b !== c']],
    ['an exchanged operator', 'const a = b && c', ['const a = b || c']],
    ['a negated condition', 'const a = b ? 1 : 2', ['const a = !(b) ? 1 : 2']],
    ['a dropped negation', 'const a = !b', ['const a = b']],
    [
      'a condition in SQL',
      'const a = sql`select 1 where b and c >= 2`',
      ['const a = sql`select 1 where b and c > 2`', 'const a = sql`select 1 where b or c >= 2`'],
    ],
  ]
  for (const [fault, text, mutants] of cases) {
    test(fault, () => assert.deepEqual(mutantsOf(text), mutants))
  }

  test('nothing in other templates, and no branch that goes on', () => {
    assert.deepEqual(mutantsOf('const a = html`b and c`\nif (d) e()'), [])
  })
})

test('a mutation names its line and changes nothing else', () => {
  const [mutation] = findMutations('src/a.ts', 'const a = 1\n  const b = a > 2\n')
  assert.deepEqual(mutation, {
    line: 2,
    code: 'const b = a > 2',
    mutant: 'const b = a >= 2',
    text: 'const a = 1\n  const b = a >= 2\n',
  })
})

test('the order is the same each time and does not follow the lines', () => {
  const text = Array.from({ length: 20 }, (_, i) => `const a${i} = b < ${i}`).join('\n')
  const lines = findMutations('src/a.ts', text).map(({ line }) => line)
  assert.deepEqual(
    lines,
    findMutations('src/a.ts', text).map(({ line }) => line),
  )
  assert.notDeepEqual(
    lines,
    lines.toSorted((a, b) => a - b),
  )
})
