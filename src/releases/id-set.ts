// A set of record ids. Ids are dense, so a bit each does: ten million of them are little more than a megabyte.
const PAGE_IDS = 1 << 16

export interface IdSet {
  /** False where the id was in the set already. */
  add(id: number): boolean
  has(id: number): boolean
}

export function createIdSet(): IdSet {
  const pages = new Map<number, Uint8Array>()
  const bitOf = (id: number) => 1 << (id & 7)
  const has = (id: number) => {
    const page = pages.get(Math.floor(id / PAGE_IDS))
    return page !== undefined && ((page[(id % PAGE_IDS) >> 3] as number) & bitOf(id % PAGE_IDS)) !== 0
  }
  return {
    has,
    add(id) {
      if (has(id)) return false
      const number = Math.floor(id / PAGE_IDS)
      let page = pages.get(number)
      if (page === undefined) {
        page = new Uint8Array(PAGE_IDS >> 3)
        pages.set(number, page)
      }
      const place = (id % PAGE_IDS) >> 3
      page[place] = (page[place] as number) | bitOf(id % PAGE_IDS)
      return true
    },
  }
}
