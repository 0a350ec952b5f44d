// A table that scrolls within its frame, also with the keyboard.
import type { ComponentChildren } from 'preact'

interface Column {
  readonly name: string
  readonly isNumber?: boolean
  /** The order if this column is clicked; absent if it cannot be. */
  readonly sort?: { readonly isOn: boolean; readonly onSort: () => void }
}

interface TableProps {
  readonly label: string
  readonly columns: readonly (string | Column)[]
  readonly caption?: string
  readonly class?: string
  readonly children: ComponentChildren
}

export function Table({ label, columns, caption, class: name = '', children }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table class={`table ${name}`}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((given) => {
              const column: Column = typeof given === 'string' ? { name: given } : given
              return (
                <th
                  key={column.name}
                  scope="col"
                  class={column.isNumber === true ? 'r' : undefined}
                  aria-sort={column.sort?.isOn === true ? 'descending' : undefined}
                >
                  {column.sort === undefined ? (
                    column.name
                  ) : (
                    <button class="sort" type="button" onClick={column.sort.onSort}>
                      {column.name} <span aria-hidden="true">{column.sort.isOn ? '↓' : ''}</span>
                    </button>
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
