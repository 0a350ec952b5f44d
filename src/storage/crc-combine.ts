// Computes the CRC-32 of two concatenated texts from their CRCs alone, so that stored chunks are sent without reading them.
// A CRC is a polynomial over GF(2) with its bits reflected: the highest bit is the coefficient of x^0.
const POLYNOMIAL = 0xedb88320
const ONE = 1 << 31
const X = 1 << 30

function multiply(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let rest = a; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= shifted
    shifted = (shifted >>> 1) ^ (POLYNOMIAL & -(shifted & 1))
  }
  return product
}

/** x^1, x^2, x^4, x^8 … */
const squares = [X]
for (let i = 1; i < 32; i++) squares.push(multiply(squares[i - 1] as number, squares[i - 1] as number))

/** The factor for a CRC that is followed by this many bytes: x to the power of eight times their number. */
function shiftOf(bytes: number): number {
  let factor = ONE
  for (let rest = bytes, i = 3; rest > 0; rest = Math.floor(rest / 2), i++) {
    // The powers of x repeat after 2^32 - 1, so the squares repeat after 32.
    if (rest % 2 === 1) factor = multiply(squares[i % 32] as number, factor)
  }
  return factor
}

export const combineCrc32 = (first: number, second: number, secondBytes: number): number =>
  (multiply(shiftOf(secondBytes), first) ^ second) >>> 0
