// A stage takes values and nulls of every type, gives them back unchanged, and rejects the number that stands for null.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import sql, { join } from 'sql-template-tag'
import type { Column } from '../../../src/columns/layout.ts'
import { createStage, readStaged, type StagedValue, stagedValue, toStaged } from '../../../src/columns/stage.ts'
import { column } from '../../../src/columns/tables.ts'

const COLUMNS: readonly Column[] = [
  { name: 'code', type: 'code' },
  { name: 'flag', type: 'boolean' },
  { name: 'rule', type: 'smallint' },
  { name: 'cases', type: 'integer' },
  { name: 'total', type: 'bigint' },
  { name: 'latitude', type: 'double' },
  { name: 'day', type: 'date' },
]
const ROWS: readonly (readonly StagedValue[])[] = [
  [1, true, 2, 3, 2 ** 53 - 1, -0.5, 20_000],
  [null, null, null, null, null, null, null],
  [0, false, 0, 0, 0, 0, 0],
  [2 ** 31 - 1, false, 255, -1, -(2 ** 53) + 1, 1e300, -719_162],
]

async function withStage(run: (connection: DuckDBConnection) => Promise<void>): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  try {
    await run(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

test('values and nulls in the types of the index, and back in the form of a stage', () =>
  withStage(async (connection) => {
    const stage = await createStage(connection, 'stage', COLUMNS)
    for (const row of ROWS) stage.add(row)
    stage.flush()
    const typed = join(COLUMNS.map((one) => sql`${stagedValue('stage', one)} as ${column(one.name)}`))
    await connection.run(sql`create table typed as select ${typed} from stage`.text)
    const shown = await connection.runAndReadAll('select * from typed')
    assert.deepEqual(
      shown.getRowsJson().map((row) => row.map(String)),
      [
        ['1', 'true', '2', '3', '9007199254740991', '-0.5', '2024-10-04'],
        COLUMNS.map(() => 'null'),
        ['0', 'false', '0', '0', '0', '0', '1970-01-01'],
        ['2147483647', 'false', '255', '-1', '-9007199254740991', '1e+300', '0001-01-01'],
      ],
    )
    const staged = await connection.runAndReadAll(sql`select ${join(COLUMNS.map(toStaged))} from typed`.text)
    const read = staged.getRows().map((row) => row.map((value, i) => readStaged(COLUMNS[i] as Column, Number(value))))
    assert.deepEqual(read, ROWS)
  }))

test('the number that stands for null', () =>
  withStage(async (connection) => {
    const stage = await createStage(connection, 'stage', COLUMNS)
    const row = COLUMNS.map(() => 0)
    assert.throws(() => stage.add(row.with(3, -(2 ** 31))), /cases is -2147483648, which stands for null in stage/)
  }))
