// A set of record ids. Most datasets have dense ids, for which a bit each is enough: ten million are little more than a
// megabyte. Ids of an operator's own may be spread over all safe integers: a page with few of them is a list.
const PAGE_IDS = 1 << 16
const PAGE_BYTES = PAGE_IDS >> 3
/** A bitmap with more ids than this costs at most 32 bytes an id; a longer list would be copied too often as it grows. */
const LONGEST_LIST = 256

export interface IdSet {
  /** False where the id was in the set already. */
  add(id: number): boolean
  has(id: number): boolean
}

/** The single id of a page, a list of ids in ascending order, or one bit for every id there can be. */
type Page = number | Uint16Array | Uint8Array

export function createIdSet(): IdSet {
  const pages = new Map<number, Page>()
  const has = (id: number) => isIn(pages.get(Math.floor(id / PAGE_IDS)), id % PAGE_IDS)
  return {
    has,
    add(id) {
      const [number, place] = [Math.floor(id / PAGE_IDS), id % PAGE_IDS]
      const page = pages.get(number)
      if (isIn(page, place)) return false
      const next = addTo(page, place)
      if (next !== page) pages.set(number, next)
      return true
    },
  }
}

function isIn(page: Page | undefined, place: number): boolean {
  if (page === undefined) return false
  if (typeof page === 'number') return page === place
  if (page instanceof Uint16Array) return page[findPlace(page, place)] === place
  return ((page[place >> 3] as number) & (1 << (place & 7))) !== 0
}

/** The page with a place that is not in it yet: the same one, where it is a bitmap. */
function addTo(page: Page | undefined, place: number): Page {
  if (page === undefined) return place
  if (typeof page === 'number') return Uint16Array.of(Math.min(page, place), Math.max(page, place))
  if (page instanceof Uint16Array) {
    if (page.length === LONGEST_LIST) return page.reduce<Uint8Array>(setBit, setBit(new Uint8Array(PAGE_BYTES), place))
    const at = findPlace(page, place)
    const longer = new Uint16Array(page.length + 1)
    longer.set(page.subarray(0, at))
    longer[at] = place
    longer.set(page.subarray(at), at + 1)
    return longer
  }
  return setBit(page, place)
}

function setBit(bits: Uint8Array, place: number): Uint8Array {
  bits[place >> 3] = (bits[place >> 3] as number) | (1 << (place & 7))
  return bits
}

/** Where the first entry stands that is not below the place. */
function findPlace(list: Uint16Array, place: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] as number) < place) low = middle + 1
    else high = middle
  }
  return low
}
