// Random watches over twelve releases with corrections, withdrawals, rollbacks and a prune, judged by the notifier and by a second
// program that compares the records of each pair. WATCHES is the number of watches in all.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { pruneReleases } from '../../src/publish/prune.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { rollbackTo } from '../../src/publish/rollback.ts'
import { drawMixedRows } from '../fixtures/oracle/mixed-records.ts'
import { type Row, writeNdjson } from '../fixtures/releases.ts'
import { HOME, openRoutes } from '../fixtures/routes.ts'
import { type NoticeBody, openNotifier } from '../fixtures/watches/open-notifier.ts'
import { createDraw } from '../oracle/draw.ts'
import { drawHostileRows } from '../oracle/hostile-records.ts'
import type { PublishedRecord } from '../oracle/published.ts'
import { skipWithoutPython, writeSubdivisions } from '../oracle/python.ts'
import { createMixedQuestions, createQuestions, type Question } from '../oracle/questions.ts'

const WATCHES = Number(process.env['WATCHES'] ?? 60)
const RELEASES = 12
const PRUNED = 3
const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested']
/** Every tenth watch is previewed as well. */
const PREVIEWED = 10
const MAX_SHOWN = 5

interface DrawnWatch {
  question: Omit<Question, 'kind'>
  kind: 'changes' | 'crosses' | 'appears' | 'corrects'
  count?: string
  value?: number
}
type Said = Record<string, null | (Record<string, unknown> & { type: string })>

const draw = createDraw()

/** What of a release becomes of it: most releases touch only some of the events, so that most watches can be skipped. */
function evolve(rows: readonly Row[], reserve: Row[]): Row[] {
  const events = [...new Set(rows.map(({ event }) => event))]
  const touched = new Set(draw.shuffle(events).slice(0, 1 + draw.below(Math.max(1, Math.trunc(events.length / 3)))))
  const changed = rows.flatMap((row) => {
    if (!touched.has(row.event) || draw.chance(0.8)) return [row]
    if (draw.chance(0.2)) return []
    if (draw.chance(0.1) && typeof row['admin_l1'] === 'string' && typeof row['al1_code'] === 'string')
      return [{ ...row, admin_l1: `${row['admin_l1']} renamed` }]
    const { cases } = row
    return [
      {
        ...row,
        cases: typeof cases !== 'number' || draw.chance(0.1) ? null : Math.max(0, cases + draw.below(40) - 15),
      },
    ]
  })
  return [...changed, ...reserve.splice(0, draw.below(60))]
}

const worlds = [
  {
    name: 'series with everything that goes wrong',
    draw: () => drawHostileRows(draw, 60),
    questions: (records: readonly PublishedRecord[], filters: ReadonlySet<string>) =>
      createQuestions(draw, records, { filters, releases: 1, byCountry: false }),
  },
  {
    name: 'events that are counted in several ways',
    draw: () => drawMixedRows(draw),
    questions: (records: readonly PublishedRecord[]) => createMixedQuestions(draw, records, 1),
  },
]

for (const world of worlds)
  test(world.name, { skip: skipWithoutPython, timeout: 7_200_000 }, async (t) => {
    const notifier = await openNotifier()
    const { operator, judge, superuser, send } = notifier
    const routes = await openRoutes({ url: notifier.url })
    let rows: readonly Row[] = world.draw()
    const reserve = draw.shuffle(rows).slice(0, Math.trunc(rows.length / 4))
    const reserved = new Set(reserve)
    rows = rows.filter((row) => !reserved.has(row))
    const history: (readonly Row[])[] = []
    for (let release = 1; release <= RELEASES; release += 1) {
      const back = release === 6 ? 4 : release === 10 ? 7 : null
      const confirmed = { confirmedWithdrawn: rows.length }
      if (back !== null) {
        rows = history[back - 1] ?? []
        const withdrawn = countMissing(history.at(-1) ?? [], rows)
        await rollbackTo(operator, hedOutbreaks, back, 'The releases since were wrong.', {
          confirmedWithdrawn: withdrawn,
        })
      } else {
        if (release > 1) rows = evolve(rows, reserve)
        const withdrawn = countMissing(history.at(-1) ?? [], rows)
        await publishRelease(operator, hedOutbreaks, await writeNdjson(rows), {
          ...confirmed,
          confirmedWithdrawn: withdrawn,
        })
      }
      history.push(rows)
    }
    await Promise.all([notifier.refresh(), routes.refresh()])
    const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-watched-'))
    after(() => rm(scratch, { recursive: true, force: true }))
    const files: string[] = []
    const records: PublishedRecord[] = []
    for (let release = 1; release <= RELEASES; release += 1) {
      const own = (await routes.walk(`${HOME}/outbreaks`, { release, num: 1000 })) as PublishedRecord[]
      const file = path.join(scratch, `${release}.ndjson`)
      await writeFile(file, own.map((record) => `${JSON.stringify(record)}\n`).join(''))
      files.push(`${release}=${file}`)
      records.push(...own)
    }
    const filters = new Set(Object.keys(hedOutbreaks.fields.reduce((all, { name }) => ({ ...all, [name]: 1 }), {})))
    const drawQuestion = world.questions(records, filters)
    const wanted = Math.ceil(WATCHES / worlds.length)
    const watches: { id: string; watch: DrawnWatch; text: string; when: string }[] = []
    for (let attempt = 0; watches.length < wanted; attempt += 1) {
      assert.ok(attempt < wanted * 20, 'most questions are not valid')
      const watch = drawWatch(drawQuestion())
      const [text, when] = [writeQuestion(watch), writeCondition(watch)]
      const client = `client ${Math.trunc(watches.length / 50)}`
      if (watches.length % 50 === 0) await superuser.query('delete from client where client_id = $1', [client])
      if (watches.length % 50 === 0) await notifier.addClient(client)
      const { status, body } = await send('POST', '', { question: text, when }, client)
      if (status === 201) watches.push({ id: String(body?.['id']), watch, text, when })
      else assert.equal(status, 400, JSON.stringify([text, body]))
    }
    await superuser.query('update watch set judged = 1')
    await pruneReleases(operator, hedOutbreaks, PRUNED, PRUNED - 1)
    const rounds = await notifier.judgeAll()
    const expected = await judgeElsewhere(
      files,
      watches.map(({ watch }) => watch),
    )
    const differences: string[] = []
    let said = 0
    for (const [i, { id, watch, text, when }] of watches.entries()) {
      const notices = (await notifier.deliveries(id)).map(({ body }) => body)
      said += notices.length
      const actual = Object.fromEntries(notices.map((notice) => [notice.data.release, summarise(notice, watch)]))
      for (let release = 2; release <= RELEASES; release += 1) {
        const should = release <= PRUNED ? 'pruned' : (expected[i]?.[release] ?? null)
        const is = actual[release] ?? null
        if (JSON.stringify(sort(is)) !== JSON.stringify(sort(should)))
          differences.push(
            `${text} ${when} release ${release}: ${JSON.stringify(is)} instead of ${JSON.stringify(should)}`,
          )
      }
      if (i % PREVIEWED > 0) continue
      const { status, body } = await send('POST', '/preview', { question: text, when })
      assert.equal(status, 200, JSON.stringify(body))
      const strip = ({ type, data: { watch: _watch, name: _name, ...data } }: NoticeBody) => ({ type, data })
      const recent = notices.filter(({ data }) => data.release > RELEASES - 10)
      assert.deepEqual(((body?.['data'] ?? []) as NoticeBody[]).map(strip), recent.map(strip))
    }
    const skipped = rounds.reduce((sum, round) => sum + round.skipped, 0)
    const pairs = rounds.reduce((sum, round) => sum + round.pairs, 0)
    t.diagnostic(
      `${watches.length} watches, ${pairs} pairs of releases, ${skipped} skipped, ${said} notices, ${differences.length} differences`,
    )
    assert.ok(judge !== undefined && skipped > 0 && said > 0)
    assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
  })

function countMissing(before: readonly Row[], now: readonly Row[]): number {
  const keys = new Set(now.map((row) => ('key' in row ? row.key : '')))
  return before.filter((row) => 'key' in row && !keys.has(row.key)).length
}

function drawWatch({
  kind: _kind,
  interval: _i,
  group_by: _g,
  explain: _e,
  strict: _s,
  sort: _o,
  count: _c,
  ...question
}: Question): DrawnWatch {
  const kind = draw.pick(['changes', 'crosses', 'crosses', 'appears', 'corrects'] as const)
  if (kind === 'appears' || kind === 'corrects' || (kind === 'changes' && draw.chance(0.5))) return { question, kind }
  const count = draw.pick(COUNTS.slice(0, 2))
  const value = kind === 'changes' ? 1 + draw.below(40) : 1 + draw.below(draw.pick([50, 500, 5000]))
  return { question: { ...question, count }, kind, count, value }
}

function writeQuestion({ question }: DrawnWatch): string {
  const { filters, missing, count: _count, ...others } = question
  const parameters = new URLSearchParams()
  for (const [name, values] of Object.entries(filters))
    for (const value of values) parameters.append(name, String(value))
  for (const name of missing) parameters.append('missing', name)
  for (const [name, value] of Object.entries(others))
    for (const item of [value].flat()) parameters.append(name, String(item))
  return parameters.toString()
}

const writeCondition = ({ kind, count, value }: DrawnWatch) =>
  count === undefined ? kind : `${kind}:${count}:${value}`

/** What both programs say. */
function summarise({ type, data }: NoticeBody, { kind }: DrawnWatch): object | string {
  if (data['reason'] === 'pruned') return 'pruned'
  const changes: Record<string, number> = {}
  for (const { kind: change, records } of data['changes'] as { kind: string; records: number }[])
    changes[change] = (changes[change] ?? 0) + records
  if (kind === 'corrects') return { type, changes }
  if (kind === 'appears') return { type, changes, events: data['events'] }
  return { type, changes, before: data['before'], after: data['after'] }
}

function sort(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.entries(value)
    .map(([name, inner]) => [name, sort(inner)])
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

async function judgeElsewhere(files: readonly string[], watches: readonly DrawnWatch[]): Promise<Said[]> {
  const child = spawn('python3', ['-B', path.join(import.meta.dirname, 'judge.py'), ...files], {
    env: { ...process.env, SUBDIVISIONS: writeSubdivisions() },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const said: Said[] = []
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line) as Said))
  child.stdin.end(watches.map((watch) => `${JSON.stringify(watch)}\n`).join(''))
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
  assert.equal(said.length, watches.length)
  return said
}
