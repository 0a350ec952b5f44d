// Random choices from the seed of the test file (test/seed.ts).
import { drawBytes } from '../seed.ts'

const BLOCK_BYTES = 4096

export interface Draw {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number
  chance(share: number): boolean
  pick<Value>(list: readonly Value[]): Value
  shuffle<Value>(list: readonly Value[]): Value[]
}

export function createDraw(): Draw {
  let [block, at]: [Buffer, number] = [Buffer.alloc(0), 0]
  const next = () => {
    if (at === block.length) [block, at] = [drawBytes(BLOCK_BYTES), 0]
    at += 4
    return block.readUInt32BE(at - 4)
  }
  const below = (limit: number) => next() % limit
  return {
    below,
    chance: (share) => next() < share * 2 ** 32,
    pick: <Value>(list: readonly Value[]) => list[below(list.length)] as Value,
    shuffle<Value>(list: readonly Value[]) {
      const shuffled = [...list]
      for (let i = shuffled.length - 1; i > 0; i -= 1) {
        const other = below(i + 1)
        ;[shuffled[i], shuffled[other]] = [shuffled[other] as Value, shuffled[i] as Value]
      }
      return shuffled
    },
  }
}
