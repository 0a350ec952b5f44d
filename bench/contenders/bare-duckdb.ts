// DuckDB without the service: runs the statements of the service on an index file of a node, one after the other.
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import sql, { join, type Sql } from 'sql-template-tag'
import type { ColumnIndex, IndexSnapshot } from '../../src/columns/column-index.ts'
import { rowsOf } from '../../src/columns/tables.ts'

export interface BareDuckDb {
  /** The statements that a read of the index runs, without looking up the codes of texts: the service caches them. */
  collect(read: (index: ColumnIndex) => Promise<unknown>): Promise<Sql[]>
  run(statements: readonly Sql[]): Promise<void>
  close(): void
}

/** The limits of a node (src/columns/column-index.ts). */
const LIMITS = { threads: '2', memory_limit: '512MB' }

export async function openBareDuckDb(file: string): Promise<BareDuckDb> {
  const instance = await DuckDBInstance.create(file, LIMITS)
  const connection = await instance.connect()
  const query = async ({ text, values }: Sql) =>
    (await connection.runAndReadAll(text, values as DuckDBValue[])).getRows()
  const [latest] = await query(sql`select max(number) from applied_release`)

  return {
    async collect(read) {
      const statements: Sql[] = []
      const snapshot = (release: number): IndexSnapshot => ({
        rows: rowsOf(release, Number(latest?.[0])),
        rowsOf: (earlier) => rowsOf(earlier, Number(latest?.[0])),
        hasRuns: true,
        async query(statement) {
          statements.push(statement)
          return query(statement)
        },
        async codesOf(texts) {
          const fields = [...texts].map(async ([field, values]) => {
            if (values.length === 0) return [field, new Map<string, number>()] as const
            const rows = await query(
              sql`select value, code from dictionary where field = ${field} and value in (${join(values)})`,
            )
            return [field, new Map(rows.map(([value, code]) => [String(value), Number(code)]))] as const
          })
          return new Map(await Promise.all(fields))
        },
      })
      await read({
        read: (release, work) => work(snapshot(release.number)),
        status: () => ({ state: 'ready', release: 0, failures: 0 }),
        isUnready: () => false,
        follow() {},
        async close() {},
      })
      return statements
    },
    async run(statements) {
      for (const statement of statements) await query(statement)
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}
