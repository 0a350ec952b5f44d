// Rendered records put into the two shapes of the interface. The records are text and stay text.

/** v1: a plain array. */
export const shapeArray = (bodies: readonly string[]): string => `[${bodies.join(',')}]`

/** v2: the envelope. `next` is the cursor of the next page, null where this is the last. */
export const shapeEnvelope = (bodies: readonly string[], next: string | null): string =>
  `{"data":[${bodies.join(',')}],"has_more":${next !== null},"next_page":${JSON.stringify(next)}}`
