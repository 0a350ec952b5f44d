// The fenced blocks of a Markdown page: which of them run, what they should print, and why one does not run.

export interface Block {
  readonly language: string
  readonly code: string
  /** Of the first line of the code, from 1. */
  readonly line: number
  /** Why it is not run; null if it must run. */
  readonly reason: string | null
  /** It shows an error, so it must fail. */
  readonly mustFail: boolean
  /** The block with the output that follows it, without its fences; null if there is none. */
  readonly expected: { readonly text: string; readonly start: number; readonly end: number } | null
}

const FENCE = /^( *)```([\w-]*)[^\n]*\n([^]*?)^\1```$/gm
/** For the block below it; `on this page` for all of them. */
const REASON = /<!-- not run: ([^]+?) -->\s*$/
const PAGE_REASON = /<!-- not run on this page: ([^]+?) -->/
const FAILS = /<!-- fails on purpose -->\s*$/
const OUTPUT = new Set(['text', 'output'])

/** Blocks without a language are not examples: they show a file, a layout or a message. */
export function findBlocks(page: string): Block[] {
  const fences = [...page.matchAll(FENCE)]
  const pageReason = PAGE_REASON.exec(page)?.[1] ?? null
  return fences.flatMap(({ 0: whole, 1: indent = '', 2: language = '', 3: inner = '', index }, i): Block[] => {
    if (language === '' || OUTPUT.has(language)) return []
    const next = fences[i + 1]
    const isOutput =
      next !== undefined && OUTPUT.has(next[2] ?? '') && page.slice(index + whole.length, next.index).trim() === ''
    const start = isOutput ? next.index + (next[0].indexOf('\n') + 1) : 0
    const text = isOutput ? (next[3] ?? '') : ''
    return [
      {
        language,
        code: inner.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        line: page.slice(0, index).split('\n').length + 1,
        reason: REASON.exec(page.slice(0, index))?.[1] ?? pageReason,
        mustFail: FAILS.test(page.slice(0, index)),
        expected: isOutput ? { text, start, end: start + text.length } : null,
      },
    ]
  })
}

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** `…` stands for anything within a line; alone on a line, for any number of lines. */
export function matchesOutput(expected: string, printed: string): boolean {
  const lines = expected
    .trimEnd()
    .split('\n')
    .map((line) =>
      line.trim() === '…' ? '(?:[^\\n]*\\n)*' : `${line.trimEnd().split('…').map(escape).join('[^\\n]*')}\\n`,
    )
  return new RegExp(`^${lines.join('')}$`).test(`${printed.trimEnd()}\n`)
}

/** The page with what its blocks printed. Outputs that already match stay as they are. */
export function acceptOutputs(page: string, printed: ReadonlyMap<Block, string>): string {
  const changed = [...printed].filter(
    ([{ expected }, text]) => expected !== null && !matchesOutput(expected.text, text),
  )
  return changed
    .toSorted(([a], [b]) => (b.expected?.start ?? 0) - (a.expected?.start ?? 0))
    .reduce((text, [{ expected }, output]) => {
      if (expected === null) return text
      return `${text.slice(0, expected.start)}${output.trimEnd()}\n${text.slice(expected.end)}`
    }, page)
}
