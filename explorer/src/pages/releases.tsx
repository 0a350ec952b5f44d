// The releases, and one of them compared with another, by default with the one before: what changed and why.
import type { Release } from '../../../clients/typescript/src/client.ts'
import { ChangesPanel } from '../panels/changes.tsx'
import { CompareChoice } from '../panels/time-machine.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { formatNumber, texts } from '../texts.ts'

export function ReleasesPage({ releases, item }: { releases: readonly Release[]; item: number | null }) {
  const shown = releases.find(({ number }) => number === item) ?? releases.at(-1)
  return (
    <>
      <section class="wide" aria-labelledby="releases">
        <h1 id="releases">{texts.pages.releases}</h1>
        <Table label={texts.pages.releases} columns={Object.values(texts.releases.columns)}>
          {releases.toReversed().map((release) => (
            <ReleaseRow key={release.number} release={release} isShown={release === shown} />
          ))}
        </Table>
        {shown !== undefined && <CompareChoice releases={releases} current={shown} />}
      </section>
      {shown !== undefined && <ChangesPanel releases={releases} to={shown} />}
    </>
  )
}

function ReleaseRow({ release, isShown }: { release: Release; isShown: boolean }) {
  const { reasons } = texts.changes
  const why = [release.reasons.added, release.reasons.corrected, release.reasons.withdrawn]
  const listed = [...new Set(why.filter((reason) => reason !== undefined))].map((reason) => reasons[reason] ?? reason)
  const warnings = Object.values(release.warnings).reduce((sum, found) => sum + found, 0)
  return (
    <tr class={isShown ? 'shown' : ''}>
      <th scope="row">
        <Link page="releases" to={{ item: release.number }} isCurrent={isShown}>
          {release.number}
        </Link>
      </th>
      <td>{release.title}</td>
      <td class="number">{release.as_of}</td>
      <td class="number">{release.published_at.slice(0, 10)}</td>
      <td class="number">{formatNumber(release.records)}</td>
      <td class="number">{formatNumber(release.added)}</td>
      <td class="number">{formatNumber(release.corrected)}</td>
      <td class="number">{formatNumber(release.withdrawn)}</td>
      <td>{listed.join(', ')}</td>
      <td class="number">{formatNumber(warnings)}</td>
      <td>
        <code title={release.digest}>{release.digest.slice(0, 12)}…</code>
      </td>
    </tr>
  )
}
