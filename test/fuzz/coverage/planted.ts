// A reader with a planted fault, which the fuzzer must find: without coverage it would need some 2^24 inputs.

export function planted(input: Buffer): void {
  if (input[0] === 0x66) {
    if (input[1] === 0x75) {
      if (input[2] === 0x7a) throw new Error('planted fault')
    }
  }
}
