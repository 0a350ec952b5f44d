// The end of each check of the packages: what is wrong, the line that clients/verify.ts reads, and the exit status.

/** How many checks were made, and what is wrong, as sentences. */
export interface Findings {
  readonly checks: number
  readonly faults: readonly string[]
}

/** A program that has checked nothing fails too. */
export function reportFindings(name: string, { checks, faults }: Findings): void {
  for (const fault of faults) console.log(fault)
  console.log(`${name}: ${Math.max(0, checks - faults.length)} passed, ${faults.length} failed`)
  process.exitCode = faults.length === 0 && checks > 0 ? 0 : 1
}

export const addFindings = (all: readonly Findings[]): Findings => ({
  checks: all.reduce((sum, { checks }) => sum + checks, 0),
  faults: all.flatMap(({ faults }) => faults),
})
