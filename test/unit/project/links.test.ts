// Checks that every relative link in a Markdown file leads to an existing file and, with an anchor, to a heading in it.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')

const removeCodeBlocks = (text: string): string => text.replace(/^```[^]*?^```/gm, '')

/** Anchors as GitHub derives them from headings. A repeated heading gets a number. */
function listAnchors(text: string): string[] {
  const repeats = new Map<string, number>()
  return [...removeCodeBlocks(text).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const earlier = repeats.get(anchor) ?? 0
    repeats.set(anchor, earlier + 1)
    return earlier === 0 ? anchor : `${anchor}-${earlier}`
  })
}

/** `read` returns the text of a file, '' for a directory and null if there is neither. */
function findBrokenLinks(file: string, read: (file: string) => string | null): string[] {
  const text = removeCodeBlocks(read(file) ?? '').replace(/`[^`\n]*`/g, '')
  const targets = [...text.matchAll(/\]\(<?([^)>\s]+)>?\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z]+:/i.test(target))
    .filter((target) => {
      const [name = '', anchor] = target.split('#')
      const linked = read(name === '' ? file : path.join(path.dirname(file), name))
      return linked === null || (anchor !== undefined && !listAnchors(linked).includes(anchor))
    })
    .map((target) => `${file}: ${target}`)
}

function readFromRoot(file: string): string | null {
  const absolute = path.join(root, file)
  if (!existsSync(absolute)) return null
  return file.endsWith('.md') ? readFileSync(absolute, 'utf8') : ''
}

test('every relative link in a Markdown file has a target', () => {
  const files = globSync('**/*.md', { cwd: root, exclude: ['node_modules', 'dist', 'site/{node_modules,dist}'] })
  assert.ok(files.length > 20)
  assert.deepEqual(
    files.flatMap((file) => findBrokenLinks(file, readFromRoot)),
    [],
  )
})

test('a link to a missing file or heading fails the check', () => {
  const files: Record<string, string> = {
    'docs/a.md':
      '# A page\n[b](b.md) [c](b.md#the-second) [d](b.md#first) [e](gone.md) [f](#a-page) [g](#gone) [h](..)\n',
    'docs/b.md': '# The first\n## The second\n```\n# first\n```\n`[x](y.md)` [i](https://example.org/z.md)\n',
    '.': '',
  }
  const read = (file: string) => files[file] ?? null
  assert.deepEqual(findBrokenLinks('docs/a.md', read), [
    'docs/a.md: b.md#first',
    'docs/a.md: gone.md',
    'docs/a.md: #gone',
  ])
  assert.deepEqual(findBrokenLinks('docs/b.md', read), [])
})

test('a repeated heading has a numbered anchor', () => {
  assert.deepEqual(listAnchors('# Files\n## Files\n## `release.json`, and why'), [
    'files',
    'files-1',
    'releasejson-and-why',
  ])
})
