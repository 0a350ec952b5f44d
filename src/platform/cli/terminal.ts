// The output of a command: aligned text in colour at a terminal, JSON otherwise.
import { styleText } from 'node:util'
import { escapeControls, escapeInLines } from './escape-controls.ts'

type Cell = string | number | boolean | Date | null | undefined | readonly string[]
/** A list inside the output is shown as a table below the other values. */
export type CommandOutput = { readonly [name: string]: Cell | readonly CommandOutput[] }
type Style = Parameters<typeof styleText>[0]
/** Returns the text unchanged if the terminal has no colours or NO_COLOR is set. */
type Paint = (style: Style, text: string) => string

/** By the name of the column or by the text of the cell. */
const COLOURS: Readonly<Record<string, Style>> = {
  added: 'green',
  corrected: 'yellow',
  withdrawn: 'red',
  errors: 'red',
  error: 'red',
  warnings: 'yellow',
  warning: 'yellow',
}
const EMPTY_CELLS = ['0', '-']

export function formatOutput(output: CommandOutput | readonly CommandOutput[], stream: NodeJS.WriteStream): string {
  if (!stream.isTTY) return escapeInLines(JSON.stringify(output, null, 2))
  const paint: Paint = (style, text) => styleText(style, text, { stream })
  return Array.isArray(output) ? formatTable(output, paint) : formatList(output as CommandOutput, paint)
}

function formatList(output: CommandOutput, paint: Paint): string {
  const tables = Object.values(output).filter(isTable)
  const cells = Object.entries(output).filter(([, cell]) => !isTable(cell))
  const lines = cells.map(([name, cell]) => [styled('dim', escapeControls(name)), styleCell(name, cell as Cell)])
  return [align(lines, paint), ...tables.map((table) => formatTable(table, paint))].join('\n\n')
}

const isTable = (cell: Cell | readonly CommandOutput[]): cell is readonly CommandOutput[] =>
  Array.isArray(cell) && typeof cell[0] === 'object'

function formatTable(records: readonly CommandOutput[], paint: Paint): string {
  const names = Object.keys(records[0] ?? {})
  if (names.length === 0) return '(none)'
  const header = names.map((name) => styled('dim', escapeControls(name)))
  const rows = records.map((record) => names.map((name) => styleCell(name, record[name] as Cell)))
  return align([header, ...rows], paint)
}

interface StyledText {
  text: string
  style: Style | undefined
}
const styled = (style: Style | undefined, text: string): StyledText => ({ text, style })

function styleCell(name: string, cell: Cell): StyledText {
  const text = escapeControls(formatCell(cell))
  return styled(EMPTY_CELLS.includes(text) ? undefined : (COLOURS[name] ?? COLOURS[text]), text)
}

function align(lines: readonly StyledText[][], paint: Paint): string {
  const widths = (lines[0] ?? []).map((_cell, i) => Math.max(...lines.map((line) => line[i]?.text.length ?? 0)))
  const formatLine = (line: readonly StyledText[]) =>
    line
      .map(({ text, style }, i) => {
        // Colour codes have no width, so the padding is computed from the text without them.
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
