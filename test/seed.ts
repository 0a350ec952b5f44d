// One seed for everything that a test file draws at random. It is printed, and TEST_SEED=… gives the same draws again.
// Keys, secrets and names that must not collide are no data of a test and are not drawn from it.
import { createHash, randomInt } from 'node:crypto'
import fc from 'fast-check'

const given = process.env['TEST_SEED'] ?? ''
if (!/^\d{0,10}$/.test(given)) throw new Error('TEST_SEED must be a whole number')
const seed = given === '' ? randomInt(2 ** 31) : Number(given)
console.log(`TEST_SEED=${seed}`)
fc.configureGlobal({ seed })

/** fast-check, which begins at the seed. */
export { fc }

let drawn = 0

/** Bytes that do not compress: others with each call, and the same ones for the same seed. */
export function drawBytes(length: number): Buffer {
  drawn += 1
  return createHash('shake256', { outputLength: length }).update(`${seed} ${drawn}`).digest()
}
