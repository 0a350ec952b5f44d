// Which versions a release holds, as SQL: the one place where that condition is written, together with the check that the
// release is still kept in the snapshot that is read. Numbers stand in the text, because COPY takes no parameters.
import pg from 'pg'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'

/** A whole number in the text of a statement; nothing else gets there. */
export function literal(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`)
  return raw(String(value))
}

/**
 * A condition that fails the statement where the release is pruned or missing in its snapshot. It names no column, so
 * PostgreSQL evaluates it once, before it looks for rows: it must stand in the outermost `where`.
 */
export const isKept = (dataset: Dataset, release: number): Sql =>
  sql`require_kept(${raw(pg.escapeLiteral(dataset.name))}, ${literal(release)})`

/** Of a version: the release holds it. Only for statements that have `isKept` of this release as a condition too. */
export const isInRelease = (release: number): Sql =>
  sql`(from_release <= ${literal(release)} and to_release > ${literal(release)})`

/** The outermost `where` of a statement that reads one release. */
export const isInKeptRelease = (dataset: Dataset, release: number): Sql =>
  sql`${isInRelease(release)} and ${isKept(dataset, release)}`
