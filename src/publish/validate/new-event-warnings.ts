// Events that the last release did not know. A new outbreak is no fault; a misspelt one splits an outbreak in two.
import type { Findings } from '../findings/findings.ts'

interface Named {
  file: string
  line: number
  event: string
}

/** Warns once of each new event, with the known one it may be a slip of the pen for. */
export function createNewEventWarnings(known: ReadonlySet<string>, findings: Findings) {
  const met = new Set<string>(known)
  return ({ file, line, event }: Named): void => {
    if (met.has(event) || known.size === 0) return
    met.add(event)
    const near = [...known].find((name) => isNear(name, event))
    const message = `is an event no earlier record has${near === undefined ? '' : `; is it ${near}?`}`
    findings.add({ file, line, column: 'event', rule: 'new_event', severity: 'warning', message })
  }
}

const SLIP = 2

/** Whether one becomes the other by at most two letters changed, added or left out. */
function isNear(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > SLIP) return false
  let above = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const changed = (above[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1)
      row.push(Math.min(changed, (above[j] as number) + 1, (row[j - 1] as number) + 1))
    }
    if (Math.min(...row) > SLIP) return false
    above = row
  }
  return (above.at(-1) as number) <= SLIP
}
