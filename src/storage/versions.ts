// The SQL condition for the versions of a release. No other file writes it. It includes the check that the release is not
// pruned in the snapshot of the statement. Numbers are part of the SQL text, because COPY takes no parameters.
import pg from 'pg'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'

/** A whole number as part of the SQL text. Anything else throws, so nothing can be injected. */
export function literal(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`)
  return raw(String(value))
}

/**
 * A condition that fails the statement if the release is pruned or missing in its snapshot. It names no column, so
 * PostgreSQL evaluates it once, before it reads rows. It must be in the outermost `where`.
 */
export const assertKept = (dataset: Dataset, release: number): Sql =>
  sql`require_kept(${raw(pg.escapeLiteral(dataset.name))}, ${literal(release)})`

/** True for the versions of the release. Use it only in statements that also have `assertKept` for this release. */
export const isInRelease = (release: number): Sql => isInReleaseOf(literal(release))

/** The same for a release that is an SQL expression. */
export const isInReleaseOf = (release: Sql): Sql => sql`(from_release <= ${release} and to_release > ${release})`

/** The outermost `where` of a statement that reads one release. */
export const isInKeptRelease = (dataset: Dataset, release: number): Sql =>
  sql`${isInRelease(release)} and ${assertKept(dataset, release)}`

/** True for the versions that one of the two releases has, or one between them. Fails if one of the two is pruned. */
export const isInKeptReleases = (dataset: Dataset, earlier: number, later: number): Sql =>
  sql`from_release <= ${literal(later)} and to_release > ${literal(earlier)}
    and ${assertKept(dataset, earlier)} and ${assertKept(dataset, later)}`

/** True for those of them that not both releases have. */
export const isChangedBetween = (earlier: number, later: number): Sql =>
  sql`(from_release > ${literal(earlier)} or to_release <= ${literal(later)})`
