// The words of a page that neither the dictionary (British English) nor words.txt has. Code, names and addresses do not count.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

type Checker = { correct(word: string): boolean }

/** Text without code, addresses, comments, and names in backticks or with underscores. */
const readWords = (markdown: string): string[] =>
  markdown
    .replace(/^ *```[^]*?^ *```[^\n]*$/gm, ' ')
    .replace(/<!--[^]*?-->|`[^`\n]*`|\]\([^)]*\)|https?:\S+|<[^>]+>/g, ' ')
    .match(/[\p{L}][\p{L}\p{N}’'_./-]*/gu)
    ?.filter((word) => !/[\d_/.]|^\p{Lu}+s?$|\p{Ll}\p{Lu}/u.test(word.replace(/[.']+$/, '')))
    .flatMap((word) =>
      word
        .replace(/[.'’]+$/, '')
        .replace(/[’']s$/, '')
        .split('-'),
    )
    .filter((word) => word.length > 2) ?? []

/** Null if the packages of the site are not installed. */
export async function createSpelling(): Promise<((markdown: string) => string[]) | null> {
  const packages = path.join(import.meta.dirname, 'node_modules')
  if (!existsSync(path.join(packages, 'nspell'))) return null
  const { default: nspell } = (await import(path.join(packages, 'nspell/lib/index.js'))) as {
    default: (aff: Buffer, dic: Buffer) => Checker
  }
  const read = (name: string) => readFileSync(path.join(packages, 'dictionary-en-gb', name))
  const checker = nspell(read('index.aff'), read('index.dic'))
  const own = new Set(
    readFileSync(path.join(import.meta.dirname, 'words.txt'), 'utf8')
      .toLowerCase()
      .split('\n'),
  )
  const known = new Map<string, boolean>()
  return (markdown) =>
    [...new Set(readWords(markdown))].filter((word) => {
      const lower = word.toLowerCase()
      const isKnown = known.get(word) ?? (own.has(lower) || checker.correct(word) || checker.correct(lower))
      known.set(word, isKnown)
      return !isKnown
    })
}
