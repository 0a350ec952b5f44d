// Limits how deep JSON is nested, before anything reads it: what reads a value by recursion would use up the stack.

export class TooDeep extends Error {}

const MAX_DEPTH = 32

export function assertShallow(json: string): void {
  let depth = 0
  let isInString = false
  for (let i = 0; i < json.length; i += 1) {
    const character = json.charCodeAt(i)
    if (isInString) {
      if (character === 0x5c) i += 1
      else if (character === 0x22) isInString = false
    } else if (character === 0x22) isInString = true
    else if (character === 0x7b || character === 0x5b) {
      depth += 1
      if (depth > MAX_DEPTH) throw new TooDeep(`The body is nested more than ${MAX_DEPTH} deep.`)
    } else if (character === 0x7d || character === 0x5d) depth -= 1
  }
}
