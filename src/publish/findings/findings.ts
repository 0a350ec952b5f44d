// What is wrong with an input: where, by which rule, how bad, and in a sentence the operator can act on.
import { OperatorError } from '../../platform/operator-error.ts'

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
export type RowError = Pick<Finding, 'column' | 'rule' | 'message'>

/** What the operator names a record by: an id of ours, or a key of theirs. */
export type Identity = { id: number } | { key: string }

/** A row that cannot be published. */
export interface RejectedRow {
  file: string
  line: number
  /** What the row names, where that can be read. */
  identity: Identity | null
  faults: readonly RowError[]
  /** The row as JSON, long cells cut. */
  row: string
}

const SHOWN = 20
/** Past this many errors the input is not read further: it is another file than the operator thinks. */
const ENOUGH = 1000

export class InputError extends OperatorError {
  readonly findings: readonly Finding[]

  /** `advice` says what the operator can do, where the rows without faults could be published. */
  constructor(findings: readonly Finding[], advice = '') {
    const lines = findings.slice(0, SHOWN).map(describeFinding)
    const more = findings.length > SHOWN ? [`… and ${findings.length - SHOWN} more`] : []
    super([`the input has faults and is not published${advice}`, ...lines, ...more].join('\n  '))
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
export const unreadable = (file: string, line: number, rule: string, message: string): InputError =>
  new InputError([errorAt(file, line)(null, rule, message)])

/** Collects findings while an input is read; `throwIfErrors` throws the errors, all at once. */
export interface Findings {
  /** As many as are kept; `counts` knows of all, and of the rows they cost. */
  readonly errors: readonly Finding[]
  readonly counts: Readonly<{ errors: number; warnings: number; rejected: number }>
  /** The first of them; how many there were of each rule is counted. */
  readonly warnings: readonly Finding[]
  readonly warned: Readonly<Record<string, number>>
  add(finding: Finding): void
  /** Kept only where the operator confirms rejections, and not more than were confirmed. */
  readonly rejections: readonly RejectedRow[]
  reject(rejection: RejectedRow): void
  /** Throws, unless exactly the rows that the operator confirmed are rejected. */
  throwIfErrors(): void
}

/** With `readOn` errors past those that are kept are only counted. `confirmed` rows may be rejected. */
export function collectFindings(kept = ENOUGH, readOn = false, confirmed = 0): Findings {
  const errors: Finding[] = []
  const warnings: Finding[] = []
  const warned: Record<string, number> = {}
  const counts = { errors: 0, warnings: 0, rejected: 0 }
  const rejections: RejectedRow[] = []
  const throwIfErrors = () => {
    if (counts.rejected === confirmed && (confirmed > 0 || counts.errors === 0)) return
    if (errors.length >= kept && !readOn) throw new InputError(errors)
    throw new InputError(errors, advise(counts.rejected, confirmed))
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
      if (errors.length >= kept && !readOn) throwIfErrors()
    },
    rejections,
    reject(rejection) {
      counts.rejected += 1
      if (rejections.length < confirmed) rejections.push(rejection)
    },
    throwIfErrors,
  }
}

function advise(rejected: number, confirmed: number): string {
  const found = `: ${rejected} ${rejected === 1 ? 'row is' : 'rows are'} rejected`
  if (rejected === 0) return `${found}, not ${confirmed}; leave --confirm-rejected out`
  return `${found}${confirmed > 0 ? `, not ${confirmed}` : ''}; to publish the others, say --confirm-rejected ${rejected}`
}
