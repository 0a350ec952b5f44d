// Why no test notices a planted fault: it changes nothing that can be observed, or costs more to notice than it harms.
import type { Mutant } from './report.ts'

interface Survivor {
  readonly source: string
  /** The line with the fault, as it is without it. */
  readonly code: string
  readonly before: string
  readonly after: string
  readonly reason: string
}

const survivors: readonly Survivor[] = []

type Planted = Pick<Mutant, 'source' | 'code' | 'before' | 'after'>

const isSame = (a: Planted, b: Planted): boolean =>
  a.source === b.source && a.code === b.code && a.before === b.before && a.after === b.after

export const reasonFor = (planted: Planted): string | null =>
  survivors.find((survivor) => isSame(survivor, planted))?.reason ?? null

/** Reasons for faults that a test does notice. */
export const staleReasons = (mutants: readonly Mutant[]): Survivor[] =>
  survivors.filter((survivor) => mutants.some((mutant) => mutant.killed && isSame(survivor, mutant)))
