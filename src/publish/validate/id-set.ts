// A compact set of record ids, divided into pages. Most datasets have dense ids, which take one bit each: ten million take
// little more than a megabyte. An operator's own ids may be spread over all safe integers: a page with few ids is a list.
import { countPreceding } from '../../platform/binary-search.ts'

const PAGE_IDS = 1 << 16
const PAGE_BYTES = PAGE_IDS >> 3
/** Longer lists become bitmaps, which then take at most 32 bytes per id: a growing list is copied for each new id. */
const MAX_LIST_LENGTH = 256

export interface IdSet {
  /** False if the id was already in the set. */
  add(id: number): boolean
  has(id: number): boolean
}

/** The offsets in a page: a single one, an ascending list, or a bitmap. */
type Page = number | Uint16Array | Uint8Array

export function createIdSet(): IdSet {
  const pages = new Map<number, Page>()
  const has = (id: number) => isIn(pages.get(Math.floor(id / PAGE_IDS)), id % PAGE_IDS)
  return {
    has,
    add(id) {
      const number = Math.floor(id / PAGE_IDS)
      const offset = id % PAGE_IDS
      const page = pages.get(number)
      if (isIn(page, offset)) return false
      const next = addTo(page, offset)
      if (next !== page) pages.set(number, next)
      return true
    },
  }
}

function isIn(page: Page | undefined, offset: number): boolean {
  if (page === undefined) return false
  if (typeof page === 'number') return page === offset
  if (page instanceof Uint16Array) return page[findIndex(page, offset)] === offset
  return ((page[offset >> 3] as number) & (1 << (offset & 7))) !== 0
}

/** Adds an offset that is not in the page. A bitmap is changed in place; otherwise the result is a new page. */
function addTo(page: Page | undefined, offset: number): Page {
  if (page === undefined) return offset
  if (typeof page === 'number') return Uint16Array.of(Math.min(page, offset), Math.max(page, offset))
  if (page instanceof Uint16Array) {
    if (page.length === MAX_LIST_LENGTH)
      return page.reduce<Uint8Array>(setBit, setBit(new Uint8Array(PAGE_BYTES), offset))
    const at = findIndex(page, offset)
    const longer = new Uint16Array(page.length + 1)
    longer.set(page.subarray(0, at))
    longer[at] = offset
    longer.set(page.subarray(at), at + 1)
    return longer
  }
  return setBit(page, offset)
}

function setBit(bits: Uint8Array, offset: number): Uint8Array {
  bits[offset >> 3] = (bits[offset >> 3] as number) | (1 << (offset & 7))
  return bits
}

/** The index of the first entry that is not below the offset. */
const findIndex = (list: Uint16Array, offset: number): number =>
  countPreceding(list.length, (i) => (list[i] as number) < offset)
