// The releases, and one of them compared with the one before: what it changed and why.
import type { Release } from '../../../clients/typescript/src/client.ts'
import { ChangesPanel } from '../panels/changes.tsx'
import { goTo, linkTo, view } from '../state.ts'
import { formatNumber, texts } from '../texts.ts'

export function ReleasesPage({ releases, item }: { releases: readonly Release[]; item: number | null }) {
  const { releases: words } = texts
  const shown = releases.find(({ number }) => number === item)
  const before = releases.filter(({ number }) => number < (item ?? 0)).at(-1)?.number ?? null
  return (
    <>
      <section class="wide" aria-labelledby="releases">
        <h1 id="releases">{texts.pages.releases}</h1>
        <div class="scroll" tabIndex={0} role="group" aria-label={texts.pages.releases}>
          <table>
            <thead>
              <tr>
                {Object.entries(words.columns).map(([name, text]) => (
                  <th key={name} scope="col">
                    {text}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {releases.toReversed().map((release) => (
                <ReleaseRow key={release.number} release={release} isShown={release === shown} />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {shown !== undefined && <ChangesPanel from={view.value.compare ?? before} to={shown.number} />}
    </>
  )
}

function ReleaseRow({ release, isShown }: { release: Release; isShown: boolean }) {
  const { reasons } = texts.changes
  const why = [release.reasons.added, release.reasons.corrected, release.reasons.withdrawn]
  const listed = [...new Set(why.filter((reason) => reason !== undefined))].map((reason) => reasons[reason] ?? reason)
  return (
    <tr aria-current={isShown}>
      <th scope="row">
        <a
          href={linkTo('releases', { item: release.number })}
          onClick={(event) => {
            event.preventDefault()
            goTo('releases', { item: release.number })
          }}
        >
          {release.number}
        </a>
      </th>
      <td>{release.title}</td>
      <td>{release.published_at.slice(0, 10)}</td>
      <td class="number">{formatNumber(release.records)}</td>
      <td class="number">{formatNumber(release.added)}</td>
      <td class="number">{formatNumber(release.corrected)}</td>
      <td class="number">{formatNumber(release.withdrawn)}</td>
      <td>{listed.join(', ')}</td>
      <td>
        <code title={release.digest}>{release.digest.slice(0, 12)}…</code>
      </td>
    </tr>
  )
}
