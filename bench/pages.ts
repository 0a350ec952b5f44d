// The paths of all pages of the dataset, and a walk through them.
import { gunzipSync } from 'node:zlib'
import { openRetryingConnection } from './client.ts'
import type { Target } from './target.ts'

export const PAGE_SIZE = 1000
/** More than a page has, so that zlib allocates once. */
const INFLATED_BYTES = 1 << 21
export const PAGES_PATH = `/v2/hed-outbreaks/outbreaks?num=${PAGE_SIZE}`

/**
 * Walks like a client: inflates each page, which verifies its CRC-32, and follows its cursor. The header Link has the cursor
 * too, so that the next page is requested before this one is inflated.
 */
export async function walkInflating(target: Target, onPage: (path: string, text: Buffer) => void = () => {}) {
  const connection = openRetryingConnection(target.address, { keepBody: true })
  const request = (path: string) => connection.send(target.get(path, 'gzip'))
  try {
    let path: string | null = PAGES_PATH
    let response = request(path)
    while (path !== null) {
      const compressed = await response
      const cursor: string | undefined = /^link: .*[?&]page=([\w-]+)/im.exec(connection.head())?.[1]
      const next = cursor === undefined ? null : `${PAGES_PATH}&page=${cursor}`
      if (next !== null) {
        response = request(next)
        // Awaited in the next round. If this round fails, its own error is reported.
        response.catch(() => {})
      }
      onPage(path, gunzipSync(compressed, { chunkSize: INFLATED_BYTES }))
      path = next
    }
  } finally {
    connection.close()
  }
}

/** Also checks that the pages have every published record exactly once: otherwise a measurement is worthless. */
export async function findPages(target: Target, records: number): Promise<string[]> {
  const pages: string[] = []
  let count = 0
  await walkInflating(target, (path, text) => {
    pages.push(path)
    // A first release has all ids from 1, without a gap.
    for (const [, id] of text.toString('latin1').matchAll(/\{"id":(\d+),/g)) {
      count++
      if (Number(id) !== count) throw new Error(`a walk gives record ${id} at position ${count}`)
    }
  })
  if (count !== records) throw new Error(`a walk gives ${count} records, but ${records} were published`)
  return pages
}
