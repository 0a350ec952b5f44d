// Reads the rows of a query in batches through a cursor of the transaction, so that memory stays bounded.
import type { PoolClient } from 'pg'
import sql, { raw, type Sql } from 'sql-template-tag'
import { identifier } from '../../storage/tables.ts'

const BATCH_ROWS = 1000

export async function* readByCursor<Row extends object>(
  client: PoolClient,
  name: string,
  query: Sql,
): AsyncGenerator<Row[]> {
  const cursor = identifier(name)
  await client.query(sql`declare ${cursor} no scroll cursor for ${query}`)
  for (;;) {
    const { rows } = await client.query<Row>(sql`fetch ${raw(String(BATCH_ROWS))} from ${cursor}`)
    if (rows.length === 0) break
    yield rows
  }
  await client.query(sql`close ${cursor}`)
}
