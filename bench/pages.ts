// The pages of the dataset, and walking through them.
import { gunzipSync } from 'node:zlib'
import { openConnection } from './client.ts'
import type { Target } from './target.ts'

export const PAGE = 1000
export const PAGES_PATH = `/v2/hed-outbreaks/outbreaks?num=${PAGE}`

/** Walks as a client does: inflates each page, which verifies its CRC-32, and goes on where it says. */
export async function walkInflating(target: Target, seen: (place: string, text: Buffer) => void = () => {}) {
  const connection = openConnection(target.address, { keep: true })
  try {
    for (let place: string | null = PAGES_PATH; place !== null; ) {
      const text = gunzipSync(await connection.ask(target.get(place, 'gzip')))
      seen(place, text)
      const cursor = /"next_page":"([\w-]+)"\}$/.exec(text.toString('latin1', text.length - 200))?.[1]
      place = cursor === undefined ? null : `${PAGES_PATH}&page=${cursor}`
    }
  } finally {
    connection.close()
  }
}

/** And sees that the pages hold what was published, none twice and none left out: otherwise nothing is worth measuring. */
export async function findPages(target: Target, records: number): Promise<string[]> {
  const pages: string[] = []
  let count = 0
  await walkInflating(target, (place, text) => {
    pages.push(place)
    // A first release has the ids from 1 on, without a gap.
    for (const [, id] of text.toString('latin1').matchAll(/\{"id":(\d+),/g)) {
      count++
      if (Number(id) !== count) throw new Error(`a walk gives record ${id} in place ${count}`)
    }
  })
  if (count !== records) throw new Error(`a walk gives ${count} records and not the ${records} that were published`)
  return pages
}
