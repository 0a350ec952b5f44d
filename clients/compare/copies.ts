// The copies that the programs of the packages keep: compares them with the published files, release by release.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Findings } from '../report.ts'

interface Lines {
  readonly sha256: string
  readonly records: number
}

/** A line that a program prints after each release: its copy, and how many changes it applied. */
export interface Step extends Lines {
  readonly release: number
  readonly changes: number
}

/** Describes a file with a record on each line. */
export async function describeLines(file: string): Promise<Lines> {
  const bytes = await readFile(file)
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    records: bytes.toString('latin1').split('\n').length - 1,
  }
}

/** `published` has the file of each release from 1 on. The copy must be that file after each of them. */
export function compareCopies(name: string, steps: readonly Step[], published: readonly Lines[]): Findings {
  const faults = published.flatMap(({ sha256, records }, index) => {
    const release = index + 1
    const step = steps.find((one) => one.release === release)
    if (step === undefined) return [`${name}: there is no copy of release ${release}`]
    const isSame = step.sha256 === sha256 && step.records === records
    return isSame ? [] : [`${name}: the copy of release ${release} differs from the published file`]
  })
  return { checks: published.length, faults }
}
