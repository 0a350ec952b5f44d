// Runs a statement on the database of a test, on a connection of its own.
import pg from 'pg'

export async function runSql(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(text, values)
  await client.end()
  return rows
}
