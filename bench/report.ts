// Writes results as files, as lines on a terminal and as the tables in docs/benchmarks.md.
// Run as a program, it writes the tables again from the newest result file.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Figure, isMet, type Limit, type Measurements, type Result, STATED_NOISE } from './goal.ts'
import type { Machine } from './machine.ts'
import { noiseOf, type Summary, summarise } from './measure.ts'

export interface Run extends Measurements {
  date: string
  records: number
  rounds: number
  seconds: number
  machine: Machine
}

const folder = path.resolve(import.meta.dirname, 'results')
const page = path.resolve(import.meta.dirname, '../docs/benchmarks.md')
const BEGIN = '<!-- results: written by `node bench/report.ts` -->'
const END = '<!-- end of results -->'
const QUICK = 'quick.json'
const MANY_RELEASES = '-many-releases.json'

export const readQuick = (): Run | null => {
  const file = path.join(folder, QUICK)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Run) : null
}

export const writeQuick = (run: Run): void => writeRun(QUICK, run)
/** Keeps results of the same day that this run did not measure, so that a long run can be done in sections. */
export function writeDated(run: Run, isManyReleases: boolean): void {
  const name = `${run.date}-${run.records}${isManyReleases ? MANY_RELEASES : '.json'}`
  const file = path.join(folder, name)
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Run) : run
  const merge = <Item>(items: readonly Item[], now: readonly Item[], nameOf: (item: Item) => string) => [
    ...items.filter((item) => !now.some((other) => nameOf(other) === nameOf(item))),
    ...now,
  ]
  writeRun(name, {
    ...run,
    results: merge(earlier.results, run.results, ({ goal }) => goal),
    figures: merge(earlier.figures, run.figures, ({ contender }) => contender),
    skipped: merge(earlier.skipped, run.skipped, ({ goal }) => goal),
  })
}

function writeRun(name: string, run: Run): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, name), `${JSON.stringify(run, null, 2)}\n`)
}

export const formatLine = (result: Result): string =>
  `${result.goal.padStart(4)}  ${result.what.padEnd(78)}${formatLimit(result.limit, result.unit).padEnd(10)}${formatSummary(result.measured, result.unit).padEnd(26)}${formatOutcome(result)}`

/** The figure of one contender, printed below the ratios it is part of. */
export const formatFigure = (figure: Figure): string =>
  `      ${figure.contender.padEnd(78)}${formatSummary(figure, '')} ${figure.unit}`

const formatOutcome = (result: Result) => (result.limit === null ? '' : isMet(result) ? 'met' : 'not met')

function formatLimit(limit: Limit, unit: string): string {
  if (limit === null) return ''
  const [sign, value] = 'atLeast' in limit ? ['≥', limit.atLeast] : ['≤', limit.atMost]
  return `${sign} ${value} ${unit}`.trimEnd()
}

const formatSummary = ({ median, low, high }: Summary, unit: string) =>
  `${formatNumber(median)}${unit === '' ? '' : ` ${unit}`} [${formatNumber(low)}..${formatNumber(high)}]`

const formatNumber = (value: number) =>
  value.toLocaleString('en', { maximumFractionDigits: value < 0.1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0 })

/** Relative to the median, over all goals. */
export function formatNoise(results: readonly Result[]): string {
  const shares = results
    .filter(({ measured }) => measured.median !== 0)
    .map(({ measured }) => (noiseOf(measured) * 100) / measured.median)
  const { median, high } = summarise(shares)
  return `${formatNumber(median)} % median, ${formatNumber(high)} % maximum; stated: ${STATED_NOISE * 100} %`
}

/** The first row is the header. Aligned as Biome aligns tables, so that the page needs no formatting. */
function formatTable([head = [], ...rows]: string[][]): string {
  const widths = head.map((name, column) => Math.max(3, name.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

function formatRun({ date, records, rounds, seconds, machine, results, skipped }: Run): string {
  const settings = Object.entries(machine.postgresSettings).map(([name, value]) => `${name} ${value}`)
  const measured = results.map((result) => [
    result.goal,
    result.what,
    formatLimit(result.limit, result.unit),
    formatSummary(result.measured, result.unit),
    formatOutcome(result),
  ])
  const notMeasured = skipped.map(({ goal, reason }) => [goal, `skipped: ${reason}`, '', '', ''])
  const goals = [...measured, ...notMeasured].sort(([a = ''], [b = '']) => a.localeCompare(b, 'en', { numeric: true }))
  return [
    [
      `${date}, ${records.toLocaleString('en')} records, ${rounds} rounds of ${seconds} s.`,
      `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGigabytes} GB; ${machine.system}; Node ${machine.node}.`,
      `${machine.postgres}: ${settings.join(', ')}.`,
    ].join('\n'),
    formatTable([['#', 'what', 'goal', 'measured', ''], ...goals]),
    `Noise (half the range of the rounds): ${formatNoise(results.filter(({ limit }) => limit !== null))}.`,
  ].join('\n\n')
}

/** The newest result of everything, then the newest one of many releases. */
function writePage(): void {
  const dated = globSync('????-??-??-*.json', { cwd: folder }).sort()
  const everything = dated.findLast((name) => !name.endsWith(MANY_RELEASES)) ?? QUICK
  const manyReleases = dated.findLast((name) => name.endsWith(MANY_RELEASES))
  const runs = [everything, manyReleases].filter((name) => name !== undefined)
  const tables = runs.map((name) => formatRun(JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Run))
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error('docs/benchmarks.md has no markers for the results')
  writeFileSync(page, `${text.slice(0, begin)}${BEGIN}\n\n${tables.join('\n\n')}\n\n${text.slice(end)}`)
}

if (import.meta.main) writePage()
