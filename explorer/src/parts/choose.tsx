// One of several: buttons beside each other, or a list. Or yes and no.
import { Icon } from './icon.tsx'

interface ChooseProps<Option extends string> {
  readonly label: string
  readonly value: Option
  readonly options: readonly Option[]
  readonly names: Readonly<Record<Option, string>>
  readonly onChoose: (option: Option) => void
}

/** The option that an arrow key leads to; null for another key. */
export function optionAfter<Option extends string>(
  { key }: KeyboardEvent,
  options: readonly Option[],
  value: Option,
): Option | null {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
  if (step === undefined) return null
  return options[(options.indexOf(value) + step + options.length) % options.length] ?? null
}

/** Arrow keys move and choose. */
export function Segmented<Option extends string>({ label, value, options, names, onChoose }: ChooseProps<Option>) {
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const next = optionAfter(event, options, value)
    if (next === null) return
    event.preventDefault()
    onChoose(next)
    const button = event.currentTarget.children[options.indexOf(next)]
    if (button instanceof HTMLElement) button.focus()
  }
  return (
    <div class="seg" role="radiogroup" aria-label={label} onKeyDown={onKeyDown}>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          role="radio"
          aria-checked={option === value}
          tabIndex={option === value ? 0 : -1}
          onClick={() => onChoose(option)}
        >
          {names[option]}
        </button>
      ))}
    </div>
  )
}

export function Select<Option extends string>({ label, value, options, names, onChoose }: ChooseProps<Option>) {
  return (
    <label class="pick">
      <span>{label}</span>
      <span class="select">
        <select value={value} onChange={(event) => onChoose(event.currentTarget.value as Option)}>
          {options.map((option) => (
            <option key={option} value={option}>
              {names[option]}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </span>
    </label>
  )
}

export function Check({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <label class="pick">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}
