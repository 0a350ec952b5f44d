// Why no test notices a planted fault: it changes nothing that can be observed, or costs more to notice than it harms.
import type { Mutant } from './report.ts'

interface Survivor {
  readonly source: string
  /** The line without and with the fault. */
  readonly code: string
  readonly mutant: string
  readonly reason: string
}

const survivors: readonly Survivor[] = []

type Planted = Pick<Mutant, 'source' | 'code' | 'mutant'>

const isSame = (a: Planted, b: Planted): boolean => a.source === b.source && a.code === b.code && a.mutant === b.mutant

export const reasonFor = (planted: Planted): string | null =>
  survivors.find((survivor) => isSame(survivor, planted))?.reason ?? null

/** Reasons for faults that a test does notice. */
export const staleReasons = (mutants: readonly Mutant[]): Survivor[] =>
  survivors.filter((survivor) => mutants.some((mutant) => mutant.killed && isSame(survivor, mutant)))
