// node clients/compare/frames.ts: the columns of a release in pandas, polars and R, and of its Parquet file: the same type, the
// same nulls and the same values in each. The text of a value that is hashed does not depend on the language.
import { createHash } from 'node:crypto'
import path from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { publishSample, python, runProgram, withService } from '../service.ts'

const clients = path.resolve(import.meta.dirname, '..')
const RELEASE = 6

/** A line that a program prints. */
interface Column {
  readonly frame: string
  readonly column: string
  /** integer, real, boolean, date or text; a category is text. */
  readonly type: string
  readonly nulls: number
  /** SHA-256 of the values, each followed by a line feed. A null is a line with the character U+2205. */
  readonly values: string
}

interface Described {
  column_name: string
  column_type: string
}

const NULL = '∅'
const toType = (type: string) => {
  if (/INT/.test(type)) return 'integer'
  if (/DOUBLE|FLOAT/.test(type)) return 'real'
  return type === 'DATE' ? 'date' : type === 'BOOLEAN' ? 'boolean' : 'text'
}

async function readParquet(file: string): Promise<Column[]> {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  const described = await connection.runAndReadAll(`describe select * from '${file}'`)
  const columns: Column[] = []
  for (const { column_name: column, column_type: type } of described.getRowObjectsJS() as unknown as Described[]) {
    const kind = toType(type)
    const text = kind === 'real' ? `printf('%.6f', "${column}")` : `cast("${column}" as varchar)`
    const read = await connection.runAndReadAll(`select ${text} from '${file}' order by id`)
    const values = read.getColumnsJS()[0] as (string | null)[]
    const hash = createHash('sha256')
    for (const value of values) hash.update(`${value ?? NULL}\n`)
    columns.push({
      ...{
        frame: 'Parquet',
        column: column,
        type: kind,
        nulls: values.filter((value) => value === null).length,
      },
      values: hash.digest('hex'),
    })
  }
  connection.closeSync()
  return columns
}

const published = await publishSample()
await withService(published, async (environment) => {
  const expected = await readParquet(path.join(published.files, `hed-outbreaks-${RELEASE}.parquet`))
  const settings = { ...environment, OUTBREAKS_CACHE: published.files, FRAMES_RELEASE: String(RELEASE) }
  const found: Column[] = []
  for (const command of [
    [python, path.join(clients, 'python/programs/frames.py')],
    ['Rscript', path.join(clients, 'r/programs/frames.R')],
  ])
    for await (const line of runProgram(command, settings)) found.push(JSON.parse(line) as Column)
  let [passed, failed] = [0, 0]
  for (const [frame, columns = []] of Object.entries(Object.groupBy(found, (one) => one.frame))) {
    if (columns.length !== expected.length) {
      failed += 1
      console.log(`${frame} has ${columns.length} columns, not ${expected.length}`)
    }
    for (const column of expected) {
      const same = columns.find((one) => one.column === column.column)
      const isSame = same?.type === column.type && same.nulls === column.nulls && same.values === column.values
      if (isSame) passed += 1
      else {
        failed += 1
        console.log(`${frame}: ${column.column} differs: ${JSON.stringify(same)}, not ${JSON.stringify(column)}`)
      }
    }
  }
  console.log(`frames: ${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
})
