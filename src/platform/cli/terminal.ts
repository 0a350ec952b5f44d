// What a command answers: aligned text in colour for a person at a terminal, JSON for a program behind a pipe.
import { styleText } from 'node:util'

type Cell = string | number | boolean | Date | null | undefined | readonly string[]
/** A list inside an answer is shown as a table below it. */
export type CommandOutput = { readonly [name: string]: Cell | readonly CommandOutput[] }
type Style = Parameters<typeof styleText>[0]
/** Gives the text back as it is where the terminal, or NO_COLOR, wants no colour. */
type Paint = (style: Style, text: string) => string

/** What draws the eye, by the name of its column or by the word itself. */
const COLOURS: Readonly<Record<string, Style>> = {
  added: 'green',
  corrected: 'yellow',
  withdrawn: 'red',
  errors: 'red',
  error: 'red',
  warnings: 'yellow',
  warning: 'yellow',
}
const NOTHING = ['0', '-']

export function formatOutput(answer: CommandOutput | readonly CommandOutput[], stream: NodeJS.WriteStream): string {
  if (!stream.isTTY) return JSON.stringify(answer, null, 2)
  const paint: Paint = (style, text) => styleText(style, text, { stream })
  return Array.isArray(answer) ? formatTable(answer, paint) : formatList(answer as CommandOutput, paint)
}

function formatList(answer: CommandOutput, paint: Paint): string {
  const tables = Object.values(answer).filter(isTable)
  const cells = Object.entries(answer).filter(([, cell]) => !isTable(cell))
  const lines = cells.map(([name, cell]) => [paintable('dim', name), paintableCell(name, cell as Cell)])
  return [align(lines, paint), ...tables.map((table) => formatTable(table, paint))].join('\n\n')
}

const isTable = (cell: Cell | readonly CommandOutput[]): cell is readonly CommandOutput[] =>
  Array.isArray(cell) && typeof cell[0] === 'object'

function formatTable(answers: readonly CommandOutput[], paint: Paint): string {
  const names = Object.keys(answers[0] ?? {})
  if (names.length === 0) return '(none)'
  const head = names.map((name) => paintable('dim', name))
  const rows = answers.map((answer) => names.map((name) => paintableCell(name, answer[name] as Cell)))
  return align([head, ...rows], paint)
}

interface Paintable {
  text: string
  style: Style | undefined
}
const paintable = (style: Style | undefined, text: string): Paintable => ({ text, style })

function paintableCell(name: string, cell: Cell): Paintable {
  const text = formatCell(cell)
  return paintable(NOTHING.includes(text) ? undefined : (COLOURS[name] ?? COLOURS[text]), text)
}

function align(lines: readonly Paintable[][], paint: Paint): string {
  const widths = (lines[0] ?? []).map((_cell, i) => Math.max(...lines.map((line) => line[i]?.text.length ?? 0)))
  const formatLine = (line: readonly Paintable[]) =>
    line
      .map(({ text, style }, i) => {
        // Colour takes no room, so it comes after the measuring.
        const painted = style === undefined ? text : paint(style, text)
        return painted + ' '.repeat((widths[i] ?? 0) - text.length)
      })
      .join('  ')
      .trimEnd()
  return lines.map(formatLine).join('\n')
}

function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (cell instanceof Date) return cell.toISOString().replace(/\.\d+/, '')
  return Array.isArray(cell) ? cell.join(' ') || '-' : String(cell)
}
