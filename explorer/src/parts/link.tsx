// A link to another page of the explorer. The browser opens it in a new tab if the user asks for that.
import type { ComponentChildren } from 'preact'
import type { Address, Page } from '../address.ts'
import { eventLink, goTo, linkTo } from '../state.ts'

interface LinkProps {
  readonly page: Page
  readonly to?: Partial<Omit<Address, 'page'>>
  readonly isCurrent?: boolean
  readonly class?: string
  readonly onGo?: () => void
  readonly children: ComponentChildren
}

export function Link({ page, to = {}, isCurrent = false, class: name, onGo, children }: LinkProps) {
  return (
    <a
      href={linkTo(page, to)}
      class={name}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        goTo(page, to)
        onGo?.()
      }}
    >
      {children}
    </a>
  )
}

/** The page of an event. */
export const EventLink = ({ event, children }: { event: string; children: ComponentChildren }) => (
  <Link {...eventLink(event)}>{children}</Link>
)
