// A terminal stream that records what is written to it.
import { Writable } from 'node:stream'

interface Options {
  isTTY?: boolean
  /** Colour depth in bits; 1 with NO_COLOR. */
  colours?: number
  columns?: number
}

export function createScreen({ isTTY = true, colours = 8, columns = 80 }: Options = {}) {
  const written: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      written.push(text)
      done()
    },
  })
  return Object.assign(stream, {
    isTTY,
    columns,
    getColorDepth: () => colours,
    written,
  }) as unknown as NodeJS.WriteStream & {
    written: string[]
  }
}
