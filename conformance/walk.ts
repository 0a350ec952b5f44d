// One walk over v2, read once per run: all pages of a small dataset, the first pages of a large one.
import { Failure, type Row, readEnvelope, readRecords, Skipped } from './expect.ts'
import { readOnce, type Service, V1, V2 } from './service.ts'

export const PAGE_SIZE = 50
const SMALL_DATASET = 5_000
const MAX_PAGES_OF_LARGE_DATASET = 20
const MIN_RECORDS = 5

export interface WalkedPage {
  readonly cursor: string | undefined
  readonly data: Row[]
  /** The body as it was received. */
  readonly text: string
  readonly hasMore: unknown
  readonly nextPage: unknown
  readonly release: string | null
}

export interface Walk {
  readonly pages: readonly WalkedPage[]
  readonly records: Row[]
  /** The last page has `has_more` false. */
  readonly complete: boolean
  readonly small: boolean
  readonly release: string
}

export const v2Query = (num: number, cursor?: string) =>
  `${V2}?num=${num}${cursor === undefined ? '' : `&page=${encodeURIComponent(cursor)}`}`

async function walkDataset(service: Service): Promise<Walk> {
  const small = readRecords(await service.get(`${V1}?offset=${SMALL_DATASET}&num=1`)).length === 0
  // One more page than a small dataset can have, so that a walk without an end is detected.
  const maxPages = small ? SMALL_DATASET / PAGE_SIZE + 1 : MAX_PAGES_OF_LARGE_DATASET
  const pages: WalkedPage[] = []
  for (let cursor: string | undefined; pages.length < maxPages; ) {
    const response = await service.get(v2Query(PAGE_SIZE, cursor))
    const { data, has_more: hasMore, next_page: nextPage } = readEnvelope(response)
    pages.push({
      cursor,
      data,
      text: response.text,
      hasMore,
      nextPage,
      release: response.headers.get('outbreaks-release'),
    })
    if (hasMore !== true || typeof nextPage !== 'string') break
    cursor = nextPage
  }
  const records = pages.flatMap((page) => page.data)
  if (records.length < MIN_RECORDS)
    throw new Failure(`the dataset has ${records.length} records; the data checks need at least ${MIN_RECORDS}`)
  return { pages, records, complete: pages.at(-1)?.hasMore === false, small, release: pages[0]?.release ?? '' }
}

export const readWalk = readOnce(walkDataset)

/** For checks that need the end of the dataset. */
export async function readCompleteWalk(service: Service): Promise<Walk> {
  const walk = await readWalk(service)
  if (!walk.small)
    throw new Skipped(`the dataset has more than ${SMALL_DATASET} records, so it was not read to the end`)
  if (!walk.complete) throw new Failure(`expected the walk to end, got ${walk.pages.length} pages without an end`)
  return walk
}

/** A cursor near the end of the dataset that is followed by at least two records. */
export function readTail({ pages }: Walk): { cursor: string | undefined; remaining: number } {
  let remaining = 0
  for (const { cursor, data } of pages.toReversed()) {
    remaining += data.length
    if (remaining >= 2) return { cursor, remaining }
  }
  throw new Failure('expected at least two records at the end of the walk')
}
