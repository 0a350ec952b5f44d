// What is wrong with an input, where, and in a sentence the operator can act on.
import { OperatorFault } from '../platform/operator-fault.ts'

export interface Finding {
  file: string
  line: number
  column: string | null
  message: string
}

const SHOWN = 20
/** Past this many the input is not read further: it is another file than the operator thinks. */
const ENOUGH = 1000

export class InputFault extends OperatorFault {
  readonly findings: readonly Finding[]

  constructor(findings: readonly Finding[]) {
    const lines = findings.slice(0, SHOWN).map(describeFinding)
    const more = findings.length > SHOWN ? [`… and ${findings.length - SHOWN} more`] : []
    super([`the input has faults; nothing was published`, ...lines, ...more].join('\n  '))
    this.findings = findings
  }
}

const describeFinding = ({ file, line, column, message }: Finding) =>
  `${file}:${line}${column === null ? '' : ` ${column}`}: ${message}`

/** Collects findings while an input is read; `settle` throws them all. */
export function collectFindings() {
  const findings: Finding[] = []
  const settle = () => {
    if (findings.length > 0) throw new InputFault(findings)
  }
  return {
    add(finding: Finding) {
      findings.push(finding)
      if (findings.length >= ENOUGH) settle()
    },
    settle,
  }
}
