// A list from which one value is chosen.
interface SelectProps<Option extends string> {
  readonly label: string
  readonly value: Option
  readonly options: readonly Option[]
  readonly names: Readonly<Record<Option, string>>
  readonly onChoose: (option: Option) => void
}

export function Select<Option extends string>({ label, value, options, names, onChoose }: SelectProps<Option>) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as Option)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {names[option]}
          </option>
        ))}
      </select>
    </label>
  )
}
