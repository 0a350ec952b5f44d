// The words of the documentation: spelling, the length of sentences, lines and pages, and the terms of docs/writing.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { listSources, root, SECTIONS } from '../../site/pages.ts'
import { countPageWords, findAvoidedTerms, findLongSentences, findWideLines } from '../../site/prose.ts'
import { createSpelling } from '../../site/spelling.ts'

const pages = ['README.md', ...listSources()]
const readSource = (source: string) => readFileSync(path.join(root, source), 'utf8')
/** Its lines are as long as a description, and the words are in the code. */
const isGenerated = (text: string) => text.slice(0, 400).includes('do not edit by hand')

for (const source of pages)
  test(`${source}: no long sentence, avoided term or wide line`, () => {
    const text = readSource(source)
    // The page that lists the terms has all of them.
    const avoided = text.startsWith('# Writing\n') ? [] : findAvoidedTerms(text)
    const long = isGenerated(text) ? [] : [...findLongSentences(text), ...findWideLines(text)]
    assert.deepEqual([...avoided, ...long], [])
  })

test('a long sentence, an avoided term and a wide line are found, but not in code, tables and links', () => {
  const words = (count: number) => Array.from({ length: count }, () => 'word').join('\n')
  const wide = 'x'.repeat(101)
  const page = `# Newest\n\nA ${words(24)}. A ${words(25)}.\n\n- the newest, at once\n- \`newest\`\n\n| ${wide} |\n\n[a](${wide})\n\n${wide}\n\n\`\`\`\nwalk ${wide}\n\`\`\`\n`
  assert.equal(findLongSentences(page).length, 1)
  assert.deepEqual(findAvoidedTerms(page), ['newest', 'newest', 'at once'])
  assert.deepEqual(findWideLines(page), [wide])
})

/** Words outside code, by what a page is for; what people look up is complete, and as long as it is. */
const MAX_PAGE_WORDS: Readonly<Record<string, number>> = { Learn: 600, Do: 700, Understand: 1200 }
for (const { label, groups } of SECTIONS)
  for (const source of groups.flatMap(({ sources }) => sources))
    test(`${source}: not longer than a page under "${label}" may be`, () => {
      assert.ok(countPageWords(readSource(source)) <= (MAX_PAGE_WORDS[label] ?? Number.POSITIVE_INFINITY))
    })

/** Of all pages for people who use or run the service: neither generated ones nor those about the code. */
const MAX_WORDS_FOR_READERS = 40_000
test('the pages for readers have no more words than a reader can look through', () => {
  const groups = SECTIONS.flatMap((section) => section.groups).filter(({ label }) => label !== 'The code')
  // The changelog grows with each change, and has its own limit.
  const sources = groups.flatMap((group) => group.sources).filter((source) => source !== 'CHANGELOG.md')
  const texts = ['README.md', 'docs/README.md', ...sources].map(readSource)
  const words = texts.filter((text) => !isGenerated(text)).reduce((sum, text) => sum + countPageWords(text), 0)
  assert.ok(words <= MAX_WORDS_FOR_READERS, `${words} words: shorten a page, or merge two`)
})

test('the words of a page are counted outside code', () => {
  assert.equal(countPageWords('# One\n\ntwo [three four](x.md) `five six`\n\n```\nseven\n```\n'), 5)
})

const findMisspelt = await createSpelling()
if (findMisspelt === null)
  test('spelling', { skip: 'the packages of the site are missing: npm ci --prefix site' }, () => {})
else {
  for (const source of pages)
    test(`${source}: every word is spelt right`, () => {
      assert.deepEqual(findMisspelt(readSource(source)), [])
    })

  test('misspelt words are found in text, but not in code, addresses and names', () => {
    const page =
      'An epidemc curve, two relases. `relases` [x](relases.md) https://x.test/relases RELASES case_statuss\n```\nrelases\n```\n'
    assert.deepEqual(findMisspelt(page), ['epidemc', 'relases'])
  })

  test('the list of words has no word twice, and none that the pages do not use', () => {
    const words = readFileSync(path.join(root, 'site/words.txt'), 'utf8').split('\n').slice(1, -1)
    assert.equal(new Set(words).size, words.length)
    const text = pages.map(readSource).join('\n')
    assert.deepEqual(
      words.filter((word) => !text.toLowerCase().includes(word.toLowerCase())),
      [],
    )
  })
}
