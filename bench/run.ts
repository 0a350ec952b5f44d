// npm run bench: runs all measurements in one run, reports the goals and compares them with the last quick run.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findMissed, isMet, type Measurements } from './goal.ts'
import { measureAggregates } from './goals/aggregates.ts'
import { measureCachedPages } from './goals/cached-pages.ts'
import { measureColdPages } from './goals/cold-pages.ts'
import { measureDepth } from './goals/depth.ts'
import { measureFilters } from './goals/filters.ts'
import { measureManyReleases } from './goals/many-releases.ts'
import { measureNode } from './goals/node.ts'
import { measurePublishing } from './goals/publishing.ts'
import { measureStorage } from './goals/storage.ts'
import { measureTokens } from './goals/tokens.ts'
import { measureWalk } from './goals/walk.ts'
import { describeMachine } from './machine.ts'
import { formatFigure, formatLine, formatNoise, type Run, readQuick, writeDated, writeQuick } from './report.ts'
import { type Options, openStage, type Stage } from './stage.ts'

const sections: Record<string, (stage: Stage) => Promise<Measurements>> = {
  'cold pages': measureColdPages,
  'walking everything': measureWalk,
  'depth and size': measureDepth,
  'cached pages': measureCachedPages,
  'filtered pages': measureFilters,
  'counts, facets and sums': measureAggregates,
  'a node': measureNode,
  storage: measureStorage,
  publishing: measurePublishing,
  tokens: measureTokens,
  'many releases': measureManyReleases,
}

/** Runs only on request, with fewer records: it takes long. */
const MANY_RELEASES = 'many releases'
/** Sections without goals, which a quick run leaves out. */
const WITHOUT_GOALS = ['cached pages', 'tokens']

const { values } = parseArgs({
  options: {
    records: { type: 'string' },
    releases: { type: 'string' },
    data: { type: 'string' },
    quick: { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
  },
})
const { quick, accept, only } = values
if (process.platform !== 'linux')
  throw new Error('the bench runs only on Linux: it reads CPU time and memory from /proc')
const unknown = only.find((name) => !(name in sections))
if (unknown !== undefined)
  throw new Error(`--only takes ${Object.keys(sections).join(', ')}; ${unknown} is none of them`)
const isManyReleases = only.includes(MANY_RELEASES)
if (isManyReleases && only.length > 1) throw new Error(`${MANY_RELEASES} runs alone: it has another number of records`)
const defaultRecords = quick ? 20_000 : isManyReleases ? 1_000_000 : 10_000_000
const options: Options = {
  records: Number(values.records ?? defaultRecords),
  // The median of many short rounds tolerates a moment in which the machine is busy.
  rounds: quick ? 3 : 9,
  seconds: quick ? 1 : 3,
  questions: quick ? 10 : 100,
  releases: Number(values.releases ?? (quick ? 8 : 200)),
  data: values.data === undefined ? null : path.resolve(values.data),
}
if (!Number.isSafeInteger(options.records) || options.records < 2000 || options.records % 2000 !== 0)
  throw new Error('--records takes a multiple of 2000')
if (!Number.isSafeInteger(options.releases) || options.releases < 2) throw new Error('--releases takes a number from 2')

const run: Run = {
  date: new Date().toISOString().slice(0, 10),
  ...{ records: options.records, rounds: options.rounds, seconds: options.seconds },
  machine: describeMachine(),
  ...{ results: [], figures: [], skipped: [] },
}
console.log(`${options.records} records; client, service and PostgreSQL share ${run.machine.cores} cores`)
const stage = await openStage(options, (line) => console.log(`  ${line}`))
try {
  for (const [name, measure] of Object.entries(sections)) {
    if (only.length > 0 ? !only.includes(name) : name === MANY_RELEASES || (quick && WITHOUT_GOALS.includes(name)))
      continue
    console.log(name)
    const { results, figures, skipped } = await measure(stage)
    for (const result of results) console.log(formatLine(result))
    for (const figure of figures) console.log(formatFigure(figure))
    run.results.push(...results)
    run.figures.push(...figures)
    run.skipped.push(...skipped)
    if (!quick) writeDated(run, isManyReleases)
  }
} finally {
  await stage.close()
}

const previous = quick ? readQuick() : null
const missed = previous?.records === run.records ? findMissed(previous.results, run.results) : []
const goals = run.results.filter(({ limit }) => limit !== null)
if (accept && only.length === 0) writeQuick(run)
if (goals.length > 0) console.log(`noise (half the range of the rounds): ${formatNoise(goals)}`)
for (const { goal, what } of missed) console.log(`worse than before by more than the noise: ${goal}, ${what}`)
if (run.skipped.length > 0)
  console.log(
    `${run.skipped.length} skipped: ${run.skipped.map(({ goal, reason }) => `${goal} (${reason})`).join(', ')}`,
  )
if (!quick) console.log('`node bench/report.ts` writes the tables of docs/benchmarks.md from the results')
console.log(`bench: ${goals.filter(isMet).length} of ${goals.length} goals met`)
if (missed.length > 0) process.exitCode = 1
