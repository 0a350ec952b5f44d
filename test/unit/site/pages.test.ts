// The pages of the site: every Markdown file has a place, and links lead to pages, pictures or the repository.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { hashScripts } from '../../../site/build.ts'
import { readPage, wrapTables } from '../../../site/markdown.ts'
import { addressOf, isForContributors, labelOf, listSources, root, SECTIONS, slugOf } from '../../../site/pages.ts'

test('every page has its own URL', () => {
  const sources = listSources()
  assert.ok(sources.length > 60)
  assert.equal(new Set(sources.map(slugOf)).size, sources.length)
  assert.equal(addressOf('docs/README.md'), '/docs/')
  assert.equal(addressOf('docs/decisions/README.md'), '/docs/decisions/')
  assert.equal(addressOf('clients/python/examples/README.md'), '/docs/clients/python/examples/')
})

test('the navigation has every page but the start page and those for contributors, once', () => {
  const listed = SECTIONS.flatMap(({ groups }) => groups.flatMap(({ sources }) => sources))
  const expected = listSources().filter((source) => source !== 'docs/README.md' && !isForContributors(source))
  assert.deepEqual(listed.toSorted(), expected.toSorted())
})

for (const source of listSources())
  test(`${source}: a title, a sentence about it, and pictures that exist`, () => {
    const { title, description, pictures } = readPage(source, readFileSync(path.join(root, source), 'utf8'))
    assert.ok(title.length > 1)
    assert.ok(description.length >= 10, description)
    for (const picture of pictures) assert.ok(existsSync(path.join(root, picture)), picture)
  })

test('clients have their language as label; pages for contributors are not searched', () => {
  assert.equal(labelOf('clients/r/examples/README.md'), 'R')
  assert.equal(labelOf('docs/errors.md'), undefined)
  assert.equal(isForContributors('docs/decisions/0001-releases-and-versions.md'), true)
  assert.equal(isForContributors('docs/decisions/README.md'), false)
})

test('links are rewritten outside of code only', () => {
  const sources = new Set(['docs/a.md', 'docs/b.md', 'docs/decisions/README.md', 'clients/r/README.md'])
  const text = [
    '# The `A_KEY`\n\nA _page_ about **things**, with [b](b.md#part). More.\n',
    '[d](decisions/README.md) [e](decisions/) [f](../clients/r/README.md) [g](../src/app.ts) [h](https://x.test/b.md)',
    '![i](images/i.png) [j](openapi.json) [k](#part) [l](../README.md#try-it) `[m](b.md)`',
    '```sh\n[n](b.md)\n```\n<!-- not run: no -->',
  ].join('\n')
  const page = readPage('docs/a.md', text, sources)
  assert.equal(page.title, 'The A_KEY')
  assert.equal(page.description, 'A page about things, with b.')
  assert.deepEqual(page.pictures, ['docs/images/i.png'])
  assert.deepEqual(
    [...page.body.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target),
    [
      ...['/docs/b/#part', '/docs/decisions/', '/docs/decisions/', '/docs/clients/r/'],
      'https://github.com/outbreak-data-service/outbreak-data-service/blob/main/src/app.ts',
      ...['https://x.test/b.md', '/docs/files/docs/images/i.png', '/openapi.json', '#part', '/docs/#try-it'],
      ...['b.md', 'b.md'],
    ],
  )
  assert.doesNotMatch(page.body, /not run/)
  assert.throws(() => readPage('docs/a.md', 'No title\n', sources), /title/)
})

test('the keyboard reaches a table that scrolls', () => {
  assert.equal(
    wrapTables('<p>a</p><table><tr></tr></table>'),
    '<p>a</p><div class="table" tabindex="0"><table><tr></tr></table></div>',
  )
})

test('inline scripts are hashed, others are not', () => {
  const html = '<script>a()</script><script type="module">b()</script><script src="/c.js"></script><script></script>'
  assert.deepEqual(hashScripts(html), [
    "'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4='",
    "'sha256-cf242PFc/kb7xD0Qzhsmd9vvRkc+cWFmbi+k+YvtdKc='",
  ])
})
