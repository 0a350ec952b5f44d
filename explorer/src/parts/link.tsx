// A link to another page of the explorer, which keeps the question. The browser opens it in a new tab if the user asks for that.
import type { ComponentChildren } from 'preact'
import type { Address, Page } from '../address.ts'
import { goTo, linkTo } from '../state.ts'

interface LinkProps {
  readonly page: Page
  readonly to?: Partial<Omit<Address, 'page'>>
  readonly isCurrent?: boolean
  readonly children: ComponentChildren
}

export function Link({ page, to = {}, isCurrent = false, children }: LinkProps) {
  return (
    <a
      href={linkTo(page, to)}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        goTo(page, to)
      }}
    >
      {children}
    </a>
  )
}
