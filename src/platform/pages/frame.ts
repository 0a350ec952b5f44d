// What the pages of the service have in common: the style sheet, the mark, and the header with its links.
import { escapeHtml } from '../escape-html.ts'

export interface Frame {
  /** The address of the style sheet; null if it was not built: the pages are then plain. */
  readonly styleSheet: string | null
  /** The pages of the header. */
  readonly links: readonly { readonly href: string; readonly title: string }[]
}

/** Bars, and the outline of another release. */
const MARK =
  '<svg viewBox="0 0 28 28" aria-hidden="true"><path class="m1" d="M3 17h4v8H3zM9 12h4v13H9zM15 8h4v17h-4zM21 14h4v11h-4z"/><path class="m2" d="M2 13h6V8h6V4h6v6h6"/></svg>'

export const renderStyle = ({ styleSheet }: Frame): string =>
  `<meta name="color-scheme" content="light dark">${styleSheet === null ? '' : `\n<link rel="stylesheet" href="${escapeHtml(styleSheet)}">`}`

/** `current`: the address of the page itself. */
export function renderHeader({ links }: Frame, name: string, current: string): string {
  const items = links.map(
    ({ href, title }) =>
      `<a href="${escapeHtml(href)}"${href === current ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a>`,
  )
  return `<header class="site"><div class="wrap">
<a class="mark" href="/">${MARK}<span>${escapeHtml(name)}</span></a>
<nav class="nav" aria-label="Pages">${items.join('')}</nav>
</div></header>`
}
