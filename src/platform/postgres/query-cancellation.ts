// Sends no more queries for a request that is cancelled.
import type { Sql } from 'sql-template-tag'
import { currentSignal } from '../cancellation.ts'
import type { Database } from './database.ts'

export const cancelWithRequest = (database: Database): Database => ({
  ...database,
  query: <Row extends object>(sql: Sql) => database.query<Row>(sql, currentSignal()),
  copyOut: (sql) => database.copyOut(sql, currentSignal()),
})
