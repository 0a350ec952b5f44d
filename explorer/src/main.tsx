// The explorer: one page, whose path says what it shows.
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Release } from '../../clients/typescript/src/client.ts'
import type { Page } from './address.ts'
import { api, useAnswer } from './ask.ts'
import { eventTitle, loadFields } from './labels.ts'
import { ComparePage } from './pages/compare.tsx'
import { CoveragePage } from './pages/coverage.tsx'
import { DownloadsPage } from './pages/downloads.tsx'
import { EventPage } from './pages/event.tsx'
import { EventsPage } from './pages/events.tsx'
import { RecordPage } from './pages/record.tsx'
import { RecordsPage } from './pages/records.tsx'
import { ReleasesPage } from './pages/releases.tsx'
import { StartPage } from './pages/start.tsx'
import { WatchesPage } from './pages/watches.tsx'
import { Header } from './panels/header.tsx'
import { Failure } from './parts/failure.tsx'
import { address, setView, view } from './state.ts'
import { texts } from './texts.ts'

const TITLES: Readonly<Record<Page, string>> = {
  explore: '',
  event: '',
  events: 'Events',
  compare: 'Compare',
  releases: 'Releases',
  records: 'Records',
  coverage: 'Coverage',
  downloads: 'Downloads',
  watches: 'Watches',
}

function App() {
  const { page, item, question } = address.value
  const { value: releases, error } = useAnswer('releases', async (signal) =>
    (await api.releases({ signal }).toArray()).filter((release) => release.pruned_at === null).toReversed(),
  )
  const wanted = view.value.release
  const current = wanted === null ? releases?.at(-1) : releases?.find(({ number }) => number === wanted)
  const subject = [TITLES[page], item, question.event?.map(eventTitle).join('; ')].filter(Boolean).join(' ')
  useEffect(() => {
    document.title = subject === '' ? texts.title : `${subject} – ${texts.title}`
  }, [subject])
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header releases={releases} current={current} />
      <main id="main" class={page} tabIndex={-1}>
        {error !== undefined ? (
          <div class="wrap">
            <Failure error={error} />
          </div>
        ) : releases === undefined ? (
          <p class="sr" role="status">
            Asking …
          </p>
        ) : current === undefined ? (
          <NoRelease wanted={wanted} />
        ) : (
          <Shown page={page} item={item} releases={releases} current={current} />
        )}
      </main>
      <footer class="site-foot">
        <div class="wrap">
          <span>Every number here comes from the API, with its release. Unknown is never shown as zero.</span>
          <ul>
            <li>
              <a href="/docs/methods">How numbers are made</a>
            </li>
            <li>
              <a href="/docs/">Documentation</a>
            </li>
          </ul>
        </div>
      </footer>
    </>
  )
}

/** Nothing is published yet, or the release of the address was pruned or never existed. */
function NoRelease({ wanted }: { wanted: number | null }) {
  return (
    <section class="wrap section" role="alert">
      <h1>
        {wanted === null
          ? 'Nothing is published yet.'
          : `Release ${wanted} does not exist, or its records were deleted.`}
      </h1>
      {wanted !== null && (
        <button class="btn" type="button" onClick={() => setView({ release: null })}>
          Show the latest release
        </button>
      )}
    </section>
  )
}

interface ShownProps {
  readonly page: Page
  readonly item: number | null
  /** The oldest first; those that were pruned are left out. */
  readonly releases: readonly Release[]
  readonly current: Release
}

function Shown({ page, item, releases, current }: ShownProps) {
  switch (page) {
    case 'explore':
      return <StartPage releases={releases} current={current} />
    case 'event':
      return <EventPage releases={releases} current={current} />
    case 'events':
      return <EventsPage release={current.number} />
    case 'compare':
      return <ComparePage current={current} />
    case 'releases':
      return <ReleasesPage releases={releases} item={item} />
    case 'records':
      return item === null ? <RecordsPage release={current.number} /> : <RecordPage id={item} />
    case 'coverage':
      return <CoveragePage release={current.number} />
    case 'downloads':
      return <DownloadsPage current={current} />
    case 'watches':
      return <WatchesPage />
  }
}

const root = document.getElementById('app')
if (root !== null) {
  render(<App />, root)
  void loadFields()
}
