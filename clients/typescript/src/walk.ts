// Reads a list page by page. Only `has_more` ends the list: a page may have few items or none.
import type { Transport } from './transport.ts'

interface Page<Item> {
  readonly data: Item[]
  readonly has_more: boolean
  readonly next_page: string | null
}

export interface WalkOptions {
  /** Where an earlier read with the same parameters stopped. */
  readonly cursor?: string | null | undefined
  readonly signal?: AbortSignal | undefined
}

/** What the headers of a response say. */
interface About {
  readonly release: number | null
  /** The latest release, if it is a later one. */
  readonly newestRelease: number | null
  readonly warning: string | null
}

/** A response as it was sent. */
export type Read<Body> = About & { readonly body: Body }

/** An answer, the release that was read, and what the service warns of. The two are not enumerable. */
export type Answered<Body> = Body & { readonly release: number | null; readonly warnings: readonly string[] }

/** `notice` says in one sentence how it was counted; null if there is only one way. It is not enumerable. */
export type Counted<Body> = Answered<Body> & { readonly notice: string | null }

export const withNotice = <Body>(answer: Answered<Body>, notice: string | null): Counted<Body> =>
  Object.defineProperties(answer as Counted<Body>, { notice: { value: notice } })

export function readAbout(headers: Headers): About {
  const readNumber = (name: string) => Number(headers.get(name)) || null
  return {
    release: readNumber('outbreaks-release'),
    newestRelease: readNumber('outbreaks-newest-release'),
    warning: headers.get('outbreaks-warning'),
  }
}

/** Items in the order of the service, all of one release. A list is read once. */
export class Walk<Item> implements AsyncIterable<Item> {
  readonly #transport: Transport
  readonly #toPath: (cursor: string | null) => string
  readonly #signal: AbortSignal | undefined
  #cursor: string | null
  #done = false
  #release: number | null = null
  #count: number | null = null
  readonly #warnings = new Set<string>()

  constructor(transport: Transport, toPath: (cursor: string | null) => string, { cursor, signal }: WalkOptions = {}) {
    this.#transport = transport
    this.#toPath = toPath
    this.#cursor = cursor ?? null
    this.#signal = signal
  }

  /**
   * The page that was not read to its end: store it, and go on with it after a crash. The items of that page come again,
   * and none is left out. Null before the second page and at the end.
   */
  get cursor(): string | null {
    return this.#cursor
  }

  /** Whether all items were read. */
  get done(): boolean {
    return this.#done
  }

  /** The release that is read; null before the first page. */
  get release(): number | null {
    return this.#release
  }

  /** With `count: 'exact'`: the number of matching items. Null without it, and before the first page. */
  get count(): number | null {
    return this.#count
  }

  /** What the service warns of, such as a filter value that matches no records. */
  get warnings(): string[] {
    return [...this.#warnings]
  }

  async *pages(): AsyncGenerator<Item[], void, undefined> {
    while (!this.#done) {
      const page = await this.#read()
      yield page.data
      this.#moveOn(page)
    }
  }

  /** One page; `cursor` is then that of the next one. Empty at the end. */
  async nextPage(): Promise<Item[]> {
    if (this.#done) return []
    const page = await this.#read()
    this.#moveOn(page)
    return page.data
  }

  async #read(): Promise<Page<Item>> {
    const request = { path: this.#toPath(this.#cursor), signal: this.#signal }
    const { body, headers } = await this.#transport.getJson(request)
    const { release, warning } = readAbout(headers)
    this.#release = release ?? this.#release
    const count = headers.get('outbreaks-count')
    if (count !== null) this.#count = Number(count)
    if (warning !== null) this.#warnings.add(warning)
    return body as Page<Item>
  }

  #moveOn({ has_more: hasMore, next_page: nextPage }: Page<Item>): void {
    this.#done = !hasMore
    this.#cursor = nextPage
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page
  }

  async toArray(): Promise<Item[]> {
    const items: Item[] = []
    for await (const page of this.pages()) items.push(...page)
    return items
  }
}
