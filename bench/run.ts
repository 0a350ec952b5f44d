// npm run bench: runs all measurements in one run, reports the goals as ratios and compares them with the last quick run.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findMissed, isMet, type Measurements } from './goal.ts'
import { measureCachedPages } from './goals/cached-pages.ts'
import { measureColdPages } from './goals/cold-pages.ts'
import { measureCores } from './goals/cores.ts'
import { measureDepth } from './goals/depth.ts'
import { measureFilters } from './goals/filters.ts'
import { measurePostGraphile } from './goals/postgraphile.ts'
import { measurePublishing } from './goals/publishing.ts'
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
  'several cores': measureCores,
  PostGraphile: measurePostGraphile,
  tokens: measureTokens,
  filters: measureFilters,
  publishing: measurePublishing,
}

/** Sections without goals, which a quick run leaves out. */
const WITHOUT_GOALS = ['several cores']

const { values } = parseArgs({
  options: {
    records: { type: 'string' },
    data: { type: 'string' },
    quick: { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
  },
})
const { quick, accept, only } = values
const options: Options = {
  records: Number(values.records ?? (quick ? 200_000 : 10_000_000)),
  // The median of many short rounds tolerates a moment in which the machine is busy.
  rounds: quick ? 3 : 9,
  seconds: quick ? 1 : 3,
  data: values.data === undefined ? null : path.resolve(values.data),
}
if (!Number.isSafeInteger(options.records) || options.records < 2000 || options.records % 2000 !== 0)
  throw new Error('--records takes a multiple of 2000')

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
    if (only.length > 0 ? !only.includes(name) : quick && WITHOUT_GOALS.includes(name)) continue
    console.log(name)
    const { results, figures, skipped } = await measure(stage)
    for (const result of results) console.log(formatLine(result))
    for (const figure of figures) console.log(formatFigure(figure))
    run.results.push(...results)
    run.figures.push(...figures)
    run.skipped.push(...skipped)
    if (!quick) writeDated(run)
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
console.log(`bench: ${goals.filter(isMet).length} of ${goals.length} goals met`)
if (missed.length > 0) process.exitCode = 1
