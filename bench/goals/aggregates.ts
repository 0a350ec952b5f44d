// Goals 3 and 4: exact counts, facets and sums over random filters, side by side with DuckDB that runs the same SQL on the
// index file of a node.

import { globSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { parseFigureRequest } from '../../src/api/figures/figure-request.ts'
import { readFigures } from '../../src/api/figures/read-figures.ts'
import { omitFilter, parseFilters } from '../../src/api/filters/filters.ts'
import { readFacets, readMatchingPage, readTotal } from '../../src/api/filters/run-filter-queries.ts'
import type { ColumnIndex } from '../../src/columns/column-index.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../src/platform/postgres/database.ts'
import { loadPublishedReleases, type PublishedRelease } from '../../src/storage/published-releases.ts'
import { type BareDuckDb, openBareDuckDb } from '../contenders/bare-duckdb.ts'
import { type Figure, figure, type Measurements, type Result, result } from '../goal.ts'
import { percentile, ratios } from '../measure.ts'
import { drawComparable, drawFilters, type Question, readFacetValues, requireSeries, toSearch } from '../questions.ts'
import type { Stage } from '../stage.ts'
import { createAsker, startReadyNode } from '../target.ts'
import { readThreadsMs } from '../usage.ts'

interface Kind {
  readonly goals: readonly [p99: string, bare: string]
  readonly name: string
  readonly maxMs: number
  draw(): Question | Promise<Question>
  toPath(question: Question): string
  /** Reads what the service reads for the question. It also checks the values of filters, which is its own cost. */
  read(index: ColumnIndex, question: Question): Promise<unknown>
}

interface Round {
  p50: number
  p99: number
  bareP99: number
  /** The time of all questions. */
  service: number
  bare: number
  serviceCpu: number
  bareCpu: number
  refused: number
}

export async function measureAggregates(stage: Stage): Promise<Measurements> {
  const { cold, options, scratch, store } = stage
  const directory = path.join(scratch, 'bare-index')
  await mkdir(directory, { recursive: true })
  const { target } = await startReadyNode(store, { OUTBREAKS_INDEX: directory })
  await target.stop()
  const [file = ''] = globSync(path.join(directory, 'hed-outbreaks-*.duckdb'))
  const bare = await openBareDuckDb(file)
  const database = openDatabase({ url: store.databaseUrl, role: null, connections: 1 })
  const release = await readRelease(database)
  const facets = await readFacetValues(cold)
  const kinds = createKinds(database, release, {
    filters: () => drawFilters(facets),
    comparable: () => drawComparable(cold, options.records),
  })
  const results: Result[] = []
  const figures: Figure[] = []
  const refused: number[][] = []
  try {
    for (const kind of kinds) {
      const rounds: Round[] = []
      // The first round warms up.
      for (let round = 0; round <= options.rounds; round++) {
        const measured = await measureRound(stage, kind, bare)
        if (round > 0) rounds.push(measured)
      }
      const valuesOf = (name: keyof Round) => rounds.map((round) => round[name])
      refused.push(valuesOf('refused'))
      results.push(
        result(kind.goals[0], `p99 of ${kind.name}`, { atMost: kind.maxMs }, valuesOf('p99'), 'ms'),
        result(
          kind.goals[1],
          `${kind.name}: speed of the service / of bare DuckDB`,
          { atLeast: 0.8 },
          ratios(valuesOf('bare'), valuesOf('service')),
        ),
      )
      figures.push(
        figure(`service: p50 of ${kind.name}`, 'ms', valuesOf('p50')),
        figure(`bare DuckDB: p99 of ${kind.name}`, 'ms', valuesOf('bareP99')),
        figure(`service: CPU for ${kind.name}`, 'ms', valuesOf('serviceCpu')),
        figure(`bare DuckDB: CPU for ${kind.name}`, 'ms', valuesOf('bareCpu')),
      )
    }
  } finally {
    bare.close()
    await database.close()
  }
  const refusedInRound = Array.from({ length: options.rounds }, (_, round) =>
    refused.reduce((sum, kind) => sum + (kind[round] ?? 0), 0),
  )
  const asked = kinds.length * options.questions
  return {
    results: [
      result('3', `refused of ${asked} counts, facets and sums in a round`, { atMost: 0 }, refusedInRound),
      ...results,
    ],
    figures,
    skipped: [],
  }
}

/** Both sides get the same questions, alternately. */
async function measureRound({ cold, options }: Stage, kind: Kind, bare: BareDuckDb): Promise<Round> {
  const questions: Question[] = []
  while (questions.length < options.questions) questions.push(await kind.draw())
  const asker = createAsker(cold, { retries: 0 })
  const [service, alone]: [number[], number[]] = [[], []]
  let [serviceCpu, bareCpu, refused] = [0, 0, 0]

  async function askService(question: Question): Promise<void> {
    const [cpu, began] = [readThreadsMs(cold.pid), performance.now()]
    if (!(await asker.ask(kind.toPath(question)))) refused += 1
    service.push(performance.now() - began)
    serviceCpu += readThreadsMs(cold.pid) - cpu
  }
  async function askBare(statements: Awaited<ReturnType<BareDuckDb['collect']>>): Promise<void> {
    const [cpu, began] = [process.cpuUsage(), performance.now()]
    await bare.run(statements)
    alone.push(performance.now() - began)
    const { user, system } = process.cpuUsage(cpu)
    bareCpu += (user + system) / 1000
  }
  for (const [i, question] of questions.entries()) {
    const statements = await bare.collect((index) => kind.read(index, question))
    if (i % 2 === 0) await askService(question)
    await askBare(statements)
    if (i % 2 === 1) await askService(question)
  }
  asker.close()
  const sum = (times: readonly number[]) => times.reduce((total, time) => total + time, 0)
  const at = (times: readonly number[], percent: number) =>
    percentile(
      times.toSorted((a, b) => a - b),
      percent,
    )
  return {
    ...{ p50: at(service, 50), p99: at(service, 99), bareP99: at(alone, 99), refused },
    ...{ service: sum(service), bare: sum(alone) },
    serviceCpu: serviceCpu / questions.length,
    bareCpu: bareCpu / questions.length,
  }
}

function createKinds(
  database: Database,
  release: PublishedRelease,
  draw: { filters: () => Question; comparable: () => Promise<Question> },
): Kind[] {
  const dataset = requireSeries()
  const queryOf = (question: Question) => ({ dataset, release, filters: parseFilters(dataset, question) })
  return [
    {
      ...{ goals: ['4a', '4d'], name: 'an exact count with a record', maxMs: 250, draw: draw.filters },
      toPath: (question) => `/v2/hed-outbreaks/outbreaks?num=1&fields=id&count=exact&${toSearch(question)}`,
      async read(index, question) {
        await readTotal({ index }, queryOf(question))
        await readMatchingPage({ database, index }, queryOf(question), { fromId: 1, limit: 1 })
      },
    },
    {
      ...{ goals: ['4b', '4e'], name: `${dataset.facets.length} facets`, maxMs: 800, draw: draw.filters },
      toPath: (question) => `/v2/hed-outbreaks/facets?${toSearch(question)}`,
      async read(index, question) {
        const query = queryOf(question)
        const isFiltered = (name: string) => query.filters.values.has(name)
        const rest = dataset.facets.filter((name) => !isFiltered(name))
        await readFacets({ index }, query, rest)
        for (const name of dataset.facets.filter(isFiltered))
          await readFacets({ index }, { ...query, filters: omitFilter(query.filters, name) }, [name])
      },
    },
    {
      ...{ goals: ['4c', '4f'], name: 'sums by country and month', maxMs: 600, draw: draw.comparable },
      toPath: (question) =>
        `/v2/hed-outbreaks/sums?num=1000&group_by=country_code&group_by=month&${toSearch(question)}`,
      read: (index, question) =>
        readFigures(index, {
          ...{ dataset, release, interval: 'month' },
          request: parseFigureRequest(dataset, { ...question, group_by: ['country_code'] }),
        }),
    },
  ]
}

async function readRelease(database: Database): Promise<PublishedRelease> {
  const release = (await loadPublishedReleases(database)).get(hedOutbreaks.name)?.at(-1)
  if (release === undefined) throw new Error('the database has no release')
  return release
}
