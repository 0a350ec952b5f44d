// 16: two processes of the service on one port, beside one. Only told, never a goal: client and PostgreSQL need cores too.
// Where there are few, what a page costs the processes and how many cores they keep busy say more than pages a second.
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { load, openConnection } from '../client.ts'
import type { Contender } from '../contenders/child.ts'
import { type Findings, figure, result } from '../goal.ts'
import { ratios, takeTurns } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'
import { type Encoding, type Store, startServer, startTarget, type Target, UNCACHED } from '../target.ts'

/** So many that one of two processes hardly ever gets all of them, so few that one alone is not overloaded by them. */
const CLIENTS = 8
const MEET_MS = 30_000
/** How Linux counts the time of a process. */
const TICKS_PER_SECOND = 100

interface Kind {
  goals: [pages: string, cost: string]
  name: string
  overrides: Record<string, string>
  place: () => string
  encoding: Encoding
}

interface Group {
  target: Target
  processes: Contender[]
}

export async function measureCores(stage: Stage): Promise<Findings> {
  if (process.platform !== 'linux')
    return {
      results: [],
      figures: [],
      skipped: [{ goal: '16', reason: 'the time of a process is read as Linux tells it' }],
    }
  const { pages } = stage
  const cold = { overrides: UNCACHED, place: () => pages[Math.floor(Math.random() * pages.length)] ?? '' }
  const kinds: Kind[] = [
    { goals: ['16a', '16d'], name: 'cold gzip page', ...cold, encoding: 'gzip' },
    { goals: ['16b', '16e'], name: 'cached gzip page', overrides: {}, place: () => PAGES_PATH, encoding: 'gzip' },
    { goals: ['16c', '16f'], name: 'cold identity page', ...cold, encoding: 'identity' },
  ]
  const found: Findings[] = []
  for (const kind of kinds) found.push(await measureKind(stage, kind))
  return {
    results: found.flatMap(({ results }) => results),
    figures: found.flatMap(({ figures }) => figures),
    skipped: [],
  }
}

async function measureKind({ options, store }: Stage, kind: Kind): Promise<Findings> {
  const { goals, name, place, encoding } = kind
  const one = await startGroup(store, 1, kind.overrides)
  const two = await startGroup(store, 2, kind.overrides)
  const busy = { one: [] as number[], two: [] as number[] }
  const plan = { connections: CLIENTS, goesOn: options.seconds }
  const next = (target: Target) => () => target.get(place(), encoding)
  const ask =
    ({ target, processes }: Group, cores: number[]) =>
    async () => {
      const [before, began] = [readSeconds(processes), performance.now()]
      const { perSecond } = await load(target.address, next(target), plan)
      cores.push(((readSeconds(processes) - before) * 1000) / (performance.now() - began))
      return perSecond
    }
  try {
    const contenders = { one: ask(one, busy.one), two: ask(two, busy.two) }
    // Two need twice the requests until they are compiled well. Until then they may call themselves overloaded.
    for (const { target } of [one, two, two])
      await load(target.address, next(target), { ...plan, connections: 4 }).catch(ignoreOverload)
    const measured = await takeTurns(options.rounds, contenders)
    // Without the round that warmed up.
    const cores = { one: busy.one.slice(-options.rounds), two: busy.two.slice(-options.rounds) }
    const cost = { one: ratios(cores.one, measured.one), two: ratios(cores.two, measured.two) }
    return {
      results: [
        result(goals[0], `${name}: two processes / one`, null, ratios(measured.two, measured.one)),
        result(goals[1], `CPU for a ${name}: two processes / one`, null, ratios(cost.two, cost.one)),
      ],
      figures: [
        figure(`one process, ${CLIENTS} connections: ${name}`, 'pages/s', measured.one),
        figure(`two processes, ${CLIENTS} connections: ${name}`, 'pages/s', measured.two),
        figure(`one process: cores used by ${name}s`, 'cores', cores.one),
        figure(`two processes: cores used by ${name}s`, 'cores', cores.two),
      ],
      skipped: [],
    }
  } finally {
    for (const contender of [...one.processes, ...two.processes]) await contender.stop()
  }
}

function ignoreOverload(error: Error): void {
  if (!error.message.includes('HTTP/1.1 503')) throw error
}

/** Each has a limit of its own, by which it is known. */
async function startGroup(store: Store, size: number, overrides: Record<string, string>): Promise<Group> {
  const own = (index: number) => ({
    ...overrides,
    OUTBREAKS_SHARE_PORT: 'true',
    OUTBREAKS_RATE_LIMIT: String(1_000_000_000 - index),
  })
  const target = await startTarget(store, own(0))
  const { port } = new URL(target.address)
  const processes: Contender[] = [target]
  for (let index = 1; index < size; index++)
    processes.push(await startServer(store, { ...own(index), OUTBREAKS_PORT: port }))
  await meetAll(target, size)
  return { target, processes }
}

/** That the port answers says nothing of one process: new connections are made until all have answered. */
async function meetAll(target: Target, size: number): Promise<void> {
  const limits = new Set<number>()
  for (const deadline = Date.now() + MEET_MS; limits.size < size; await wait(20)) {
    if (Date.now() > deadline) throw new Error(`of ${size} processes on one port ${limits.size} answer`)
    const connection = openConnection(target.address, { keep: true })
    const answer = (await connection.ask(target.get('/v2/whoami', 'identity'))).toString()
    connection.close()
    limits.add((JSON.parse(answer) as { quota: { limit: number } }).quota.limit)
  }
}

/** The time they have had on any core, all threads together. */
function readSeconds(processes: readonly Contender[]): number {
  const ticks = processes.map(({ pid }) => {
    // Behind the name, which may hold anything: the 12th and 13th field are its own time and that of the system for it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, value) => sum + value, 0) / TICKS_PER_SECOND
}
