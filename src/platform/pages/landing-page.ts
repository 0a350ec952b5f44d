// The page at the root of the service: links as HTML for people and as JSON for programs. Public, without scripts: structured data
// for search engines is a data block, which no browser runs, so that the policy allows no script. Alongside it
// security.txt, which says where to report a vulnerability.

import type { FastifyInstance } from 'fastify'
import { DAY_MS } from '../calendar-date.ts'
import { escapeHtml } from '../escape-html.ts'
import { chooseMediaType } from '../http/media-type.ts'
import { type Frame, renderHeader, renderStyle } from './frame.ts'

export interface LandingPage {
  readonly title: string
  /** What it is, in a line. */
  readonly headline: string
  readonly description: string
  /** A document of schema.org (JSON-LD), for search engines. */
  readonly structuredData: object
  readonly sections: readonly { readonly title: string; readonly links: readonly PageLink[] }[]
}

interface PageLink {
  /** The name of the link in JSON. */
  readonly name: string
  readonly href: string
  readonly title: string
  readonly description: string
}

/** The page can be stored for a while; it changes only with the version. */
const HEADERS = { 'cache-control': 'public, max-age=300', vary: 'accept' }

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function registerLandingPage(app: FastifyInstance, page: LandingPage, frame: Frame): void {
  const html = renderPage(page, frame)
  const links = page.sections.flatMap((section) => section.links.map(({ name, href }) => [name, href]))
  const json = JSON.stringify({ title: page.title, description: page.description, links: Object.fromEntries(links) })
  app.get('/', { schema: { hide: true } }, (request, reply) => {
    reply.headers(HEADERS)
    if (chooseMediaType(request.headers.accept, ['text/html']) === null)
      return reply.type('application/json; charset=utf-8').send(json)
    return reply.header('content-security-policy', CONTENT_SECURITY_POLICY).type('text/html; charset=utf-8').send(html)
  })
}

/** RFC 9116 recommends less than a year, so that an outdated contact expires. It is renewed as long as the node runs. */
const SECURITY_TEXT_DAYS = 180

export function registerSecurityText(app: FastifyInstance, baseUrl: string, contact: string): void {
  app.get('/.well-known/security.txt', { schema: { hide: true } }, (_request, reply) => {
    const expires = new Date(Date.now() + SECURITY_TEXT_DAYS * DAY_MS)
    expires.setUTCHours(0, 0, 0, 0)
    return reply
      .header('cache-control', 'public, max-age=86400')
      .type('text/plain; charset=utf-8')
      .send(
        [
          `Contact: ${contact}`,
          `Expires: ${expires.toISOString().replace('.000', '')}`,
          'Preferred-Languages: en',
          `Canonical: ${baseUrl}/.well-known/security.txt`,
          '',
        ].join('\n'),
      )
  })
}

/** JSON in an HTML element: no text in it ends the element or begins a comment. */
const embedJson = (value: object): string => JSON.stringify(value).replaceAll('<', '\\u003c')

function renderPage({ title, description, headline, structuredData, sections }: LandingPage, frame: Frame): string {
  const renderLink = (link: PageLink) =>
    `<div><dt><a href="${escapeHtml(link.href)}">${escapeHtml(link.title)}</a></dt><dd>${escapeHtml(link.description)}</dd></div>`
  const body = sections.map(
    (section) =>
      `<h2>${escapeHtml(section.title)}</h2>\n<dl class="links">\n${section.links.map(renderLink).join('\n')}\n</dl>`,
  )
  const buttons = frame.links.map(
    ({ href, title: name }, i) =>
      `<a class="button${i === 0 ? ' primary' : ''}" href="${escapeHtml(href)}">${escapeHtml(name)}</a>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${renderStyle(frame)}
<script type="application/ld+json">${embedJson(structuredData)}</script>
</head>
<body>
${renderHeader(frame, title, '/')}
<main>
<div class="hero"><div class="wrap">
<h1>${escapeHtml(headline)}</h1>
<p>${escapeHtml(description)}</p>
<div class="buttons">${buttons.join('')}</div>
</div></div>
<div class="wrap sections">
${body.join('\n')}
</div>
</main>
</body>
</html>
`
}
