// Whether a directory could be published, as far as that can be said without a database.
import { hash } from 'node:crypto'
import type { Dataset } from '../datasets/define.ts'
import { type CheckedRow, createRowCheck, inputColumns } from './check-row.ts'
import { collectFindings, type Finding, type Findings, InputFault } from './finding.ts'
import { openRelease } from './read-release.ts'
import type { RecordFile } from './record-file.ts'

export interface PlacedRow extends CheckedRow {
  file: string
  line: number
}

/** The sound rows of all files, in batches; whatever is wrong with the others goes to the findings. */
export async function* checkRows(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings: Findings,
): AsyncGenerator<PlacedRow[]> {
  const columns = inputColumns(dataset)
  const today = new Date().toISOString().slice(0, 10)
  for (const { name: file, format, batches } of files) {
    const checkRow = createRowCheck(dataset, format, today)
    for await (const batch of batches(columns)) {
      const rows: PlacedRow[] = []
      for (const input of batch) {
        const { line } = input
        const row = checkRow(input, (column, objection, severity) =>
          findings.add({ file, line, column, severity, ...objection }),
        )
        if (row !== null) rows.push({ file, line, ...row })
      }
      yield rows
    }
  }
}

export interface CheckReport {
  title: string
  records: number
  /** Left out on purpose, by the mapping. */
  skipped: number
  errors: number
  warnings: number
  findings: readonly Finding[]
}

export async function checkRelease(dataset: Dataset, directory: string): Promise<CheckReport> {
  const { manifest, files } = await openRelease(directory)
  const findings = collectFindings()
  let records = 0
  try {
    const suspects = createSuspects()
    for await (const batch of checkRows(dataset, files, findings)) {
      for (const row of batch) suspects.note(nameOf(row))
      records += batch.length
    }
    await addDuplicates(dataset, files, findings, suspects.list())
  } catch (error) {
    // A file that cannot be read on: what was found until then is in the fault, or stands beside it.
    if (!(error instanceof InputFault)) throw error
    for (const finding of error.findings) if (!findings.errors.includes(finding)) findings.add(finding)
  }
  return {
    title: manifest.title,
    records,
    skipped: countSkipped(files),
    errors: findings.errors.length,
    warnings: findings.warnings.length,
    findings: [...findings.errors, ...findings.warnings],
  }
}

export const countSkipped = (files: readonly RecordFile[]): number =>
  files.reduce((sum, file) => sum + file.skipped(), 0)

const nameOf = ({ identity }: CheckedRow) => ('id' in identity ? `#${identity.id}` : identity.key)

/** Reads the input once more, only where names are suspected of standing twice. */
async function addDuplicates(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings: Findings,
  suspects: ReadonlySet<number>,
): Promise<void> {
  if (suspects.size === 0) return
  const first = new Map<string, PlacedRow>()
  for await (const batch of checkRows(dataset, files, collectFindings())) {
    for (const row of batch) {
      const name = nameOf(row)
      if (!suspects.has(fingerprint(name))) continue
      const earlier = first.get(name)
      if (earlier === undefined) first.set(name, row)
      else {
        const message = `names the same record as ${earlier.file}:${earlier.line}`
        const column = 'id' in row.identity ? 'id' : 'key'
        findings.add({ file: row.file, line: row.line, column, rule: 'duplicate', severity: 'error', message })
      }
    }
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
