// Finds a key that a JSON object has twice. JSON.parse keeps only the last value, and another program may read the first. Pure.

/** Every string, with the colon that follows a key. */
const STRING = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)/g

/** Of text that is JSON; null if every key stands once in its object. */
export function findRepeatedKey(json: string): string | null {
  const written: string[] = []
  for (const [, text = '', colon] of json.matchAll(STRING))
    if (colon !== '') written.push(text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1))
  if (new Set(written).size === written.length) return null
  // Different objects may have the same keys.
  const unseen = countKeys(JSON.parse(json))
  for (const key of written) {
    const remaining = unseen.get(key) ?? 0
    if (remaining === 0) return key
    unseen.set(key, remaining - 1)
  }
  return null
}

/** How many objects inside the value have each key. */
function countKeys(value: unknown): Map<string, number> {
  const counts = new Map<string, number>()
  const open = [value]
  while (open.length > 0) {
    const inner = open.pop()
    if (!isNested(inner)) continue
    for (const [key, member] of Object.entries(inner)) {
      if (!Array.isArray(inner)) counts.set(key, (counts.get(key) ?? 0) + 1)
      open.push(member)
    }
  }
  return counts
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null
