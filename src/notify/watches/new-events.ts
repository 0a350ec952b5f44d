// Finds the events of which a release has a matching record and the release before had none.
import sql, { raw } from 'sql-template-tag'
import type { FeedQuestion } from '../../api/feeds/feed-question.ts'
import { type FeedRoutes, parseAt } from '../../api/feeds/read-entries.ts'
import { figureColumn } from '../../api/figures/figure-columns.ts'
import { matchRows } from '../../api/filters/match-rows.ts'
import { changedRows, column } from '../../columns/tables.ts'
import { EVENT } from '../../datasets/define.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

/** The names, sorted. */
export async function findNewEvents(
  routes: FeedRoutes,
  question: FeedQuestion,
  { previous, release }: { readonly previous: PublishedRelease; readonly release: PublishedRelease },
): Promise<string[]> {
  const { dataset, index } = routes
  const { asked } = await parseAt(routes, question, release)
  return index.read(release, async (snapshot) => {
    const matches = await matchRows(dataset, asked, snapshot, (field) => figureColumn(dataset, field))
    if (matches === null) return []
    const event = column(EVENT)
    const rows = await snapshot.query(sql`
      with candidate as (
        select distinct ${event} as code from ${changedRows(release.number)} as changed where after and ${matches}
      )
      select value from dictionary where field = ${raw(`'${EVENT}'`)} and code in (
        select code from candidate except
        select ${event} from ${snapshot.rowsOf(previous.number)} as earlier
        where ${event} in (select code from candidate) and ${matches})
      order by value`)
    return rows.map(([value]) => String(value))
  })
}
