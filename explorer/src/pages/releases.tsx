// The releases as a history: what each added, corrected and withdrew; and one of them compared with another.
import type { Release } from '../../../clients/typescript/src/client.ts'
import { ReleaseBars } from '../charts/release-bars.tsx'
import { formatDay, formatNumber } from '../format.ts'
import { ChangeTable, Moves, useChanges } from '../panels/changes.tsx'
import { ReleasePair } from '../panels/release-pair.tsx'
import { Answered } from '../parts/answered.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { goTo, view } from '../state.ts'
import { texts } from '../texts.ts'

export function ReleasesPage({ releases, item }: { releases: readonly Release[]; item: number | null }) {
  const shown = releases.find(({ number }) => number === item) ?? releases.at(-1)
  return (
    <div class="wrap">
      <div class="head">
        <h1>Releases</h1>
        <p class="quiet">Each release stays as it was published. A release only adds, corrects or withdraws records.</p>
      </div>
      <section class="stage stage-first" aria-label="What each release changed">
        <div class="tm-body">
          <ReleaseBars rows={releases} label="Records added, corrected and withdrawn by each release" />
        </div>
        <div class="stage-foot">
          <ul class="legend">
            <li>
              <svg width="12" height="12" aria-hidden="true">
                <rect class="u" width="12" height="12" />
              </svg>
              added
            </li>
            <li>
              <svg width="12" height="12" aria-hidden="true">
                <circle class="f" cx="6" cy="6" r="4" />
              </svg>
              corrected
            </li>
            <li>
              <svg width="12" height="12" aria-hidden="true">
                <rect class="g" width="12" height="12" />
              </svg>
              withdrawn
            </li>
          </ul>
          <span>Height: square root of the number of records</span>
        </div>
      </section>
      <section class="section" aria-labelledby="list">
        <h2 id="list">All releases</h2>
        <Table
          label="Releases"
          class="lines-s under"
          columns={[
            'Release',
            'Title',
            'As of',
            'Published',
            { name: 'Records', isNumber: true },
            { name: 'Added', isNumber: true },
            { name: 'Corrected', isNumber: true },
            { name: 'Withdrawn', isNumber: true },
            'Why',
            { name: 'Warnings', isNumber: true },
            'SHA-256',
          ]}
        >
          {releases.toReversed().map((release) => (
            <ReleaseRow key={release.number} release={release} isShown={release === shown} />
          ))}
        </Table>
      </section>
      {shown !== undefined && <Compared releases={releases} shown={shown} />}
    </div>
  )
}

/** Without a release to compare with, the one before. */
function Compared({ releases, shown }: { releases: readonly Release[]; shown: Release }) {
  const before = releases.filter(({ number }) => number < shown.number).at(-1)?.number ?? null
  const from = view.value.compare === shown.number ? before : (view.value.compare ?? before)
  const [earlier, later] =
    from === null ? [null, shown.number] : [Math.min(from, shown.number), Math.max(from, shown.number)]
  const answer = useChanges(earlier, later)
  if (earlier === null)
    return (
      <section class="section what" aria-label="Changes">
        <p class="quiet">This is the first release: nothing changed before it.</p>
      </section>
    )
  return (
    <>
      <section class="section" aria-labelledby="compared">
        <div class="section-head">
          <h2 id="compared">
            What changed from release {earlier} to {later}
          </h2>
          <ReleasePair releases={releases} from={earlier} to={later} onTo={(to) => goTo('releases', { item: to })} />
        </div>
        <Answered answer={answer} skeleton="line w8">
          {(value) => <Moves {...value} />}
        </Answered>
      </section>
      <ChangeTable answer={answer} earlier={earlier} later={later} />
    </>
  )
}

function ReleaseRow({ release, isShown }: { release: Release; isShown: boolean }) {
  const why = [release.reasons.added, release.reasons.corrected, release.reasons.withdrawn]
  const listed = [...new Set(why.filter((reason) => reason !== undefined))].map(
    (reason) => texts.reasons[reason] ?? reason,
  )
  const warnings = Object.values(release.warnings).reduce((sum, found) => sum + found, 0)
  return (
    <tr class={isShown ? 'sum' : ''}>
      <th class="nowrap" scope="row">
        <Link page="releases" to={{ item: release.number }} isCurrent={isShown}>
          Release {release.number}
        </Link>
      </th>
      <td data-l="Title">{release.title}</td>
      <td class="nowrap" data-l="As of">
        {formatDay(release.as_of)}
      </td>
      <td class="nowrap" data-l="Published">
        {formatDay(release.published_at.slice(0, 10))}
      </td>
      <td class="r" data-l="Records">
        {formatNumber(release.records)}
      </td>
      <td class="r" data-l="Added">
        {formatNumber(release.added)}
      </td>
      <td class="r" data-l="Corrected">
        {formatNumber(release.corrected)}
      </td>
      <td class="r" data-l="Withdrawn">
        {formatNumber(release.withdrawn)}
      </td>
      <td data-l="Why">{listed.join(', ')}</td>
      <td class="r" data-l="Warnings">
        {formatNumber(warnings)}
      </td>
      <td data-l="SHA-256">
        <code title={release.digest}>{release.digest.slice(0, 12)}…</code>
      </td>
    </tr>
  )
}
