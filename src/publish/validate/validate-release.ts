// Validates the directory of a release without a database.
import { hash } from 'node:crypto'
import { type Dataset, SOURCE_FIELD } from '../../datasets/define.ts'
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
import { createSeriesWarnings } from './series-warnings.ts'
import { createRowValidator, inputColumns, parseIdentity, requiredFields, type ValidRow } from './validate-row.ts'

export interface LocatedRow extends ValidRow {
  file: string
  line: number
}

interface RowChecks {
  /** The day of the data. Later days are errors. */
  asOf?: string | undefined
  /** Fingerprints that occur more than once. */
  possibleDuplicates?: ReadonlySet<number> | undefined
  /** If given, rows of any other source are errors. */
  source?: string | undefined
}

/** Gives the valid rows of all files in batches and adds the errors of the others to the findings. */
export async function* validateRows(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings: Findings,
  { asOf, possibleDuplicates = new Set(), source }: RowChecks = {},
): AsyncGenerator<LocatedRow[]> {
  const columns = inputColumns(dataset)
  const lastDay = asOf ?? latestDay(new Date())
  const checkSource = createSourceCheck(dataset, source)
  const checkDuplicate = createDuplicateCheck(possibleDuplicates)
  const required = requiredFields(dataset)
  requireMappedFields(required, files)
  const oncePerFile = new Set(dataset.rules.flatMap((rule) => (rule.oncePerFile ? [rule.name] : [])))
  for (const { name: file, format, batches } of files) {
    const reported = new Set<string>()
    const validateRow = createRowValidator(dataset, format, lastDay)
    for await (const batch of batches(columns, required)) {
      const rows: LocatedRow[] = []
      for (const input of batch) {
        const { line } = input
        const errors: RowError[] = []
        const row = validateRow(input, (column, error, severity) => {
          if (oncePerFile.has(error.rule)) {
            if (reported.has(error.rule)) return
            reported.add(error.rule)
          }
          findings.add({ file, line, column, severity, ...error })
          if (severity === 'error') errors.push({ column, ...error })
        })
        const rowError = row === null ? null : (checkSource(row) ?? checkDuplicate({ file, line, ...row }))
        if (rowError !== null) {
          findings.add({ file, line, severity: 'error', ...rowError })
          errors.push(rowError)
        }
        if (row !== null && rowError === null) rows.push({ file, line, ...row })
        else {
          const identity = parseIdentity(input.cells[0], input.cells[1], format, () => {})
          findings.reject({ file, line, identity, errors, row: describeRow(columns, input.cells) })
        }
      }
      yield rows
    }
  }
}

/** The records that `withdrawn.csv` names. */
export async function* readWithdrawals(
  file: RecordFile | null,
  findings: Findings,
): AsyncGenerator<Omit<LocatedRow, 'cells'>[]> {
  if (file === null) return
  for await (const batch of file.batches(['id', 'key'])) {
    yield batch.flatMap(({ line, cells: [id, key] }) => {
      const errors: RowError[] = []
      const identity = parseIdentity(id, key, file.format, (column, rule, message) => {
        findings.add(errorAt(file.name, line)(column, rule, message))
        errors.push({ column, rule, message })
      })
      if (identity !== null) return [{ file: file.name, line, identity }]
      findings.reject({ file: file.name, line, identity, errors, row: describeRow(['id', 'key'], [id, key]) })
      return []
    })
  }
}

/** The latest day that has begun anywhere: clocks in Kiribati are 14 hours ahead of UTC. */
export const latestDay = (now: Date): string =>
  new Date(now.getTime() + 14 * 3_600_000).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** Reports required fields that a mapping does not fill before any row is read. */
function requireMappedFields(required: readonly string[], files: readonly RecordFile[]): void {
  const unmapped = files.flatMap(({ name, canFill }) =>
    required
      .filter((field) => !canFill(field))
      .map((field) => errorAt(name, 0)(field, 'required', 'is required, but the mapping has no cell for it')),
  )
  if (unmapped.length > 0) throw new InputError(unmapped)
}

export interface ValidationReport {
  title: string
  records: number
  /** The number of rows with at least one error, including duplicates. */
  rejected: number
  /** The number of records that the mapping skipped. */
  skipped: number
  errors: number
  warnings: number
  /** The first findings. */
  findings: readonly Finding[]
}

/** Validates and counts every row. Keeps at most `maxErrors` errors. */
export async function validateRelease(
  dataset: Dataset,
  directory: string,
  { maxErrors, progress = () => {} }: { maxErrors?: number; progress?: Progress } = {},
): Promise<ValidationReport> {
  const { manifest, files, withdrawals } = await openRelease(directory)
  const findings = collectFindings({ maxErrors, readToEnd: true })
  let records = 0
  try {
    const fingerprints = createFingerprintList()
    const checkSeries = createSeriesWarnings(dataset)
    for await (const batch of validateRows(dataset, files, findings, { asOf: manifest.as_of })) {
      for (const row of batch) {
        fingerprints.add(identityText(row))
        const warning = checkSeries(row.cells)
        if (warning !== null) findings.add({ file: row.file, line: row.line, severity: 'warning', ...warning })
      }
      records += batch.length
      progress('checking', records, null)
    }
    for await (const _ of readWithdrawals(withdrawals, findings));
    records -= await addDuplicates(dataset, files, findings, fingerprints.findRepeated())
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

const identityText = ({ identity }: ValidRow) => ('id' in identity ? `#${identity.id}` : identity.key)

/** Reads the input again and throws all errors of its rows, including duplicates. */
export async function throwIfDuplicates(dataset: Dataset, files: readonly RecordFile[]): Promise<void> {
  const findings = collectFindings({ readToEnd: true })
  await addDuplicates(dataset, files, findings, await findPossibleDuplicates(dataset, files, findings))
  findings.throwIfErrors()
}

/** Reads the input and gives the fingerprints that occur more than once. Their rows may be duplicates. */
export async function findPossibleDuplicates(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings = collectFindings({ maxErrors: 0, readToEnd: true }),
): Promise<Set<number>> {
  const fingerprints = createFingerprintList()
  for await (const batch of validateRows(dataset, files, findings))
    for (const row of batch) fingerprints.add(identityText(row))
  return fingerprints.findRepeated()
}

/** Adds an error for each duplicate and gives their number. Reads the input again only if there are possible duplicates. */
async function addDuplicates(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings: Findings,
  possibleDuplicates: ReadonlySet<number>,
): Promise<number> {
  const checkDuplicate = createDuplicateCheck(possibleDuplicates)
  let duplicates = 0
  if (possibleDuplicates.size === 0) return duplicates
  for await (const batch of validateRows(dataset, files, collectFindings({ maxErrors: 0, readToEnd: true }))) {
    for (const row of batch) {
      const duplicateError = checkDuplicate(row)
      if (duplicateError === null) continue
      const { file, line, identity } = row
      findings.add({ file, line, severity: 'error', ...duplicateError })
      findings.reject({ file, line, identity, errors: [duplicateError], row: '{}' })
      duplicates += 1
    }
  }
  return duplicates
}

/** The error of a row that names the same record as an earlier row. The first row is valid. */
function createDuplicateCheck(possibleDuplicates: ReadonlySet<number>) {
  const first = new Map<string, string>()
  return (row: LocatedRow): RowError | null => {
    if (possibleDuplicates.size === 0) return null
    const identity = identityText(row)
    if (!possibleDuplicates.has(fingerprintOf(identity))) return null
    const earlier = first.get(identity)
    if (earlier !== undefined)
      return {
        column: 'id' in row.identity ? 'id' : 'key',
        rule: 'duplicate',
        message: `is the same record as ${earlier}`,
      }
    first.set(identity, `${row.file}:${row.line}`)
    return null
  }
}

/** The error of a row that is not of the given source. */
function createSourceCheck({ content }: Dataset, source: string | undefined) {
  const index = content.findIndex(({ name }) => name === SOURCE_FIELD)
  return ({ cells }: ValidRow): RowError | null =>
    source === undefined || cells[index]?.value === source
      ? null
      : { column: SOURCE_FIELD, rule: 'other_source', message: `is not ${source}, the source you are replacing` }
}

/** 48 bits of a digest as a number: ten million take 80 MB. Two records may share one by chance. */
const fingerprintOf = (identity: string) => hash('md5', identity, 'buffer').readUIntBE(0, 6)

function createFingerprintList() {
  let values = new Float64Array(1 << 12)
  let count = 0
  return {
    add(identity: string) {
      if (count === values.length) {
        const larger = new Float64Array(count * 2)
        larger.set(values)
        values = larger
      }
      values[count++] = fingerprintOf(identity)
    },
    findRepeated(): Set<number> {
      const sorted = values.subarray(0, count).sort()
      return new Set(sorted.filter((value, i) => i > 0 && value === sorted[i - 1]))
    },
  }
}
