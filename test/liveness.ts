// The longest time that a test waits for something that must happen.

/**
 * What never ends takes longer than this, and what ends takes less, also on a machine that others keep busy. A test that compares
 * with it asks whether something hangs; how long it takes is measured by npm run verify:timing.
 */
export const LIVENESS_MS = 30_000
