// Validates the 998 unchanged reports of cdcepi/zika with one mapping. A second reader, which shares no code with the service,
// decides for every row whether it must be accepted, rejected or skipped, and counts every problem in docs/real-input-examples.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { collectFindings } from '../../../src/publish/findings/findings.ts'
import { openRelease } from '../../../src/publish/input/read-release.ts'
import { validateRelease, validateRows } from '../../../src/publish/validate/validate-release.ts'
import { writeMapped } from '../../fixtures/mappings.ts'
import { skipIfAbsent } from '../../fixtures/real-mappings.ts'
import { countedIn, folderOf, MISPLACED, zikaReports, zikaReportsMapping } from './zika-mappings.ts'

interface RowCounts {
  rows: number
  accepted: number
  skipped: number
  rejected: number[]
}

const skip = skipIfAbsent('cdcepi-zika')
const isUtf8 = (bytes: Buffer) => Buffer.compare(Buffer.from(bytes.toString('utf8')), bytes) === 0
const LINE_END = /\r\n|\r|\n/

/** Every row that is not empty, with its line. */
function readReport(file: string) {
  const bytes = readFileSync(file)
  const text = new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes)
  const rows: string[][] = parse(text, {
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
  })
  const lines = text.split(LINE_END).flatMap((line, i) => (line === '' ? [] : [i + 1]))
  assert.equal(rows.length, lines.length, file)
  const [header = [], ...body] = rows
  const names = header.filter((name) => name !== '')
  const records = body.map((row, i) => ({
    line: lines[i + 1] ?? 0,
    cells: Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])),
  }))
  return { bytes, header, records }
}

/** Only letters, without case and accents: what all spellings of one place have in common. */
const normalisePlace = (place: string) =>
  place
    .normalize('NFKD')
    .replace(/[^a-zA-Z]/g, '')
    .toLowerCase()

/** Counts the rows of each report that must be accepted, skipped and rejected. */
function classifyReports(reports: Record<string, string>): Record<string, RowCounts> {
  const seen = new Set<string>()
  return Object.fromEntries(
    Object.keys(reports)
      .sort()
      .map((name) => {
        const folder = folderOf(name)
        const counted = countedIn(folder)
        const counts: RowCounts = { rows: 0, accepted: 0, skipped: 0, rejected: [] }
        for (const { line, cells } of readReport(reports[name] ?? '').records) {
          const { value = '', data_field = '', unit = '', location = '', location_type = '', report_date = '' } = cells
          counts.rows += 1
          const unwanted = ['', 'NA'].includes(value) || unit === 'municipalities' || !counted.includes(data_field)
          if (unwanted || location_type === 'region' || MISPLACED.includes(`${location_type} ${location}`)) {
            counts.skipped += 1
            continue
          }
          const key = [folder, location_type, normalisePlace(location), report_date, data_field].join()
          const valid = !['city', 'district'].includes(location_type) && /^\d{4}-\d\d-\d\d$/.test(report_date)
          if (valid && !seen.has(key)) counts.accepted += 1
          else counts.rejected.push(line)
          if (valid) seen.add(key)
        }
        return [name, counts]
      }),
  )
}

const openReports = async () => {
  const reports = zikaReports()
  return { reports, directory: await writeMapped(zikaReportsMapping(), { linked: reports }) }
}

test('every row of every report is accepted, rejected with its line or skipped, as the second reader decides', {
  skip,
}, async () => {
  const { reports, directory } = await openReports()
  const expected = classifyReports(reports)
  const found: typeof expected = {}
  const { files } = await openRelease(directory)
  const accepted: Record<string, number> = {}
  const spellings = new Map<string, Set<string>>()
  const column = (name: string) => hedOutbreaks.content.findIndex((field) => field.name === name)
  const [country, admin1, admin2] = ['country', 'admin_l1', 'admin_l2'].map(column) as [number, number, number]
  for await (const batch of validateRows(hedOutbreaks, files, collectFindings({ maxErrors: 0, readToEnd: true }))) {
    for (const { file, cells } of batch) {
      accepted[file] = (accepted[file] ?? 0) + 1
      const place = [country, admin1, admin2].map((at) => cells[at]?.value ?? '').join('-')
      spellings.set(normalisePlace(place), (spellings.get(normalisePlace(place)) ?? new Set()).add(place))
    }
  }
  const report = await validateRelease(hedOutbreaks, directory, { maxErrors: Number.POSITIVE_INFINITY })
  const errors = report.findings.filter(({ severity }) => severity === 'error')
  for (const file of files) {
    const fileErrors = errors.filter((finding) => finding.file === file.name)
    const rejected = [...new Set(fileErrors.map(({ line }) => line))].sort((a, b) => a - b)
    const duplicates = fileErrors.filter(({ rule }) => rule === 'duplicate').length
    const valid = (accepted[file.name] ?? 0) - duplicates
    const skipped = file.skipped()
    found[file.name] = { rows: valid + rejected.length + skipped, accepted: valid, skipped, rejected }
  }
  assert.deepEqual(found, expected)
  assert.deepEqual([files.length, report.records, report.rejected, report.skipped], [998, 172_868, 179, 69_403])
  const countErrors = (rule: string) => errors.filter((finding) => finding.rule === rule).length
  assert.deepEqual([countErrors('duplicate'), countErrors('map'), errors.length], [124, 55, 179])
  assert.deepEqual(
    [...spellings.values()].filter(({ size }) => size > 1),
    [],
    'each place has one spelling',
  )
})

test('docs/real-input-examples.md has the figures of the original files', { skip }, () => {
  const counts: Record<string, number> = {}
  const count = (problem: string, times = 1) => {
    counts[problem] = (counts[problem] ?? 0) + times
  }
  const spellings = new Map<string, Set<string>>()
  const fieldsWithDate18437 = new Set<string>()
  for (const file of Object.values(zikaReports())) {
    const { bytes, header, records } = readReport(file)
    const text = bytes.toString('latin1')
    if (!isUtf8(bytes)) count('not UTF-8')
    if (text.startsWith('\u00ef\u00bb\u00bf')) count('byte order mark')
    if (text.includes('\r\n')) count('CRLF')
    if (/\r(?!\n)/.test(text)) count('bare CR')
    if (header.at(-1) === '') count('columns without a name')
    for (const { cells } of records) {
      const { value = '', unit, location = '', report_date, data_field = '' } = cells
      if (Object.values(cells).every((cell) => cell === '')) count('rows of commas')
      else if (value === '') count('no value')
      if (value === 'NA') count('NA')
      if (/^\d+\.\d+$/.test(value)) count('decimals')
      if (report_date === '18437') {
        count('18437')
        fieldsWithDate18437.add(data_field)
      }
      if (location === 'Colombia--') count('Colombia--')
      if (/-unknown$/i.test(location)) count('unknown')
      if (unit === 'municipalities') count('municipalities')
      if (location !== '')
        spellings.set(normalisePlace(location), (spellings.get(normalisePlace(location)) ?? new Set()).add(location))
    }
  }
  const variants = [...spellings.values()].filter(({ size }) => size > 1)
  count('spellings', variants.length)
  const counted = countedIn('Colombia/Epidemiological_Bulletin')
  assert.deepEqual(
    [...fieldsWithDate18437].filter((field) => counted.includes(field)),
    [],
  )
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/real-input-examples.md'), 'utf8')
  for (const [problem, times] of Object.entries(counts))
    assert.match(
      page,
      new RegExp(`^\\|[^|]*${problem}[^|]*\\| +${times} (files|rows|places) +\\|`, 'm'),
      `${problem}: ${times}`,
    )
})

test('a date that is a number is rejected if the mapping counts its field', { skip }, async () => {
  const [name = '', file = ''] =
    Object.entries(zikaReports()).find(([, report]) => /^"18437"/m.test(readFileSync(report, 'latin1'))) ?? []
  const mapping = zikaReportsMapping()
  const files = mapping.files.map((group) => ({
    ...group,
    skip: [],
    columns: {
      ...group.columns,
      case_status: { constant: 'confirmed' },
      count_kind: { constant: 'cumulative' },
    },
  }))
  const directory = await writeMapped({ ...mapping, files }, { linked: { [name]: file } })
  const { findings } = await validateRelease(hedOutbreaks, directory)
  const dates = findings.filter(({ rule, column }) => rule === 'date' && column === 'date_high')
  assert.equal(dates.length, 20)
  assert.match(dates[0]?.message ?? '', /"18437", which is not a date as YYYY-MM-DD/)
})
