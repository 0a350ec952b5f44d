// SHA-256 (FIPS 180-4) of bytes that arrive in parts. Web Crypto needs all bytes together, so it cannot verify a stream.

/** The first 32 bits of the fractional parts of the roots of the first primes: cube roots for K, square roots for H. */
const K = new Uint32Array(64)
const H = new Uint32Array(8)
const fraction = (value: number) => ((value - Math.floor(value)) * 0x1_0000_0000) | 0
for (let candidate = 2, found = 0; found < 64; candidate += 1) {
  let isPrime = true
  for (let factor = 2; factor * factor <= candidate; factor += 1) if (candidate % factor === 0) isPrime = false
  if (!isPrime) continue
  if (found < 8) H[found] = fraction(Math.sqrt(candidate))
  K[found] = fraction(Math.cbrt(candidate))
  found += 1
}

const BLOCK = 64

export class Sha256 {
  readonly #state = H.slice()
  readonly #block = new Uint8Array(BLOCK)
  readonly #words = new Uint32Array(64)
  #filled = 0
  #length = 0

  update(bytes: Uint8Array): this {
    this.#length += bytes.length
    let from = 0
    if (this.#filled > 0) {
      from = Math.min(BLOCK - this.#filled, bytes.length)
      this.#block.set(bytes.subarray(0, from), this.#filled)
      this.#filled += from
      if (this.#filled < BLOCK) return this
      this.#compress(this.#block, 0)
    }
    for (; from + BLOCK <= bytes.length; from += BLOCK) this.#compress(bytes, from)
    this.#block.set(bytes.subarray(from))
    this.#filled = bytes.length - from
    return this
  }

  /** The digest of all bytes so far. The object cannot be used afterwards. */
  digest(): Uint8Array<ArrayBuffer> {
    const bits = this.#length * 8
    const padding = new Uint8Array((this.#filled < 56 ? 56 : 120) - this.#filled + 8)
    const view = new DataView(padding.buffer)
    padding[0] = 0x80
    view.setUint32(padding.length - 8, Math.floor(bits / 0x1_0000_0000))
    view.setUint32(padding.length - 4, bits >>> 0)
    this.update(padding)
    const digest = new Uint8Array(32)
    const output = new DataView(digest.buffer)
    for (const [index, word] of this.#state.entries()) output.setUint32(index * 4, word)
    return digest
  }

  #compress(bytes: Uint8Array, from: number): void {
    const w = this.#words
    const state = this.#state
    for (let i = 0; i < 16; i += 1) {
      const at = from + i * 4
      w[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
    }
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15]!
      const y = w[i - 2]!
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0
    }
    let a = state[0]!
    let b = state[1]!
    let c = state[2]!
    let d = state[3]!
    let e = state[4]!
    let f = state[5]!
    let g = state[6]!
    let h = state[7]!
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = state[index]! + word
  }
}

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
