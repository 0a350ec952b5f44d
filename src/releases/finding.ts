// What is wrong with an input: where, by which rule, how bad, and in a sentence the operator can act on.
import { OperatorFault } from '../platform/operator-fault.ts'

export interface Finding {
  file: string
  line: number
  column: string | null
  rule: string
  /** An error rejects the input; a warning is only said. */
  severity: 'error' | 'warning'
  message: string
}

/** A finding, as far as a row can tell. */
export type RowFault = Pick<Finding, 'column' | 'rule' | 'message'>

const SHOWN = 20
/** Past this many errors the input is not read further: it is another file than the operator thinks. */
const ENOUGH = 1000

export class InputFault extends OperatorFault {
  readonly findings: readonly Finding[]

  constructor(findings: readonly Finding[]) {
    const lines = findings.slice(0, SHOWN).map(describeFinding)
    const more = findings.length > SHOWN ? [`… and ${findings.length - SHOWN} more`] : []
    super(['the input has faults and is not published', ...lines, ...more].join('\n  '))
    this.findings = findings
  }
}

const describeFinding = ({ file, line, column, message }: Finding): string =>
  `${file}:${line}${column === null ? '' : ` ${column}`}: ${message}`

/** An error in one line of a file. */
export const errorAt =
  (file: string, line: number) =>
  (column: string | null, rule: string, message: string): Finding => ({
    file,
    line,
    column,
    rule,
    severity: 'error',
    message,
  })

/** A fault after which a file cannot be read on. */
export const unreadable = (file: string, line: number, rule: string, message: string): InputFault =>
  new InputFault([errorAt(file, line)(null, rule, message)])

/** Collects findings while an input is read; `settle` throws the errors, all at once. */
export interface Findings {
  /** As many as are kept; `counts` knows of all, and of the rows they cost. */
  readonly errors: readonly Finding[]
  readonly counts: Readonly<{ errors: number; warnings: number; rejected: number }>
  /** The first of them; how many there were of each rule is counted. */
  readonly warnings: readonly Finding[]
  readonly warned: Readonly<Record<string, number>>
  add(finding: Finding): void
  reject(): void
  settle(): void
}

/** With `readOn` errors past those that are kept are only counted. */
export function collectFindings(kept = ENOUGH, readOn = false): Findings {
  const errors: Finding[] = []
  const warnings: Finding[] = []
  const warned: Record<string, number> = {}
  const counts = { errors: 0, warnings: 0, rejected: 0 }
  const settle = () => {
    if (errors.length > 0) throw new InputFault(errors)
  }
  return {
    errors,
    counts,
    warnings,
    warned,
    add(finding) {
      if (finding.severity === 'error') {
        counts.errors += 1
        if (errors.length < kept) errors.push(finding)
      } else {
        counts.warnings += 1
        warned[finding.rule] = (warned[finding.rule] ?? 0) + 1
        if (warnings.length < ENOUGH) warnings.push(finding)
      }
      if (errors.length >= kept && !readOn) settle()
    },
    reject() {
      counts.rejected += 1
    },
    settle,
  }
}
