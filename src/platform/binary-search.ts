// Searches a sorted list.

/** How many of the first `length` entries precede what is searched for. All of these come before the others. */
export function countPreceding(length: number, precedes: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (precedes(middle)) low = middle + 1
    else high = middle
  }
  return low
}
