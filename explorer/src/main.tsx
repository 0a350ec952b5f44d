// The explorer: one page, whose path says what it shows.
import { render } from 'preact'
import { PAGES, type Page } from './address.ts'
import { api, useAnswer } from './ask.ts'
import { CoveragePanel } from './panels/coverage.tsx'
import { Failure } from './parts/failure.tsx'
import { DownloadsPage } from './pages/downloads.tsx'
import { EventsPage } from './pages/events.tsx'
import { ExplorePage } from './pages/explore.tsx'
import { RecordPage } from './pages/record.tsx'
import { RecordsPage } from './pages/records.tsx'
import { ReleasesPage } from './pages/releases.tsx'
import { address, goTo, linkTo, view } from './state.ts'
import { texts } from './texts.ts'

function App() {
  const { page, item } = address.value
  const { value: releases, error } = useAnswer('releases', async (signal) =>
    (await api.releases({ signal }).toArray()).filter((release) => release.pruned_at === null).toReversed(),
  )
  const current = releases?.find(({ number }) => number === view.value.release) ?? releases?.at(-1)
  return (
    <>
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      <header>
        <p class="brand">{texts.title}</p>
        <nav aria-label={texts.title}>
          {PAGES.map((name) => (
            <a
              key={name}
              href={linkTo(name)}
              aria-current={page === name ? 'page' : undefined}
              onClick={(event) => {
                event.preventDefault()
                goTo(name)
              }}
            >
              {texts.pages[name]}
            </a>
          ))}
          <a href="/reference">{texts.reference}</a>
        </nav>
        <form method="post" action="/explore/sign-out">
          <button>{texts.signOut}</button>
        </form>
      </header>
      <main id="main" class={page}>
        {error !== undefined ? (
          <Failure error={error} />
        ) : releases === undefined || current === undefined ? (
          <p class="empty" role="status">
            {texts.waiting}
          </p>
        ) : (
          <Shown page={page} item={item} releases={releases} current={current} />
        )}
      </main>
    </>
  )
}

type ShownProps = Parameters<typeof ExplorePage>[0] & { page: Page; item: number | null }

function Shown({ page, item, releases, current }: ShownProps) {
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
      return <CoveragePanel release={current.number} isWhole />
    case 'downloads':
      return <DownloadsPage current={current} />
  }
}

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
