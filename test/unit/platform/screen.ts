// A terminal that only remembers what was written to it.
import { Writable } from 'node:stream'

interface Options {
  isTTY?: boolean
  /** In bits; 1 is what a terminal has under NO_COLOR. */
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
