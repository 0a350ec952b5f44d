// A table that scrolls within its frame, also with the keyboard.
import type { ComponentChildren } from 'preact'

interface TableProps {
  readonly label: string
  readonly columns: readonly string[]
  readonly caption?: string
  readonly children: ComponentChildren
}

export function Table({ label, columns, caption, children }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
