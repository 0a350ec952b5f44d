// The readers that the fuzzer runs: files of an operator, and the parts of a request that the service parses itself.
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parse as parseQueryString } from 'node:querystring'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { readCursor, writeCursor } from '../../../src/api/paging/cursor.ts'
import { cursorQuery } from '../../../src/api/requests/parameters.ts'
import { readByteRange } from '../../../src/api/response/byte-range.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { compileQuery } from '../../../src/platform/http/query-string.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { CsvError, createCsvSplitter } from '../../../src/publish/input/csv.ts'
import { readParquet } from '../../../src/publish/input/parquet-file.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { fullRow } from '../../fixtures/releases.ts'
import type { Target } from './fuzzer.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const work = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-coverage-fuzz-'))
writeFileSync(path.join(work, 'release.json'), '{"title":"t","licence":"l"}')

/** The first lines of a file. */
const head = (file: string, lines: number): string => readFileSync(file, 'utf8').split('\n').slice(0, lines).join('\n')
const sample = head(path.join(root, 'sample/releases/1/outbreaks.csv'), 3)
const realFiles = globSync(path.join(root, '../shared/data/*/*.csv')).slice(0, 8)
const real = realFiles.map((file) => head(file, 3))
const mappings = globSync(path.join(root, 'sources/*/mapping.json')).map((file) => readFileSync(file, 'utf8'))
const toBuffers = (texts: readonly string[]) => texts.map((text) => Buffer.from(text))

/** Validates the directory with the input as one of its files: a report, or an error for the operator. */
const validateAs = (file: string, others: Record<string, string> = {}) => {
  const directory = mkdtempSync(path.join(work, 'release-'))
  for (const [name, text] of Object.entries({ 'release.json': '{"title":"t","licence":"l"}', ...others }))
    writeFileSync(path.join(directory, name), text)
  return async (input: Buffer) => {
    writeFileSync(path.join(directory, file), input)
    await ignore(OperatorError, () => validateRelease(hedOutbreaks, directory))
  }
}

type ErrorClass = abstract new (...args: never[]) => Error
async function ignore(expected: ErrorClass, read: () => unknown): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!(error instanceof expected)) throw error
  }
}

function splitCsv(pieces: readonly string[]): unknown {
  const splitter = createCsvSplitter()
  try {
    return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()]
  } catch (error) {
    if (error instanceof CsvError) return { line: error.line }
    throw error
  }
}

const cursorKey = createSecretKey(Buffer.alloc(32, 7))
const cursors = [
  { release: 1, fromId: 2 },
  { release: 9, from: 3, fromId: 2 ** 40 },
].map((cursor) => writeCursor(cursorKey, 'walk', cursor))
const FILE_BYTES = 1000
const parseQuery = compileQuery(cursorQuery(hedOutbreaks))
const parquetFile = path.join(work, 'a.parquet')
const parquet = Buffer.from(
  parquetWriteBuffer({
    columnData: [
      { name: 'key', data: ['a', 'b', null], type: 'STRING' },
      { name: 'cases', data: [1n, null, 3n], type: 'INT64' },
      { name: 'extra', data: [{ a: 1 }, null, {}], type: 'JSON' },
    ],
  }),
)
const JSON_WORDS = ['{', '}', '[', ']', '"', ':', ',', 'null', '1e400', '\\u0000', '\\ud800', '__proto__', '\n', '-0']
const CSV_WORDS = ['"', '""', ',', '\n', '\r\n', '\r', '","', '<5', '2020-02-30', '-1', '{}', '\ufeff', '1e400', '\0']

export const targets: Target[] = [
  {
    name: 'CSV: the same records from any pieces',
    files: ['input/csv.ts'],
    seeds: toBuffers([sample, ...real, 'a,"b\n""c",d\r\n"e",f\n']),
    words: CSV_WORDS,
    run(input) {
      const text = input.toString()
      const third = Math.ceil(text.length / 3)
      const pieces = [text.slice(0, third), text.slice(third, 2 * third), text.slice(2 * third)]
      assert.deepEqual(splitCsv(pieces), splitCsv([text]))
    },
  },
  {
    name: 'CSV: a release',
    files: [
      'read-release.ts',
      'csv.ts',
      'validate-cell.ts',
      'validate-row.ts',
      'validate-release.ts',
      'outbreak-rules.ts',
    ],
    seeds: toBuffers([sample]),
    words: CSV_WORDS,
    run: validateAs('a.csv'),
  },
  {
    name: 'NDJSON: a release',
    files: [
      'read-release.ts',
      'json-lines.ts',
      'json-value.ts',
      'validate-cell.ts',
      'validate-row.ts',
      'outbreak-rules.ts',
    ],
    seeds: toBuffers([JSON.stringify(fullRow({ key: 'a', extra: { n: [1, { b: 'c' }] } })), '{"key":"a"}\n{"id":1}\n']),
    words: JSON_WORDS,
    run: validateAs('a.ndjson'),
  },
  {
    name: 'mapping',
    files: ['input/mapping.ts', 'map-rows.ts', 'mapped-file.ts', 'date-format.ts', 'number-format.ts'],
    seeds: toBuffers([
      ...mappings,
      '{"key":["a"],"columns":{"event":{"join":["a",{"from":"b","split":{"by":"x","part":1}}]}}}',
    ]),
    words: [
      ...JSON_WORDS,
      '"wide":',
      '"date":"YYYY-MM-DD"',
      '"number":true',
      '"otherwise":"keep"',
      '"map":{"a":"b"}',
      '"a"',
    ],
    run: validateAs('mapping.json', { 'a.csv': 'a,b,2020-01-01\nx,y,3\n1,2020,4\n' }),
  },
  {
    name: 'Parquet (in its thread, so not guided by coverage)',
    files: ['parquet-file.ts'],
    seeds: [parquet],
    words: ['PAR1', '\0\0\0\0', '\xff\xff\xff\xff', '\x15', '\x7f'],
    async run(input) {
      writeFileSync(parquetFile, input)
      await ignore(OperatorError, async () => {
        for await (const rows of readParquet(parquetFile, 'a.parquet', { timeoutMs: 1000 })) assert.ok(rows.length > 0)
      })
    },
  },
  {
    name: 'cursor',
    files: ['paging/cursor.ts'],
    seeds: toBuffers(cursors),
    words: ['=', '-', '_', '+', '/', 'AAAA', ' '],
    run: (input) =>
      ignore(Problem, () => {
        const text = input.toString('latin1')
        readCursor(cursorKey, 'walk', text)
        assert.ok(cursors.includes(text), 'a cursor that the service did not write')
      }),
  },
  {
    name: 'range',
    files: ['byte-range.ts'],
    seeds: toBuffers(['bytes=0-9', 'bytes=-5', 'bytes=990-', 'bytes=0-1,5-6', 'bytes=5-2', 'lines=1-2']),
    words: ['bytes=', '-', ',', '0', '999', '1000', '99999999999999999999', ' ', '\t'],
    run(input) {
      const range = readByteRange(input.toString('latin1'), FILE_BYTES)
      if (range === null || range === 'unsatisfiable') return
      assert.ok(range.start >= 0 && range.start < range.end && range.end <= FILE_BYTES, JSON.stringify(range))
    },
  },
  {
    name: 'query string',
    files: ['query-string.ts'],
    seeds: toBuffers([
      'num=5&page=abc',
      'event=Ebola_DRC_2018&release=latest&count=exact',
      'cases_min=1&date_from=2020-01-01',
    ]),
    words: [
      '&',
      '=',
      '%00',
      '%ff',
      'num=',
      'release=',
      'event=',
      '__proto__=',
      'bbox=',
      'strict=true',
      'fields=',
      '1e3',
      ',',
    ],
    run: (input) =>
      ignore(Problem, () => parseQuery({ ...parseQueryString(input.toString('latin1')) } as Record<string, string>)),
  },
]
assert.ok(mappings.length > 0)
export const workDirectory = work
