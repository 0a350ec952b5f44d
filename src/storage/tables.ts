// The names of the tables of a dataset, as SQL. Names come only from declarations, never from a request.
import pg from 'pg'
import { raw, type Sql } from 'sql-template-tag'
import { type Dataset, INT4_MAX } from '../datasets/define.ts'

/** The to_release of a version that is in the latest release: no release has closed it. */
export const NO_END_RELEASE = INT4_MAX

export const identifier = (name: string): Sql => raw(pg.escapeIdentifier(name))

export const tablesOf = (dataset: Dataset) => ({
  version: identifier(`${dataset.table}_version`),
  key: identifier(`${dataset.table}_key`),
  chunk: identifier(`${dataset.table}_chunk`),
  digest: identifier(`${dataset.table}_digest`),
})
