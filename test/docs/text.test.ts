// The words of the documentation: spelling by a dictionary and the list of the project. Planted misspellings must be found.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { listSources, root } from '../../site/pages.ts'
import { createSpelling } from '../../site/spelling.ts'

const findMisspelt = await createSpelling()
if (findMisspelt === null)
  test('spelling', { skip: 'the packages of the site are missing: npm ci --prefix site' }, () => {})
else {
  for (const source of ['README.md', ...listSources()])
    test(`${source}: every word is spelt right`, () => {
      assert.deepEqual(findMisspelt(readFileSync(path.join(root, source), 'utf8')), [])
    })

  test('misspelt words are found in text, but not in code, addresses and names', () => {
    const page =
      'An epidemc curve, two relases. `relases` [x](relases.md) https://x.test/relases RELASES case_statuss\n```\nrelases\n```\n'
    assert.deepEqual(findMisspelt(page), ['epidemc', 'relases'])
  })

  test('the list of words has no word twice, and none that the pages do not use', () => {
    const words = readFileSync(path.join(root, 'site/words.txt'), 'utf8').split('\n').slice(1, -1)
    assert.equal(new Set(words).size, words.length)
    const text = ['README.md', ...listSources()].map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n')
    assert.deepEqual(
      words.filter((word) => !text.toLowerCase().includes(word.toLowerCase())),
      [],
    )
  })
}
