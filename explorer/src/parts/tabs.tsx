// Tabs above a panel whose id they name. Arrow keys move and choose.
import { optionAfter } from './choose.tsx'

interface TabsProps<Option extends string> {
  readonly label: string
  /** Of the panel. Its `aria-labelledby` is this, a dash and the option. */
  readonly panel: string
  readonly value: Option
  readonly options: readonly Option[]
  readonly names: Readonly<Record<Option, string>>
  readonly onChoose: (option: Option) => void
}

export function Tabs<Option extends string>({ label, panel, value, options, names, onChoose }: TabsProps<Option>) {
  const onKeyDown = (event: KeyboardEvent) => {
    const next = optionAfter(event, options, value)
    if (next === null) return
    onChoose(next)
    document.getElementById(`${panel}-${next}`)?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          role="tab"
          id={`${panel}-${option}`}
          aria-selected={option === value}
          aria-controls={panel}
          tabIndex={option === value ? 0 : -1}
          onClick={() => onChoose(option)}
        >
          {names[option]}
        </button>
      ))}
    </div>
  )
}
