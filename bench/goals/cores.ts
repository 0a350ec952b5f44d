// 13: two processes of the service on one port, compared with one. Only reported, never a goal: the client and PostgreSQL
// need cores too. With few cores, CPU time per page and the number of busy cores say more than pages per second.
import { setTimeout as wait } from 'node:timers/promises'
import { load, openConnection } from '../client.ts'
import type { Contender } from '../contenders/child.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'
import { type Encoding, type Store, startServer, startTarget, type Target, UNCACHED } from '../target.ts'
import { readCpuSeconds } from '../usage.ts'

/** Enough that one of two processes hardly ever gets all connections, and few enough that one process is not overloaded. */
const CLIENTS = 8
const READY_TIMEOUT_MS = 30_000

interface Kind {
  goals: [pages: string, cost: string]
  name: string
  overrides: Record<string, string>
  path: () => string
  encoding: Encoding
}

interface Group {
  target: Target
  processes: Contender[]
}

export async function measureCores(stage: Stage): Promise<Measurements> {
  const { pages } = stage
  const cold = { overrides: UNCACHED, path: () => pages[Math.floor(Math.random() * pages.length)] ?? '' }
  const kinds: Kind[] = [
    { goals: ['13a', '13d'], name: 'cold gzip page', ...cold, encoding: 'gzip' },
    { goals: ['13b', '13e'], name: 'cached gzip page', overrides: {}, path: () => PAGES_PATH, encoding: 'gzip' },
    { goals: ['13c', '13f'], name: 'cold identity page', ...cold, encoding: 'identity' },
  ]
  const measurements: Measurements[] = []
  for (const kind of kinds) measurements.push(await measureKind(stage, kind))
  return {
    results: measurements.flatMap(({ results }) => results),
    figures: measurements.flatMap(({ figures }) => figures),
    skipped: [],
  }
}

async function measureKind({ options, store }: Stage, kind: Kind): Promise<Measurements> {
  const { goals, name, path, encoding } = kind
  const one = await startGroup(store, 1, kind.overrides)
  const two = await startGroup(store, 2, kind.overrides)
  const busyCores = { one: [] as number[], two: [] as number[] }
  const plan = { connections: CLIENTS, duration: options.seconds }
  const next = (target: Target) => () => target.get(path(), encoding)
  const measureRate =
    ({ target, processes }: Group, cores: number[]) =>
    async () => {
      const [before, began] = [readSeconds(processes), performance.now()]
      const { perSecond } = await load(target.address, next(target), plan)
      cores.push(((readSeconds(processes) - before) * 1000) / (performance.now() - began))
      return perSecond
    }
  try {
    const contenders = { one: measureRate(one, busyCores.one), two: measureRate(two, busyCores.two) }
    // Two processes need twice the requests to warm up. Until then they may respond with 503 (overloaded).
    for (const { target } of [one, two, two])
      await load(target.address, next(target), { ...plan, connections: 4 }).catch(ignoreOverload)
    const measured = await measureInTurns(options.rounds, contenders)
    // Without the warm-up round.
    const cores = { one: busyCores.one.slice(-options.rounds), two: busyCores.two.slice(-options.rounds) }
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

/** Each process has its own rate limit, which identifies it in responses. */
async function startGroup(store: Store, size: number, overrides: Record<string, string>): Promise<Group> {
  const settingsOf = (index: number) => ({
    ...overrides,
    OUTBREAKS_SHARE_PORT: 'true',
    OUTBREAKS_RATE_LIMIT: String(1_000_000_000 - index),
  })
  const target = await startTarget(store, settingsOf(0))
  const { port } = new URL(target.address)
  const processes: Contender[] = [target]
  for (let index = 1; index < size; index++)
    processes.push(await startServer(store, { ...settingsOf(index), OUTBREAKS_PORT: port }))
  await waitForAll(target, size)
  return { target, processes }
}

/** Opens new connections until every process has responded: a response of the port says nothing about one process. */
async function waitForAll(target: Target, size: number): Promise<void> {
  const limits = new Set<number>()
  for (const deadline = Date.now() + READY_TIMEOUT_MS; limits.size < size; await wait(20)) {
    if (Date.now() > deadline) throw new Error(`only ${limits.size} of ${size} processes on one port respond`)
    const connection = openConnection(target.address, { keepBody: true })
    const response = (await connection.send(target.get('/v2/whoami', 'identity'))).toString()
    connection.close()
    limits.add((JSON.parse(response) as { quota: { limit: number } }).quota.limit)
  }
}

const readSeconds = (processes: readonly Contender[]) =>
  processes.reduce((sum, { pid }) => sum + readCpuSeconds(pid), 0)
