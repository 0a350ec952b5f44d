// Compares the durations of two kinds of work on a busy machine: can they be distinguished?

interface Comparison {
  /** Microseconds by which the second kind is slower: the median of all rounds. */
  readonly gap: number
  /** Microseconds by which two halves of the same kind differ in a round. */
  readonly noise: number
  readonly distinguishable: boolean
}

type Work = (i: number) => unknown

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/**
 * Interleaves the kinds, alternates which runs first, and compares medians in each round, so that neither a slow period
 * nor a few slow calls decide. The noise is the same statistic for two halves of one kind.
 */
export async function compareTimes(first: Work, second: Work, rounds: number, perRound: number): Promise<Comparison> {
  const gaps: number[] = []
  const noises: number[] = []
  for (let round = 0; round < rounds; round++) {
    const times: [number[], number[]] = [[], []]
    for (let i = 0; i < perRound; i++) {
      for (const kind of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const startedAt = performance.now()
        await (kind === 0 ? first : second)(round * perRound + i)
        times[kind].push((performance.now() - startedAt) * 1000)
      }
    }
    gaps.push(median(times[1]) - median(times[0]))
    // Halves consist of pairs of calls, so that both halves ran first equally often.
    for (const kindTimes of times) noises.push(Math.abs(medianOfHalf(kindTimes, 0) - medianOfHalf(kindTimes, 1)))
  }
  const gap = median(gaps)
  const noise = median(noises)
  return { gap, noise, distinguishable: Math.abs(gap) >= 3 * noise }
}

const medianOfHalf = (times: readonly number[], half: number) =>
  median(times.filter((_time, i) => Math.floor(i / 2) % 2 === half))
