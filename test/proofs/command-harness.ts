// A small store on which tests run operator commands, and a model of what each release contains.
// The model is pure: a command gives the next model, or null if it must be rejected.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { OperatorError } from '../../src/platform/operator-error.ts'
import { migrate } from '../../src/platform/postgres/migrate.ts'
import { exportRelease } from '../../src/publish/export/export-files.ts'
import { pruneReleases } from '../../src/publish/prune.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { rollbackTo } from '../../src/publish/rollback.ts'
import { openDirectoryStore } from '../../src/storage/files/directory-store.ts'
import { writeChanges, writeNdjson } from '../fixtures/releases.ts'
import { HOME, openRoutes, type Query } from '../fixtures/routes.ts'

/** Cases by key. */
const MAX_ATTEMPTS = 5
const RETRY_MS = 500

export type Contents = ReadonlyMap<string, number>

export interface Model {
  /** From release 1 on. */
  readonly releases: readonly Contents[]
  readonly oldestKept: number
}

export type Command =
  | { readonly kind: 'publish'; readonly contents: Contents }
  | {
      readonly kind: 'change'
      readonly base: number
      readonly changed: Contents
      readonly withdrawn: readonly string[]
    }
  | { readonly kind: 'rollback'; readonly to: number }
  | { readonly kind: 'prune'; readonly before: number }
  | { readonly kind: 'export'; readonly release: number }
  | { readonly kind: 'migrate' }

export const latestOf = ({ releases }: Model): Contents => releases.at(-1) ?? new Map()

/** The model after the command, or null if the command must be rejected. */
export function apply(model: Model, command: Command): Model | null {
  const { releases, oldestKept } = model
  const isKept = (release: number) => release >= oldestKept && release <= releases.length
  switch (command.kind) {
    case 'publish':
      return addRelease(model, command.contents)
    case 'change': {
      if (command.base !== releases.length) return null
      const next = new Map([...latestOf(model), ...command.changed])
      for (const key of command.withdrawn) if (!next.delete(key)) return null
      return addRelease(model, next)
    }
    case 'rollback':
      if (!isKept(command.to) || command.to === releases.length) return null
      return addRelease(model, releases[command.to - 1] as Contents)
    case 'prune':
      return isKept(command.before) ? { ...model, oldestKept: command.before } : null
    case 'export':
      return isKept(command.release) ? model : null
    case 'migrate':
      return model
  }
}

/** A release that equals the latest one is not published. */
const addRelease = (model: Model, contents: Contents): Model =>
  model.releases.length > 0 && isEqual(latestOf(model), contents)
    ? model
    : { ...model, releases: [...model.releases, contents] }

export const isEqual = (left: Contents, right: Contents): boolean =>
  left.size === right.size && [...left].every(([key, cases]) => right.get(key) === cases)

/** Each source has half of the records, so that a filter matches part of every page. */
const SOURCES = ['Ministry', 'Laboratory'] as const
const sourceOf = (key: string) => SOURCES[Number(key.slice(1)) % 2] as string
export const ofSource = (contents: Contents, source: string): Contents =>
  new Map([...contents].filter(([key]) => sourceOf(key) === source))

const toRows = (contents: Contents) =>
  [...contents].map(([key, cases]) => ({
    ...{ key, cases, note: key, source_name: sourceOf(key), location_granularity: 'locality', locality: key },
    date_high: '2020-01-01',
  }))

export type CommandHarness = Awaited<ReturnType<typeof openHarness>>

export async function openHarness() {
  const routes = await openRoutes()
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
  after(() => rm(directory, { recursive: true, force: true }))
  const store = openDirectoryStore(directory)
  const { operator } = routes

  const commands: { [Kind in Command['kind']]: (command: Extract<Command, { kind: Kind }>) => Promise<unknown> } = {
    publish: async ({ contents }) =>
      publishRelease(operator, hedOutbreaks, await writeNdjson(toRows(contents)), {
        confirmedWithdrawn: await countWithdrawn(contents),
      }),
    change: async ({ base, changed, withdrawn }) =>
      publishRelease(operator, hedOutbreaks, await writeChanges(base, toRows(changed), withdrawn), {
        confirmedWithdrawn: withdrawn.length,
      }),
    rollback: async ({ to }) =>
      rollbackTo(operator, hedOutbreaks, to, 'A test rolls back.', { confirmedWithdrawn: await countWithdrawn(to) }),
    prune: ({ before }) => pruneReleases(operator, hedOutbreaks, before),
    export: ({ release }) => exportRelease(operator, store, hedOutbreaks, release),
    migrate: () => migrate(routes.url),
  }

  /** Other tests may use the machine: a refresh that takes too long is tried again. */
  async function refresh(tries = 10): Promise<void> {
    await routes.refresh().catch((error: unknown) => {
      if (tries === 0) throw error
      return refresh(tries - 1)
    })
  }

  /** The number of records of the latest release that the next one withdraws. `next` is its contents or an earlier release. */
  async function countWithdrawn(next: Contents | number): Promise<number> {
    await refresh()
    const newest = routes.releases().at(-1)
    const known = typeof next !== 'number' || routes.releases()[next - 1]?.prunedAt === null
    if (newest === undefined || !known) return 0
    const contents = typeof next === 'number' ? await readRelease(next) : next
    return [...(await readRelease(newest.number)).keys()].filter((key) => !contents.has(key)).length
  }

  async function readRelease(release: number): Promise<Contents> {
    return toContents(await routes.walk(`${HOME}/outbreaks`, { num: 1000, release }))
  }

  return {
    ...routes,
    refresh,
    readRelease,
    /** False if the command was rejected with an OperatorError. */
    async run(command: Command): Promise<boolean> {
      try {
        await (commands[command.kind] as (given: Command) => Promise<unknown>)(command)
        return true
      } catch (error) {
        if (error instanceof OperatorError) return false
        throw error
      }
    },
    /** Asserts that every release, and the changes between successive releases, agree with the model. */
    async assertModel({ releases, oldestKept }: Model): Promise<void> {
      await refresh()
      assert.equal(routes.releases().length, releases.length)
      for (const [i, contents] of releases.entries()) {
        const release = i + 1
        if (release < oldestKept) {
          await routes.assertProblem(`${HOME}/outbreaks`, { release }, 410, 'release_pruned')
          continue
        }
        assert.deepEqual(await readRelease(release), sorted(contents), `release ${release}`)
        assert.equal(routes.releases()[i]?.records, contents.size)
        const before = releases[i - 1]
        if (before !== undefined && release > oldestKept) await assertChanges(i, before, contents)
      }
    },
  }

  async function assertChanges(from: number, earlier: Contents, later: Contents): Promise<void> {
    const changes = await routes.walk(`${HOME}/changes`, { from, to: from + 1, num: 7 })
    const actual = changes.map(({ change, before, after: afterwards }) => {
      const { note } = (afterwards ?? before) as { note: string }
      return `${note} ${String(change)}`
    })
    const expected = [...new Set([...earlier.keys(), ...later.keys()])].flatMap((key) => {
      if (!earlier.has(key)) return [`${key} added`]
      if (!later.has(key)) return [`${key} withdrawn`]
      return earlier.get(key) === later.get(key) ? [] : [`${key} corrected`]
    })
    assert.deepEqual(actual.sort(), expected.sort(), `changes from ${from}`)
  }
}

export const toContents = (records: readonly Record<string, unknown>[]): Contents =>
  sorted(new Map(records.map(({ note, cases }) => [note as string, cases as number])))

export const sorted = (contents: Contents): Contents => new Map([...contents].sort(([a], [b]) => (a < b ? -1 : 1)))

/** A busy machine can make a query miss its timeout: like a client, the walk then retries. */
async function injectAndRetry(harness: CommandHarness, address: string, query: Query) {
  for (let attempt = 1; ; attempt++) {
    const response = await harness.inject(address, query)
    if (response.statusCode !== 503 || attempt === MAX_ATTEMPTS) return response
    await wait(RETRY_MS)
  }
}

/** The records that a walk read, or 'pruned' if its release was pruned during the walk. Awaits `pace` before each page. */
export async function walkPages(
  harness: CommandHarness,
  address: string,
  query: Query,
  next: (page: { data: readonly Record<string, unknown>[]; read: number; cursor: string | null }) => Query | null,
  pace: (pagesRead: number) => Promise<void>,
): Promise<Contents | 'pruned'> {
  const records: Record<string, unknown>[] = []
  let pages = 0
  for (let position: Query | null = {}; position !== null; ) {
    await pace(pages++)
    const response = await injectAndRetry(harness, address, { ...query, ...position })
    if (response.statusCode === 410) return 'pruned'
    assert.equal(response.statusCode, 200, response.body)
    const body = response.json<unknown>()
    const data = (Array.isArray(body) ? body : (body as { data: unknown[] }).data) as Record<string, unknown>[]
    records.push(...data)
    const cursor = Array.isArray(body) ? null : (body as { next_page: string | null }).next_page
    position = next({ data, read: records.length, cursor })
  }
  return toContents(records)
}
