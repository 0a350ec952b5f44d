// The envelope of every answer: what was read, how to cite it, what to beware of, and the data in at most 8 kB.
import * as z from 'zod'
import { type Access, type ReleaseFacts, readRelease } from './access.ts'
import { addressOf, explorerPage, InvalidArgument, MAX_ADDRESS, type Query, TOO_LONG } from './query.ts'
import { cleanText, cleanValue } from './untrusted-text.ts'

export interface Call {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A way to go on where a person must choose. Its call works as it stands. */
export interface Choice {
  readonly words: string
  readonly counts?: Readonly<Record<string, number | null>>
  readonly call: Call
}

interface More {
  /** Rows that are not shown. */
  readonly left: number
  readonly call?: Call | undefined
}

export interface Draft {
  readonly outcome: 'answer' | 'choose' | 'none'
  readonly release: number | string
  readonly newestRelease: number | null
  /** What was asked, in words. */
  readonly title: string
  /** The address of the answer: `query` names no release, or all of them by number if `isPinned`. */
  readonly resource: string
  readonly query: Query
  readonly isPinned?: boolean
  /** The page of the explorer and its filters; null if no page shows it. */
  readonly page: { readonly path: string; readonly query: Query } | null
  readonly method: string
  readonly warnings: readonly string[]
  readonly choices?: readonly Choice[]
  /** The data with that many rows of `rows`, and at most that many ways of counting. */
  readonly data: (shown: number, ways: number) => Readonly<Record<string, unknown>>
  readonly rows: number
  readonly more: (shown: number) => More | null
}

const choice = z.object({
  words: z.string(),
  counts: z.record(z.string(), z.number().nullable()).optional(),
  call: z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }),
})

export const envelope = z.object({
  outcome: z.enum(['answer', 'choose', 'none']),
  release: z.int(),
  published_at: z.string(),
  newest_release: z.int(),
  question: z.string(),
  explorer: z.string().nullable(),
  citation: z.string(),
  method: z.string(),
  warnings: z.array(z.string()),
  choices: z.array(choice).max(5).optional(),
  data: z.record(z.string(), z.unknown()),
  more: z.object({ left: z.int(), call: choice.shape.call.optional() }).nullable(),
})
export type Envelope = z.infer<typeof envelope>

/** Of an answer as JSON. */
const MAX_BYTES = 8000
const MAX_WARNINGS = 8

export async function toEnvelope(access: Access, draft: Draft): Promise<Envelope> {
  const facts = await readRelease(access, draft.release)
  const newest = Math.max(draft.newestRelease ?? facts.number, facts.number)
  const pinned = draft.isPinned ? draft.query : { ...draft.query, release: facts.number }
  const question = addressOf(access, draft.resource, pinned)
  if (question.length > MAX_ADDRESS) throw new InvalidArgument(TOO_LONG)
  const explorer = draft.page && explorerPage(access, draft.page.path, { release: facts.number, ...draft.page.query })
  const warnings = [
    ...draft.warnings,
    ...(newest > facts.number ? [`Release ${newest} is newer than release ${facts.number}, which was read.`] : []),
  ]
  const build = (shown: number, ways: number): Envelope => ({
    outcome: draft.outcome,
    release: facts.number,
    published_at: facts.published_at,
    newest_release: newest,
    question,
    explorer,
    citation: cite(cleanText(draft.title), facts, question),
    method: draft.method,
    warnings: warnings.slice(0, MAX_WARNINGS).map((text) => cleanText(text)),
    ...(draft.choices === undefined ? {} : { choices: cleanValue(draft.choices) as never }),
    data: cleanValue(draft.data(shown, ways)) as Record<string, unknown>,
    more: draft.more(shown),
  })
  return fit(build, draft.rows)
}

/** The ways of counting that are named: all, or where rows would not fit, some. */
const WAYS = [40, 20, 12, 5, 1]

/** With all rows and as many ways of counting as fit, or with as many rows as fit. */
function fit(build: (shown: number, ways: number) => Envelope, rows: number): Envelope {
  const fits = (answer: Envelope) => Buffer.byteLength(JSON.stringify(answer)) <= MAX_BYTES
  for (const ways of WAYS) {
    const all = build(rows, ways)
    if (fits(all)) return all
  }
  const [fewest = 1] = WAYS.slice(-1)
  let [shown, tooMany, best] = [0, rows, build(0, fewest)]
  while (tooMany - shown > 1) {
    const middle = Math.floor((shown + tooMany) / 2)
    const answer = build(middle, fewest)
    if (fits(answer)) [shown, best] = [middle, answer]
    else tooMany = middle
  }
  if (!fits(best)) throw new InvalidArgument(TOO_LONG)
  return best
}

const cite = (title: string, { number, as_of, published_at, licence }: ReleaseFacts, url: string): string =>
  `${title}. Outbreak Data Service, release ${number}, data as of ${as_of}, published ${published_at.slice(0, 10)}. ${licence}. ${url}`
