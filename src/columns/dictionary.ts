// Numbers the texts of a column index. Every field has its own numbers. A number never changes its meaning.
export interface DictionaryEntry {
  readonly field: string
  readonly value: string
  readonly code: number
}

export interface Dictionary {
  /** The number of a string. A new string gets the next number of its field. */
  codeOf(field: string, value: string): number
  /** The number of a string that the dictionary has. */
  findCode(field: string, value: string): number | undefined
  valueOf(field: string, code: number): string
  /** The entries that were added since the last call. */
  takeNewEntries(): readonly DictionaryEntry[]
}

export function createDictionary(entries: Iterable<DictionaryEntry>): Dictionary {
  const fields = new Map<string, { codes: Map<string, number>; values: string[] }>()
  const added: DictionaryEntry[] = []

  function open(field: string) {
    const known = fields.get(field)
    if (known !== undefined) return known
    const created = { codes: new Map<string, number>(), values: [] }
    fields.set(field, created)
    return created
  }

  for (const { field, value, code } of entries) {
    const { codes, values } = open(field)
    codes.set(value, code)
    values[code] = value
  }
  return {
    codeOf(field, value) {
      const { codes, values } = open(field)
      const known = codes.get(value)
      if (known !== undefined) return known
      const code = values.length
      codes.set(value, code)
      values.push(value)
      added.push({ field, value, code })
      return code
    },
    findCode: (field, value) => fields.get(field)?.codes.get(value),
    valueOf(field, code) {
      const value = fields.get(field)?.values[code]
      if (value === undefined) throw new Error(`the dictionary of ${field} has no entry ${code}`)
      return value
    },
    takeNewEntries: () => added.splice(0),
  }
}
