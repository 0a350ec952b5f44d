// Directories of foreign tables for a test: release.json, mapping.json and files that are written here or lie elsewhere.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { openRelease } from '../../src/releases/input/read-release.ts'

export interface ForeignFiles {
  /** What stands in the file, by its name. */
  written?: Record<string, string | Buffer>
  /** Where the file lies, by its name: it is not copied. */
  linked?: Record<string, string>
}

export async function writeForeign(mapping: unknown, { written = {}, linked = {} }: ForeignFiles): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-foreign-'))
  after(() => rm(directory, { recursive: true, force: true }))
  const put = (name: string, text: string | Buffer) => writeFile(path.join(directory, name), text)
  await put('release.json', JSON.stringify({ title: 'A test', licence: 'CC0-1.0' }))
  await put('mapping.json', typeof mapping === 'string' ? mapping : JSON.stringify(mapping))
  for (const [name, text] of Object.entries(written)) await put(name, text)
  for (const [name, target] of Object.entries(linked)) await symlink(target, path.join(directory, name))
  return directory
}

export interface MappedRecord {
  file: string
  line: number
  cells: Record<string, string>
}

/** The canonical rows of a directory, before anybody judges them. */
export async function readMapped(directory: string, columns: readonly string[]) {
  const { files } = await openRelease(directory)
  const rows: MappedRecord[] = []
  for (const { name: file, batches } of files) {
    for await (const batch of batches(columns)) {
      for (const { line, cells } of batch) {
        rows.push({ file, line, cells: Object.fromEntries(columns.map((column, i) => [column, String(cells[i])])) })
      }
    }
  }
  return { rows, skipped: files.reduce((sum, file) => sum + file.skipped(), 0) }
}

export const CSV = 'place,day,count\nLima,2020-02-01,3\n'
export const COLUMNS = ['key', 'locality', 'date_high', 'cases']
export const plain = { key: ['place'], columns: { locality: 'place' } }

export const read = async (mapping: unknown, text: string | Buffer = CSV) =>
  readMapped(await writeForeign(mapping, { written: { 'a.csv': text } }), COLUMNS)
/** One field of each row. */
export const readField = async (cell: unknown, text: string) => {
  const { rows } = await read({ key: ['v'], columns: { locality: cell } }, text)
  return rows.map(({ cells }) => cells['locality'])
}

/** Constants for whatever a record cannot be without. */
export const whole = {
  event: { constant: 'Cholera_Testland_2020' },
  pathogen: { constant: 'Vibrio cholerae' },
  country_code: { constant: 'XA' },
  country: { constant: 'Testland' },
  location_granularity: { constant: 'country' },
  date_inferred: { constant: false },
  case_status: { constant: 'confirmed' },
  count_kind: { constant: 'cumulative' },
  count_qualifier: { constant: 'exact' },
  composite: { constant: false },
  source_name: { constant: 'Test ministry' },
  verification: { constant: 'verified' },
}
