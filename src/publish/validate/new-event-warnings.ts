// Warns of events that the latest release does not have. A new outbreak is valid, but a misspelt name splits an outbreak.
import type { Findings } from '../findings/findings.ts'

interface EventOfRow {
  file: string
  line: number
  event: string
}

/** Warns once of each new event and names a known event with a similar name. */
export function createNewEventWarnings(known: ReadonlySet<string>, findings: Findings) {
  const seen = new Set<string>(known)
  return ({ file, line, event }: EventOfRow): void => {
    if (seen.has(event) || known.size === 0) return
    seen.add(event)
    const similar = [...known].find((name) => isSimilar(name, event))
    const message = `is a new event${similar === undefined ? '' : `; did you mean ${similar}?`}`
    findings.add({ file, line, column: 'event', rule: 'new_event', severity: 'warning', message })
  }
}

const MAX_EDITS = 2

/** Whether at most two letters must be changed, added or removed (Levenshtein distance). */
function isSimilar(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > MAX_EDITS) return false
  let previous = Array.from({ length: right.length + 1 }, (_, i) => i)
  for (let i = 1; i <= left.length; i++) {
    const row = [i]
    for (let j = 1; j <= right.length; j++) {
      const changed = (previous[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1)
      row.push(Math.min(changed, (previous[j] as number) + 1, (row[j - 1] as number) + 1))
    }
    if (Math.min(...row) > MAX_EDITS) return false
    previous = row
  }
  return (previous.at(-1) as number) <= MAX_EDITS
}
