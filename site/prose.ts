// The text of a Markdown page as a reader meets it: its sentences, its words and its lines, without code, and what the house style
// (docs/writing.md) says about them.

const CODE_BLOCK = /^ *```[^]*?^ *```[^\n]*$/gm
const COMMENT = /<!--[^]*?-->/g
/** What a program writes into a page, from `<!-- results: written by … -->` to `<!-- end of results -->`. */
const WRITTEN = /<!-- (\w+): written by [^]*?<!-- end of \1 -->/g
/** A sentence ends here, unless the mark belongs to a number or an abbreviation. */
const END = /(?<=[.!?]["”')]?)\s+(?=["“'(]?[\p{Lu}\d`*_[…])/u
/** What the house style replaces, outside code. `docs/writing.md` has the words to use instead. */
const AVOIDED = [
  ...['for ever', 'meanwhile', 'further', 'beside', 'by itself', 'by themselves', 'whatever', 'thereby', 'need not'],
  ...['somebody', 'nobody', 'everybody', 'whoever', 'at once', 'at the moment', 'try again shortly', 'newest'],
  ...['refuse[sd]?', 'refusals?', 'walks?', 'switched off', 'recipes?', 'mend', 'vintages?', 'as which', 'with which'],
  ...['gives \\d{3}', 'of its own', 'of their own', 'kept connections?', "operator's shell", 'rest of the quota'],
  ...['credentials? that', 'interface(?! specification)', 'time machine', 'also', '\\d %', 'ends? at once'],
]
const AVOIDED_TERM = new RegExp(`(?<![\\w-])(?:${AVOIDED.join('|')})(?![\\w-])`, 'giu')

const withoutCode = (markdown: string): string =>
  markdown.replace(CODE_BLOCK, '').replace(WRITTEN, '').replace(COMMENT, '')

/** Links become their text, and a name in backticks one word. */
const readText = (markdown: string): string =>
  markdown
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'Code')
    .replace(/\*\*|(?<!\w)[*_]|[*_](?!\w)/g, '')

const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Paragraphs and items of lists, each on one line; no tables, headings or code. */
function listParagraphs(markdown: string): string[] {
  const paragraphs: string[] = []
  let isOpen = false
  for (const line of withoutCode(markdown).split('\n')) {
    const isItem = /^\s*(?:[-*+]|\d+\.)\s/.test(line)
    const isText = !/^\s*(?:[|#>]|$)/.test(line)
    const text = line.replace(/^\s*(?:[-*+]|\d+\.)\s+/, '').trim()
    if (isText && isOpen && !isItem) paragraphs.push(`${paragraphs.pop() ?? ''} ${text}`)
    else if (isText) paragraphs.push(text)
    isOpen = isText
  }
  return paragraphs
}

const listSentences = (markdown: string): string[] =>
  listParagraphs(markdown)
    .flatMap((paragraph) => readText(paragraph).split(END))
    .map((sentence) => sentence.trim())
    .filter((sentence) => countWords(sentence) > 0)

export const countPageWords = (markdown: string): number => countWords(readText(withoutCode(markdown)))

const MAX_WORDS = 25
const MAX_WIDTH = 100

export const findLongSentences = (markdown: string): string[] =>
  listSentences(markdown).filter((sentence) => countWords(sentence) > MAX_WORDS)

/** A table is as wide as it is, and a link or a picture cannot be broken. */
export const findWideLines = (markdown: string): string[] =>
  withoutCode(markdown)
    .split('\n')
    .filter((line) => line.length > MAX_WIDTH && !/^\s*(?:\||!\[|#)/.test(line))
    .filter((line) => line.replace(/\]\([^)]*\)|`[^`]*`/g, '').length > MAX_WIDTH)

export const findAvoidedTerms = (markdown: string): string[] =>
  (readText(withoutCode(markdown)).match(AVOIDED_TERM) ?? []).map((term) => term.toLowerCase())
