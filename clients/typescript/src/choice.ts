// How a response was counted, in words: what was chosen, and what else there is.

/** A set of counts that can be added up. `Outbreaks.follow` asks for it. */
export interface Choice {
  /** How it was counted, such as "WHO: national counts, confirmed cases". */
  readonly words: string
  readonly values: Readonly<Record<string, unknown>>
  /** What is known in all. */
  readonly counts: Readonly<Record<string, number | null>>
  readonly records: number
  readonly first_day: string | null
  readonly last_day: string | null
  /** The filters that select the set, as a query; null if no filters do. */
  readonly query: string | null
  /** The same query for this set only. */
  readonly url: string | null
  readonly [member: string]: unknown
}

/** One sentence: what was chosen, and how many other ways were left out. Null if there is only one way to count. */
export function describeChoice(answer: {
  readonly chosen?: readonly { readonly words: string }[]
  readonly left_out_total?: number
}): string | null {
  const { chosen = [], left_out_total: others = 0 } = answer
  const [first] = chosen
  if (first === undefined) return null
  const many = chosen.length === 1 ? '' : `${chosen.length} sets, one for each group or event, such as `
  const left = others === 1 ? '1 other way to count was' : `${others.toLocaleString('en')} other ways to count were`
  return `Counted as ${many}${first.words}; ${left} left out.`
}

/** A set in a line, with its numbers and days, and with its event if they differ. */
export function describeSet({ words, values, counts, query, first_day, last_day, ...rest }: Choice): string {
  const about = [rest['event'], values['event'], values['disease']].find((value) => typeof value === 'string')
  const known = Object.entries(counts ?? {}).filter(([, value]) => value !== null)
  const facts = [
    ...known.map(([name, value]) => `${value?.toLocaleString('en')} ${name}`),
    [...new Set([first_day, last_day])].filter(Boolean).join(' to '),
  ]
  return `${about ? `${about}: ` : ''}${words || query || 'other counts'} (${facts.filter(Boolean).join(', ')})`
}
