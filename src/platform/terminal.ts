// What a command answers: aligned text for a person at a terminal, JSON for a program behind a pipe.
type Cell = string | number | boolean | Date | null | undefined | readonly string[]
/** A list inside an answer is shown as a table below it. */
export type Answer = { readonly [name: string]: Cell | readonly Answer[] }

export function formatAnswer(answer: Answer | readonly Answer[], forPerson: boolean): string {
  if (!forPerson) return JSON.stringify(answer, null, 2)
  return Array.isArray(answer) ? formatTable(answer) : formatList(answer as Answer)
}

function formatList(answer: Answer): string {
  const tables = Object.values(answer).filter(isTable)
  const cells = Object.entries(answer).filter(([, cell]) => !isTable(cell))
  const width = Math.max(...cells.map(([name]) => name.length))
  const lines = cells.map(([name, cell]) => `${name.padEnd(width)}  ${formatCell(cell as Cell)}`)
  return [lines.join('\n'), ...tables.map(formatTable)].join('\n\n')
}

const isTable = (cell: Cell | readonly Answer[]): cell is readonly Answer[] =>
  Array.isArray(cell) && typeof cell[0] === 'object'

function formatTable(answers: readonly Answer[]): string {
  const names = Object.keys(answers[0] ?? {})
  if (names.length === 0) return '(none)'
  const lines = [names, ...answers.map((answer) => names.map((name) => formatCell(answer[name] as Cell)))]
  const widths = names.map((_name, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (cell instanceof Date) return cell.toISOString().replace(/\.\d+/, '')
  return Array.isArray(cell) ? cell.join(' ') || '-' : String(cell)
}
