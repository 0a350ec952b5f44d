// The paths of all pages of the dataset, and a walk through them.
import { gunzipSync } from 'node:zlib'
import { openRetryingConnection } from './client.ts'
import type { Target } from './target.ts'

export const PAGE_SIZE = 1000
export const PAGES_PATH = `/v2/hed-outbreaks/outbreaks?num=${PAGE_SIZE}`

/** Walks like a client: inflates each page, which verifies its CRC-32, and follows its cursor. */
export async function walkInflating(target: Target, onPage: (path: string, text: Buffer) => void = () => {}) {
  const connection = openRetryingConnection(target.address, { keepBody: true })
  try {
    for (let path: string | null = PAGES_PATH; path !== null; ) {
      const text = gunzipSync(await connection.send(target.get(path, 'gzip')))
      onPage(path, text)
      const cursor = /"next_page":"([\w-]+)"\}$/.exec(text.toString('latin1', text.length - 200))?.[1]
      path = cursor === undefined ? null : `${PAGES_PATH}&page=${cursor}`
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
