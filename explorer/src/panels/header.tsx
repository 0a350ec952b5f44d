// The top of every page: the mark, the pages, the search, the release that is shown, and the way out.
import { useState } from 'preact/hooks'
import type { Release } from '../../../clients/typescript/src/client.ts'
import { DEFAULT_VIEW, type Page } from '../address.ts'
import { Icon } from '../parts/icon.tsx'
import { Link } from '../parts/link.tsx'
import { Search } from '../parts/search.tsx'
import { address, hasWatches, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

const PAGES: readonly (readonly [Page, string])[] = [
  ['events', 'Events'],
  ['compare', 'Compare'],
  ['releases', 'Releases'],
  ['coverage', 'Coverage'],
  ['records', 'Records'],
  ['downloads', 'Downloads'],
  ...(hasWatches ? [['watches', 'Watches'] as const] : []),
]

interface HeaderProps {
  /** The oldest first; undefined until they are known. */
  readonly releases: readonly Release[] | undefined
  readonly current: Release | undefined
}

export function Header({ releases, current }: HeaderProps) {
  const { page } = address.value
  const [isOpen, setOpen] = useState(false)
  const plain = { question: {}, view: { ...DEFAULT_VIEW, release: view.value.release } }
  const close = () => setOpen(false)
  return (
    <header class="site">
      <div class="wrap">
        <Link page="explore" to={plain} class="mark" onGo={close}>
          <svg viewBox="0 0 28 28" aria-hidden="true">
            <path class="m1" d="M3 17h4v8H3zM9 12h4v13H9zM15 8h4v17h-4zM21 14h4v11h-4z" />
            <path class="m2" d="M2 13h6V8h6V4h6v6h6" />
          </svg>
          <span>{texts.title}</span>
        </Link>
        <nav class={isOpen ? 'nav open' : 'nav'} aria-label="Pages" id="pages">
          {PAGES.map(([name, words]) => (
            <Link
              key={name}
              page={name}
              to={plain}
              isCurrent={page === name || (name === 'events' && page === 'event')}
              onGo={close}
            >
              {words}
            </Link>
          ))}
          <a href="/reference">API</a>
        </nav>
        <div class="tools">
          {page !== 'explore' && current !== undefined && <Search release={current.number} />}
          {releases !== undefined && current !== undefined && <ReleaseChoice releases={releases} current={current} />}
          <form class="acct" method="post" action="/explore/sign-out">
            <button class="btn plain icon" aria-label="Sign out" title="Sign out">
              <Icon name="out" />
            </button>
          </form>
          <button
            class="btn plain icon menu"
            type="button"
            aria-label="Pages"
            aria-expanded={isOpen}
            aria-controls="pages"
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'close' : 'menu'} />
          </button>
        </div>
      </div>
    </header>
  )
}

function ReleaseChoice({ releases, current }: { releases: readonly Release[]; current: Release }) {
  const newest = releases.at(-1)
  return (
    <label class="select release">
      <span class="sr">Release</span>
      <Icon name="clock" />
      <select
        value={current.number}
        onChange={({ currentTarget: { value } }) =>
          setView({ release: Number(value) === newest?.number ? null : Number(value) })
        }
      >
        {releases.toReversed().map(({ number }) => (
          <option key={number} value={number}>
            {number === newest?.number ? `Release ${number}, the latest` : `Release ${number}`}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </label>
  )
}
