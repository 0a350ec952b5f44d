// The explorer: one page, whose path says what it shows.
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Release } from '../../clients/typescript/src/client.ts'
import { PAGES, type Page } from './address.ts'
import { api, useAnswer } from './ask.ts'
import { DownloadsPage } from './pages/downloads.tsx'
import { EventsPage } from './pages/events.tsx'
import { ExplorePage } from './pages/explore.tsx'
import { RecordPage } from './pages/record.tsx'
import { RecordsPage } from './pages/records.tsx'
import { ReleasesPage } from './pages/releases.tsx'
import { CoveragePage } from './panels/coverage.tsx'
import { Failure } from './parts/failure.tsx'
import { Link } from './parts/link.tsx'
import { address, setView, view } from './state.ts'
import { texts } from './texts.ts'

function App() {
  const { page, item, question } = address.value
  const { value: releases, error } = useAnswer('releases', async (signal) =>
    (await api.releases({ signal }).toArray()).filter((release) => release.pruned_at === null).toReversed(),
  )
  const wanted = view.value.release
  const current = wanted === null ? releases?.at(-1) : releases?.find(({ number }) => number === wanted)
  const subject = question.event?.join(', ')
  useEffect(() => {
    document.title = texts.pageTitle(item === null ? texts.pages[page] : `${texts.pages[page]} ${item}`, subject)
  }, [page, item, subject])
  return (
    <>
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      <header>
        <p class="brand">{texts.title}</p>
        <nav aria-label={texts.title}>
          {PAGES.map((name) => (
            <Link key={name} page={name} isCurrent={page === name}>
              {texts.pages[name]}
            </Link>
          ))}
          <a href="/reference">{texts.reference}</a>
        </nav>
        {releases !== undefined && current !== undefined && page !== 'explore' && page !== 'releases' && (
          <ReleaseChoice releases={releases} current={current} />
        )}
        <form method="post" action="/explore/sign-out">
          <button>{texts.signOut}</button>
        </form>
      </header>
      <main id="main" class={page} tabIndex={-1}>
        {error !== undefined ? (
          <Failure error={error} />
        ) : releases === undefined ? (
          <p class="empty" role="status">
            {texts.waiting}
          </p>
        ) : current === undefined ? (
          <NoRelease wanted={wanted} />
        ) : (
          <Shown page={page} item={item} releases={releases} current={current} />
        )}
      </main>
    </>
  )
}

/** Nothing is published yet, or the release of the address was pruned or never existed. */
function NoRelease({ wanted }: { wanted: number | null }) {
  return (
    <section class="wide" role="alert">
      <h1>{wanted === null ? texts.noRelease : texts.notRelease(wanted)}</h1>
      {wanted !== null && (
        <button type="button" onClick={() => setView({ release: null })}>
          {texts.showNewest}
        </button>
      )}
    </section>
  )
}

interface ShownProps {
  /** The oldest first; those that were pruned are left out. */
  readonly releases: readonly Release[]
  readonly current: Release
}

function ReleaseChoice({ releases, current }: ShownProps) {
  const newest = releases.at(-1)
  return (
    <label>
      {texts.release}{' '}
      <select
        value={current.number}
        onChange={({ currentTarget: { value } }) =>
          setView({ release: Number(value) === newest?.number ? null : Number(value) })
        }
      >
        {releases.toReversed().map(({ number }) => (
          <option key={number} value={number}>
            {number === newest?.number ? texts.newest(number) : number}
          </option>
        ))}
      </select>
    </label>
  )
}

function Shown({ page, item, releases, current }: ShownProps & { page: Page; item: number | null }) {
  switch (page) {
    case 'explore':
      return <ExplorePage releases={releases} current={current} />
    case 'events':
      return <EventsPage release={current.number} />
    case 'releases':
      return <ReleasesPage releases={releases} item={item} />
    case 'records':
      return item === null ? <RecordsPage release={current.number} /> : <RecordPage id={item} />
    case 'coverage':
      return <CoveragePage release={current.number} />
    case 'downloads':
      return <DownloadsPage current={current} />
  }
}

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
