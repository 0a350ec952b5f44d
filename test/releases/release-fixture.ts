// Small releases written for a test: records that differ only in what the test says.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { type Content, givenFields } from '../../src/datasets/define.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'

export type Row = Partial<Content> & ({ key: string } | { id: number })

const plain: Content = {
  ...Object.fromEntries(givenFields(hedOutbreaks).map((field) => [field.name, null])),
  event: 'Cholera_Testland_2020',
  pathogen: 'Vibrio cholerae',
  country_code: 'XA',
  country: 'Testland',
  location_granularity: 'country',
  date_inferred: false,
  case_status: 'confirmed',
  count_kind: 'cumulative',
  count_qualifier: 'exact',
  composite: false,
  source_name: 'Test ministry',
  verification: 'verified',
  extra: {},
}

export const fullRow = (row: Row): Record<string, unknown> => ({ ...plain, ...row })

async function writeRelease(file: string, text: string | Buffer, manifest: Record<string, unknown> = {}) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-release-'))
  after(() => rm(directory, { recursive: true, force: true }))
  await writeFile(
    path.join(directory, 'release.json'),
    JSON.stringify({ title: 'A test', licence: 'CC0-1.0', ...manifest }),
  )
  await writeFile(path.join(directory, file), text)
  return directory
}

export const writeNdjson = (rows: readonly Row[], manifest: Record<string, unknown> = {}): Promise<string> =>
  writeRelease('records.ndjson', rows.map((row) => `${JSON.stringify(fullRow(row))}\n`).join(''), manifest)

/** Only what differs from release `base`: rows that are new or other, and the keys of those that go. */
export async function writeChanges(base: number, rows: readonly Row[], gone: readonly string[]): Promise<string> {
  const directory = await writeNdjson(rows, { base })
  await writeFile(path.join(directory, 'withdrawn.csv'), ['key', ...gone, ''].join('\n'))
  return directory
}

export function writeCsv(rows: readonly Row[]): Promise<string> {
  const columns = ['key', ...givenFields(hedOutbreaks).map((field) => field.name)]
  const cell = (value: unknown) => {
    const text =
      value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
    return `"${text.replaceAll('"', '""')}"`
  }
  const lines = rows.map((row) => columns.map((name) => cell(fullRow(row)[name])).join(','))
  return writeRelease('records.csv', [columns.join(','), ...lines, ''].join('\r\n'))
}

export const writeText = writeRelease

/** A release whose one record file is listed but is not there. */
export async function writeDangling(file: string): Promise<string> {
  const directory = await writeRelease('notes.txt', '')
  await symlink(path.join(directory, 'nowhere'), path.join(directory, file))
  return directory
}
