// Whether a directory could be published, as far as that can be said without a database.
import { hash } from 'node:crypto'
import type { Dataset } from '../../datasets/define.ts'
import type { Progress } from '../../platform/cli/progress.ts'
import {
  collectFindings,
  errorAt,
  type Finding,
  type Findings,
  InputError,
  type RowError,
} from '../findings/findings.ts'
import { describeRow } from '../findings/rejected-rows.ts'
import { openRelease } from '../input/read-release.ts'
import type { RecordFile } from '../input/record-file.ts'
import { createRowValidator, inputColumns, readIdentity, requiredFields, type ValidRow } from './check-row.ts'
import { createSeriesWarnings } from './series-warnings.ts'

export interface PlacedRow extends ValidRow {
  file: string
  line: number
}

/** The sound rows of all files, in batches; whatever is wrong with the others goes to the findings. */
export async function* checkRows(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings: Findings,
  suspects: ReadonlySet<number> = new Set(),
): AsyncGenerator<PlacedRow[]> {
  const columns = inputColumns(dataset)
  const today = latestDay(new Date())
  const findEarlier = createDuplicateWatch(suspects)
  const required = requiredFields(dataset)
  refuseUnmapped(required, files)
  for (const { name: file, format, batches } of files) {
    const checkRow = createRowValidator(dataset, format, today)
    for await (const batch of batches(columns, required)) {
      const rows: PlacedRow[] = []
      for (const input of batch) {
        const { line } = input
        const faults: RowError[] = []
        const row = checkRow(input, (column, objection, severity) => {
          findings.add({ file, line, column, severity, ...objection })
          if (severity === 'error') faults.push({ column, ...objection })
        })
        const again = row === null ? null : findEarlier({ file, line, ...row })
        if (again !== null) {
          findings.add({ file, line, severity: 'error', ...again })
          faults.push(again)
        }
        if (row !== null && again === null) rows.push({ file, line, ...row })
        else {
          const identity = readIdentity(input.cells[0], input.cells[1], format, () => {})
          findings.reject({ file, line, identity, faults, row: describeRow(columns, input.cells) })
        }
      }
      yield rows
    }
  }
}

/** The day that has begun somewhere: in Kiribati clocks are 14 hours ahead of UTC. */
export const latestDay = (now: Date): string =>
  new Date(now.getTime() + 14 * 3_600_000).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** What no row of a file can have is said before any is read. */
function refuseUnmapped(required: readonly string[], files: readonly RecordFile[]): void {
  const unmapped = files.flatMap(({ name, fills }) =>
    required
      .filter((field) => !fills(field))
      .map((field) => errorAt(name, 0)(field, 'required', 'is not mapped, and no record is without it')),
  )
  if (unmapped.length > 0) throw new InputError(unmapped)
}

export interface CheckReport {
  title: string
  records: number
  /** Rows with at least one error, and rows that name a record again. */
  rejected: number
  /** Left out on purpose, by the mapping. */
  skipped: number
  errors: number
  warnings: number
  /** The first of them. */
  findings: readonly Finding[]
}

/** Every row is counted; of the errors so many are kept. */
export async function checkRelease(
  dataset: Dataset,
  directory: string,
  { kept, progress = () => {} }: { kept?: number; progress?: Progress } = {},
): Promise<CheckReport> {
  const { manifest, files } = await openRelease(directory)
  const findings = collectFindings(kept, true)
  let records = 0
  try {
    const suspects = createSuspects()
    const watchSeries = createSeriesWarnings(dataset)
    for await (const batch of checkRows(dataset, files, findings)) {
      for (const row of batch) {
        suspects.note(nameOf(row))
        const fault = watchSeries(row.cells)
        if (fault !== null) findings.add({ file: row.file, line: row.line, severity: 'warning', ...fault })
      }
      records += batch.length
      progress('checking', records, null)
    }
    records -= await addDuplicates(dataset, files, findings, suspects.list())
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    for (const finding of error.findings) findings.add(finding)
  }
  return {
    title: manifest.title,
    records,
    rejected: findings.counts.rejected,
    skipped: countSkipped(files),
    errors: findings.counts.errors,
    warnings: findings.counts.warnings,
    findings: [...findings.errors, ...findings.warnings],
  }
}

export const countSkipped = (files: readonly RecordFile[]): number =>
  files.reduce((sum, file) => sum + file.skipped(), 0)

const nameOf = ({ identity }: ValidRow) => ('id' in identity ? `#${identity.id}` : identity.key)

/** Throws all that is wrong with the rows, those included that name a record again; reads the input from its beginning. */
export async function findDuplicates(dataset: Dataset, files: readonly RecordFile[]): Promise<void> {
  const findings = collectFindings(undefined, true)
  await addDuplicates(dataset, files, findings, await findSuspects(dataset, files, findings))
  findings.throwIfErrors()
}

/** The fingerprints of names that may stand twice; reads the input from its beginning. */
export async function findSuspects(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings = collectFindings(0, true),
): Promise<Set<number>> {
  const suspects = createSuspects()
  for await (const batch of checkRows(dataset, files, findings)) for (const row of batch) suspects.note(nameOf(row))
  return suspects.list()
}

/** How many there are. Reads the input once more, only where names are suspected of standing twice. */
async function addDuplicates(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings: Findings,
  suspects: ReadonlySet<number>,
): Promise<number> {
  const findEarlier = createDuplicateWatch(suspects)
  let duplicates = 0
  if (suspects.size === 0) return duplicates
  for await (const batch of checkRows(dataset, files, collectFindings(0, true))) {
    for (const row of batch) {
      const again = findEarlier(row)
      if (again === null) continue
      const { file, line, identity } = row
      findings.add({ file, line, severity: 'error', ...again })
      findings.reject({ file, line, identity, faults: [again], row: '{}' })
      duplicates += 1
    }
  }
  return duplicates
}

/** What is wrong with a row that names a record again: the first row stands, the later ones are rejected. */
function createDuplicateWatch(suspects: ReadonlySet<number>) {
  const first = new Map<string, string>()
  return (row: PlacedRow): RowError | null => {
    if (suspects.size === 0) return null
    const name = nameOf(row)
    if (!suspects.has(fingerprint(name))) return null
    const earlier = first.get(name)
    if (earlier !== undefined)
      return {
        column: 'id' in row.identity ? 'id' : 'key',
        rule: 'duplicate',
        message: `names the same record as ${earlier}`,
      }
    first.set(name, `${row.file}:${row.line}`)
    return null
  }
}

/** 48 bits of a digest: a number, so that ten million of them are 80 MB. Two names may share one, hence suspects. */
const fingerprint = (name: string) => hash('md5', name, 'buffer').readUIntBE(0, 6)

function createSuspects() {
  let prints = new Float64Array(1 << 12)
  let count = 0
  return {
    note(name: string) {
      if (count === prints.length) {
        const larger = new Float64Array(count * 2)
        larger.set(prints)
        prints = larger
      }
      prints[count++] = fingerprint(name)
    },
    list(): Set<number> {
      const sorted = prints.subarray(0, count).sort()
      return new Set(sorted.filter((print, i) => i > 0 && print === sorted[i - 1]))
    },
  }
}
