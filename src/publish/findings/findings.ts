// Errors and warnings of an input: where, by which rule, and a message for the operator.
import { escapeControls } from '../../platform/cli/escape-controls.ts'
import { OperatorError } from '../../platform/operator-error.ts'

export interface Finding {
  file: string
  line: number
  column: string | null
  rule: string
  /** An error rejects the input; a warning is only reported. */
  severity: 'error' | 'warning'
  message: string
}

/** An error of a row, without its file and line. */
export type RowError = Pick<Finding, 'column' | 'rule' | 'message'>

/** How an input row names a record: by the id of the service or by the key of the operator. */
export type Identity = { id: number } | { key: string }

/** A row that cannot be published. */
export interface RejectedRow {
  file: string
  line: number
  /** The record that the row names, if that can be read. */
  identity: Identity | null
  errors: readonly RowError[]
  /** The row as JSON, with long cells truncated. */
  row: string
}

const MAX_SHOWN = 20
/** After this many errors reading stops: the file is probably the wrong one. */
const MAX_KEPT = 1000

export class InputError extends OperatorError {
  readonly findings: readonly Finding[]

  /** `reason` says how to publish the valid rows, if that is possible. */
  constructor(findings: readonly Finding[], reason = 'the input has errors.') {
    const lines = findings.slice(0, MAX_SHOWN).map(describeFinding)
    const more = findings.length > MAX_SHOWN ? [`… and ${findings.length - MAX_SHOWN} more`] : []
    super([`Nothing was published: ${reason}`, ...lines, ...more].join('\n  '))
    this.findings = findings
  }
}

const describeFinding = ({ file, line, column, message }: Finding): string =>
  escapeControls(`${file}:${line}${column === null ? '' : ` ${column}`}: ${message}`)

/** Creates errors of one line of a file. */
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

/** An error after which the rest of a file cannot be read. */
export const unreadable = (file: string, line: number, rule: string, message: string): InputError =>
  new InputError([errorAt(file, line)(null, rule, message)])

/** Collects the findings of an input while it is read. */
export interface Findings {
  /** The first errors; `counts` counts all of them. */
  readonly errors: readonly Finding[]
  readonly counts: Readonly<{ errors: number; warnings: number; rejected: number }>
  /** The first warnings; `warningCounts` counts all of them by rule. */
  readonly warnings: readonly Finding[]
  readonly warningCounts: Readonly<Record<string, number>>
  add(finding: Finding): void
  /** The rejected rows, but not more than the operator confirmed. */
  readonly rejections: readonly RejectedRow[]
  reject(rejection: RejectedRow): void
  /** Throws all errors together, unless the operator confirmed exactly the number of rejected rows. */
  throwIfErrors(): void
}

interface FindingsOptions {
  /** How many errors are kept. */
  maxErrors?: number | undefined
  /** Only count the errors after the first `maxErrors` instead of throwing. */
  readToEnd?: boolean
  /** How many rows can be rejected. */
  confirmedRejected?: number
}

export function collectFindings({
  maxErrors = MAX_KEPT,
  readToEnd = false,
  confirmedRejected = 0,
}: FindingsOptions = {}): Findings {
  const errors: Finding[] = []
  const warnings: Finding[] = []
  const warningCounts: Record<string, number> = {}
  const counts = { errors: 0, warnings: 0, rejected: 0 }
  const rejections: RejectedRow[] = []
  const throwIfErrors = () => {
    if (counts.rejected === confirmedRejected && (confirmedRejected > 0 || counts.errors === 0)) return
    const isCounted = errors.length < maxErrors || readToEnd
    if (!isCounted || counts.rejected + confirmedRejected === 0) throw new InputError(errors)
    throw new InputError(errors, describeRejections(counts.rejected, confirmedRejected))
  }
  return {
    errors,
    counts,
    warnings,
    warningCounts,
    add(finding) {
      if (finding.severity === 'error') {
        counts.errors += 1
        if (errors.length < maxErrors) errors.push(finding)
      } else {
        counts.warnings += 1
        warningCounts[finding.rule] = (warningCounts[finding.rule] ?? 0) + 1
        if (warnings.length < MAX_KEPT) warnings.push(finding)
      }
      if (errors.length >= maxErrors && !readToEnd) throwIfErrors()
    },
    rejections,
    reject(rejection) {
      counts.rejected += 1
      if (rejections.length < confirmedRejected) rejections.push(rejection)
    },
    throwIfErrors,
  }
}

function describeRejections(rejected: number, confirmed: number): string {
  if (rejected === 0) return `no row is invalid, but you confirmed ${confirmed}. Remove --confirm-rejected.`
  const found = rejected === 1 ? '1 row is invalid' : `${rejected} rows are invalid`
  return confirmed === 0
    ? `${found}. Fix ${rejected === 1 ? 'it' : 'them'}, or publish the rest with --confirm-rejected ${rejected}.`
    : `${found}, but you confirmed ${confirmed}. Check them, then use --confirm-rejected ${rejected}.`
}
