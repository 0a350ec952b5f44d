// Measures contenders in turn, round by round, and compares them within a round, so that a slow moment of a shared machine
// affects all of them. Knows nothing about what it measures.

export interface Summary {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** What was measured for each contender, in the order of rounds. */
export type Rounds<Name extends string, Value> = Record<Name, Value[]>

/** Another contender starts each round. Without `isWarm` a first round warms up and is not counted. */
export async function measureInTurns<Name extends string, Value = number>(
  rounds: number,
  contenders: Record<Name, () => Promise<Value>>,
  { isWarm = false } = {},
): Promise<Rounds<Name, Value>> {
  const names = Object.keys(contenders) as Name[]
  const measured = Object.fromEntries(names.map((name) => [name, [] as Value[]])) as Rounds<Name, Value>
  for (let round = isWarm ? 1 : 0; round <= rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(turn + round) % names.length] as Name
      const value = await contenders[name]()
      if (round > 0) measured[name].push(value)
    }
  }
  return measured
}

export const ratios = (of: readonly number[], to: readonly number[]): number[] =>
  of.map((value, round) => value / (to[round] ?? Number.NaN))

export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const middle = sorted.slice(sorted.length % 2 === 0 ? half - 1 : half, half + 1)
  const median = middle.reduce((sum, value) => sum + value, 0) / middle.length
  return { median, low: sorted[0] ?? Number.NaN, high: sorted.at(-1) ?? Number.NaN }
}

/** `sorted` is in ascending order. */
export const percentile = (sorted: readonly number[], percent: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN

/** Differences between two runs up to this size mean nothing. */
export const noiseOf = ({ low, high }: Summary): number => (high - low) / 2
