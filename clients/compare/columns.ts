// The columns of a data frame, as the programs of the packages print them, and of a Parquet file. Compares type, nulls and values.
import { createHash } from 'node:crypto'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Findings } from '../report.ts'

/** A line that a program prints. */
export interface Column {
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

export async function readParquet(file: string): Promise<Column[]> {
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
    const nulls = values.filter((value) => value === null).length
    columns.push({ frame: 'Parquet', column, type: kind, nulls, values: hash.digest('hex') })
  }
  connection.closeSync()
  return columns
}

/** Each of the frames must have exactly the expected columns. */
export function compareColumns(
  expected: readonly Column[],
  found: readonly Column[],
  frames: readonly string[],
): Findings {
  const faults = frames.flatMap((frame) => {
    const columns = found.filter((one) => one.frame === frame)
    const others = columns.filter(({ column }) => !expected.some((one) => one.column === column))
    return [
      ...expected.flatMap((column) => {
        const same = columns.find((one) => one.column === column.column)
        const isSame = same?.type === column.type && same.nulls === column.nulls && same.values === column.values
        if (isSame) return []
        return [`${frame}: ${column.column} differs: ${JSON.stringify(same)}, not ${JSON.stringify(column)}`]
      }),
      ...others.map(({ column }) => `${frame}: the file has no column ${column}`),
    ]
  })
  return { checks: frames.length * expected.length, faults }
}
