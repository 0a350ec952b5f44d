// The tables a dataset's records are kept in, as SQL. Names come from declarations only, never from a request.
import pg from 'pg'
import { raw, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'

/** The to_release of a version that no release has closed. */
export const OPEN = 2_147_483_647
/** A checkpoint is kept for every so many chunks of a release. */
export const CHECKPOINT_SPACING = 10

export const identifier = (name: string): Sql => raw(pg.escapeIdentifier(name))

export const tablesOf = (dataset: Dataset) => ({
  version: identifier(`${dataset.table}_version`),
  key: identifier(`${dataset.table}_key`),
  chunk: identifier(`${dataset.table}_chunk`),
  facet: identifier(`${dataset.table}_facet`),
  checkpoint: identifier(`${dataset.table}_checkpoint`),
})

export const contentColumns = (dataset: Dataset): Sql[] => dataset.content.map((field) => identifier(field.name))
