// The seed of all random data of a test file. It is printed; TEST_SEED=… gives the same data again.
// Keys, secrets and unique names do not use it.
import { createHash, randomInt } from 'node:crypto'
import fc from 'fast-check'

const configured = process.env['TEST_SEED'] ?? ''
if (!/^\d{0,10}$/.test(configured)) throw new Error('TEST_SEED must be a whole number')
const seed = configured === '' ? randomInt(2 ** 31) : Number(configured)
console.log(`TEST_SEED=${seed}`)
fc.configureGlobal({ seed })

/** fast-check with the seed. */
export { fc }

let draws = 0

/** Incompressible bytes: different for each call, and the same for the same seed. */
export function drawBytes(length: number): Buffer {
  draws += 1
  return createHash('shake256', { outputLength: length }).update(`${seed} ${draws}`).digest()
}

const BLOCK_BYTES = 1 << 16
let block = Buffer.alloc(0) as Buffer
let used = 0

/** A whole number from 0 to `below - 1`, for tests that need millions of them. */
export function drawInt(below: number): number {
  if (used + 4 > block.length) [block, used] = [drawBytes(BLOCK_BYTES), 0]
  used += 4
  return block.readUInt32LE(used - 4) % below
}
