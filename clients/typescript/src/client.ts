// The client: one method for each thing that the service offers. Runs wherever fetch is: Node, browsers, edge runtimes.

import { type Choice, describeChoice } from './choice.ts'
import { applyChanges, type ChangeCounts, readLines } from './copy.ts'
import { ReleaseDigest, requireDigest } from './digest.ts'
import { Download, type DownloadOptions, findFile } from './download.ts'
import { InvalidParameter } from './errors.ts'
import type {
  Change,
  Citation,
  EventSummary,
  Facets,
  RecordCoverage,
  RecordVersion,
  Release,
  ReleaseNotice,
  SearchAnswer,
  Series,
  Sums,
  Vintages,
  Watch,
  WatchNotice,
} from './generated/answers.ts'
import type {
  ChangesParameters,
  CitationParameters,
  CoverageParameters,
  EventsParameters,
  FacetsParameters,
  RecordsParameters,
  SearchParameters,
  SeriesParameters,
  SumsParameters,
  VintagesParameters,
  WatchParameters,
} from './generated/parameters.ts'
import type { OutbreakRecord } from './generated/record.ts'
import { receiveLines } from './lines.ts'
import { type LinkedParameters, type Query, toQuery } from './query.ts'
import { chooseSend, sendByFetch } from './send.ts'
import { type CallOptions, JSON_TYPE, type Options, type Request, Transport } from './transport.ts'
import { type Answered, type Counted, type Read, readAbout, Walk, type WalkOptions, withNotice } from './walk.ts'
import {
  type NoticeOptions,
  type Notices,
  type WatchChange,
  type WatchPreview,
  waitForNotices,
  watchPath,
} from './watches.ts'

/** The number of a release, a day (YYYY-MM-DD) for what was known on it (the latest release as of that day or earlier), or `latest`. */
export type ReleaseReference = number | string

/** The types and the plots are of the full form of figures. */
const DETAIL = { detail: 'full' }
/** The largest page. */
const PAGE_SIZE = 1000

export class Outbreaks {
  readonly #transport: Transport
  readonly #root: string
  readonly #release: ReleaseReference | undefined

  constructor(options: Options, shared?: { transport: Transport; release: ReleaseReference }) {
    const { baseUrl, clientId, clientSecret, token, dataset = 'hed-outbreaks', signal, timeoutMs = 60_000 } = options
    const credentials = clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret }
    this.#options = options
    this.#root = `/v2/${dataset}`
    this.#release = shared?.release
    const send = options.fetch === undefined ? chooseSend() : sendByFetch(options.fetch)
    const base = baseUrl.replace(/\/+$/, '')
    this.#transport =
      shared?.transport ??
      new Transport({ baseUrl: base, credentials, token, send, timeoutMs, signal, attempts: options.attempts })
  }
  readonly #options: Options

  /** From OUTBREAKS_URL, OUTBREAKS_CLIENT_ID and OUTBREAKS_CLIENT_SECRET. */
  static fromEnv(options: Partial<Options> = {}): Outbreaks {
    const { process } = globalThis as { process?: { env: Record<string, string | undefined> } }
    const read = (name: string): string => {
      const value = process?.env[name]
      if (!value) throw new Error(`The environment variable ${name} is not set`)
      return value
    }
    return new Outbreaks({
      baseUrl: options.baseUrl ?? read('OUTBREAKS_URL'),
      ...(options.token === undefined
        ? { clientId: read('OUTBREAKS_CLIENT_ID'), clientSecret: read('OUTBREAKS_CLIENT_SECRET') }
        : {}),
      ...options,
    })
  }

  /** A client whose requests all read this release, unless they name another. */
  asOf(release: ReleaseReference): Outbreaks {
    return new Outbreaks(this.#options, { transport: this.#transport, release })
  }

  /** Records in the order of id, or of `sort`. */
  records(parameters: RecordsParameters = {}, options?: WalkOptions): Walk<OutbreakRecord> {
    return this.#walk('/outbreaks', this.#atRelease(parameters), options)
  }

  /** All records in one response, as the lines of NDJSON: faster than `records` for many. Fails if a line is missing. */
  recordLines(
    parameters: Omit<RecordsParameters, 'num'> = {},
    options?: CallOptions,
  ): AsyncGenerator<string, void, undefined> {
    return this.#lines('/outbreaks', { ...this.#atRelease(parameters), count: 'exact' }, options)
  }

  /** The versions of a record in each release. */
  history(id: number, options?: WalkOptions): Walk<RecordVersion> {
    return this.#walk(`/outbreaks/${id}/history`, {}, options)
  }

  /** Summaries of events. */
  events(parameters: EventsParameters = {}, options?: WalkOptions): Walk<EventSummary> {
    return this.#walk('/events', this.#atRelease(parameters), options)
  }

  /** Counts over time. If there are several ways to count, one is chosen; throws NotComparable if none is clearly the best. */
  async series(parameters: SeriesParameters, options?: CallOptions): Promise<Counted<Series>> {
    const answer = await this.#answer<Series>('/series', { ...parameters, ...DETAIL }, options)
    return withNotice(answer, describeChoice(answer))
  }

  /** Totals by group; `total` has the numbers to quote. How to count is chosen as in `series`. */
  async sums(parameters: SumsParameters, options?: CallOptions): Promise<Counted<Sums>> {
    const answer = await this.#answer<Sums>('/sums', { ...parameters, ...DETAIL }, options)
    return withNotice(answer, describeChoice(answer))
  }

  /** The same query for one set: of `chosen` or `left_out`, or of the choices of NotComparable. */
  async follow<Body extends Series | Sums = Series>(
    choice: Pick<Choice, 'url' | 'words'>,
    options?: CallOptions,
  ): Promise<Counted<Body>> {
    if (choice.url === null) {
      const detail = 'No filters choose this set. side_by_side gives every set.'
      throw new InvalidParameter({ status: 0, code: 'invalid_parameter', detail })
    }
    return withNotice(await this.#receive<Body>(choice.url, options), `Counted as ${choice.words}.`)
  }

  /** See how a number was revised. */
  vintages(parameters: VintagesParameters, options?: CallOptions): Promise<Vintages> {
    return this.#get('/vintages', { ...parameters, ...DETAIL }, options)
  }

  /** Finds events, diseases, pathogens, places and sources by name, even by a synonym or misspelt. */
  search(
    q: string,
    parameters: Omit<SearchParameters, 'q'> = {},
    options?: CallOptions,
  ): Promise<Answered<SearchAnswer>> {
    return this.#answer('/search', { q, ...parameters }, options)
  }

  /** The values that the matching records have, with their numbers. */
  facets(parameters: FacetsParameters = {}, options?: CallOptions): Promise<Answered<Facets>> {
    return this.#answer('/facets', parameters, options)
  }

  /** The number of records for each value of a field and each period. */
  coverage(parameters: CoverageParameters, options?: CallOptions): Promise<Answered<RecordCoverage>> {
    return this.#answer('/coverage', parameters, options)
  }

  /** Any query as the service returns it: `read('sums', { event })` gives its short form, whose rows are those of the CSV. */
  async read<Body>(resource: string, parameters: Query = {}, { signal }: CallOptions = {}): Promise<Read<Body>> {
    const { body, headers } = await this.#transport.getJson({ path: this.#toPath(`/${resource}`, parameters), signal })
    return { body: body as Body, ...readAbout(headers) }
  }

  /** What changed between two releases, and why. */
  changes(parameters: ChangesParameters, options?: WalkOptions): Walk<Change> {
    return this.#walk('/changes', parameters, options)
  }

  /** The releases, the latest first. */
  releases(options?: WalkOptions): Walk<Release> {
    return this.#walk('/releases', {}, options)
  }

  /** A release: its counts, its digest and its files. */
  release(release: ReleaseReference = this.#release ?? 'latest', options?: CallOptions): Promise<Release> {
    return this.#get(`/releases/${encodeURIComponent(release)}`, {}, options)
  }

  /** A citation of the matching records, as text or in another format. */
  async cite(parameters: CitationParameters = {}, { signal }: CallOptions = {}): Promise<string> {
    const query = this.#atRelease(parameters)
    if (parameters.format !== undefined && parameters.format !== 'json')
      return this.#transport.getText({ path: this.#toPath('/citation', query), signal })
    return (await this.#get<Citation>('/citation', query, { signal })).text
  }

  /**
   * A URL that opens this one query without a token: for a spreadsheet, a BI tool or a script. Anyone who has it can read the
   * answer, for 90 days or as many as `days` says, at most 180. It is CSV unless `format` says otherwise.
   */
  async link<Question extends keyof LinkedParameters>(
    question: Question,
    parameters: LinkedParameters[Question],
    { days, signal }: CallOptions & { days?: number } = {},
  ): Promise<string> {
    const query = { format: 'csv', ...(question === 'vintages' ? parameters : this.#atRelease(parameters)) }
    const url = this.#toPath(question === 'records' ? '/outbreaks' : `/${question}`, query)
    return (await this.#get<{ url: string }>('/link', { url, days }, { signal })).url
  }

  /**
   * Watches a question of `sums`, or with none every release: the service judges each later release, and `notices` has what it says.
   * `when` is `changes`, `changes:cases:10`, `crosses:cases:1000`, `appears` or `corrects`; `endpoint` the id of a webhook or
   * mailbox. If no answer arrives, look at `watches` before you create it again.
   */
  watch(
    when: string,
    question: WatchParameters = {},
    { signal, ...more }: CallOptions & { name?: string; endpoint?: string } = {},
  ): Promise<Watch & { warnings: string[] }> {
    return this.#send('POST', '/watches', { question: toQuery(question), when, ...more }, { signal, once: true })
  }

  /** What a watch would have said about the latest releases, ten or as many as `releases` says. */
  previewWatch(
    when: string,
    question: WatchParameters = {},
    { signal, ...more }: CallOptions & { releases?: number } = {},
  ): Promise<WatchPreview> {
    return this.#send('POST', '/watches/preview', { question: toQuery(question), when, ...more }, { signal })
  }

  /** Your watches, the oldest first. */
  async watches(options?: CallOptions): Promise<Watch[]> {
    return (await this.#get<{ data: Watch[] }>('/watches', {}, options)).data
  }

  /** Pauses a watch (`{ state: 'paused' }`), resumes it (`active`, from the next release on), or renames it. */
  changeWatch(id: string, change: WatchChange, options?: CallOptions): Promise<Watch> {
    return this.#send('PATCH', watchPath(id), change, options)
  }

  /** Deletes a watch and what it said. */
  deleteWatch(id: string, { signal }: CallOptions = {}): Promise<void> {
    // A second request would find no watch.
    return this.#send('DELETE', watchPath(id), undefined, { signal, once: true })
  }

  /**
   * What a watch said about the releases after `after`; without a watch, each publication, rollback and pruning after the notice
   * with that number. With `waitMs` it waits for a notice if there is none yet.
   */
  notices(options: NoticeOptions & { readonly watch: string }): Promise<Notices<WatchNotice>>
  notices(options?: NoticeOptions): Promise<Notices<ReleaseNotice>>
  notices(options: NoticeOptions = {}): Promise<Notices<WatchNotice | ReleaseNotice>> {
    const { watch, signal } = options
    const path = `${watch === undefined ? '' : watchPath(watch)}/notices`
    return waitForNotices((after) => this.#get(path, { after }, { signal }), options)
  }

  /** A file of a release: csv, ndjson or parquet. The bytes of csv and ndjson are compressed by gzip; see `text()`. */
  async download(format: string, options: DownloadOptions & { release?: ReleaseReference } = {}): Promise<Download> {
    const { number, files } = await this.release(options.release, options)
    const file = findFile(files, format)
    const path = this.#toPath(`/releases/${number}/files/${encodeURIComponent(file.name)}`, {})
    return new Download(this.#transport, file, { path, release: number }, options)
  }

  /** Reads all records of a release and compares their digest with the published one. Throws Damaged if they differ. */
  async verify(
    release?: ReleaseReference,
    options?: CallOptions,
  ): Promise<{ release: number; records: number; digest: string }> {
    const published = await this.release(release, options)
    const file = findFile(published.files, 'ndjson')
    const path = this.#toPath(`/releases/${published.number}/files/${file.name}`, {})
    const download = new Download(this.#transport, file, { path, release: published.number }, options ?? {})
    const computed = new ReleaseDigest()
    for await (const line of readLines(download.text())) computed.add(line)
    return { release: published.number, records: computed.records, digest: requireDigest(computed.end(), published) }
  }

  /**
   * The records of the release `to`, line by line, from a copy of the release `from` and what changed since. Fails at the end
   * if the digest is not the published one: keep the old copy until then. `counts` gets the number of changes.
   */
  async *update(
    copy: Iterable<string> | AsyncIterable<string>,
    {
      from,
      to = 'latest',
      counts,
      signal,
    }: CallOptions & { from: number; to?: ReleaseReference; counts?: ChangeCounts },
  ): AsyncGenerator<string, void, undefined> {
    const published = await this.release(to, { signal })
    const changes = this.#lines('/changes', { from, to: published.number }, { signal })
    const computed = new ReleaseDigest()
    for await (const line of applyChanges(copy, changes, counts)) {
      computed.add(line)
      yield line
    }
    requireDigest(computed.end(), published)
  }

  #atRelease(parameters: Query): Query {
    return this.#release === undefined ? parameters : { release: this.#release, ...parameters }
  }

  #toPath(path: string, query: Query): string {
    const search = toQuery(query)
    return `${this.#root}${path}${search === '' ? '' : `?${search}`}`
  }

  async #send<Body>(
    method: Request['method'],
    path: string,
    body: object | undefined,
    options: Pick<Request, 'once' | 'signal'> = {},
  ): Promise<Body> {
    const request = {
      ...options,
      method,
      path: this.#root + path,
      body: JSON.stringify(body),
      headers: body && JSON_TYPE,
    }
    return (await this.#transport.getJson(request)).body as Body
  }

  async #get<Body>(path: string, query: Query, { signal }: CallOptions = {}): Promise<Body> {
    return (await this.#transport.getJson({ path: this.#toPath(path, query), signal })).body as Body
  }

  #answer<Body>(path: string, parameters: Query, options?: CallOptions): Promise<Answered<Body>> {
    return this.#receive(this.#toPath(path, this.#atRelease(parameters)), options)
  }

  async #receive<Body>(path: string, { signal }: CallOptions = {}): Promise<Answered<Body>> {
    const { body, headers } = await this.#transport.getJson({ path, signal })
    const { release, warning } = readAbout(headers)
    return Object.defineProperties(body as Answered<Body>, {
      release: { value: release },
      warnings: { value: warning === null ? [] : [warning] },
    })
  }

  #lines(path: string, query: Query, { signal }: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return receiveLines(this.#transport, (sent) => this.#toPath(path, sent), query, signal)
  }

  #walk<Item>(path: string, query: Query, options?: WalkOptions): Walk<Item> {
    const toPath = (page: string | null) => this.#toPath(path, { num: PAGE_SIZE, ...query, page })
    return new Walk(this.#transport, toPath, options)
  }
}

export type { Choice } from './choice.ts'
export { applyChanges, type ChangeCounts } from './copy.ts'
export { digest } from './digest.ts'
export { Download, type DownloadOptions } from './download.ts'
export {
  Damaged,
  Gone,
  InvalidParameter,
  NotAllowed,
  NotComparable,
  NotFound,
  OutbreaksError,
  type Problem,
  Unavailable,
} from './errors.ts'
export type * from './generated/answers.ts'
export type * from './generated/parameters.ts'
export type * from './generated/record.ts'
export type { LinkedParameters } from './query.ts'
export type { CallOptions, Options, TokenFunction } from './transport.ts'
export { type Answered, type Counted, type Read, Walk, type WalkOptions } from './walk.ts'
export type { NoticeOptions, Notices, WatchChange, WatchPreview } from './watches.ts'
