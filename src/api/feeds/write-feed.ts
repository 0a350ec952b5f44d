// Writes a feed as Atom (RFC 4287) with archives (RFC 5005), or as JSON Feed 1.1. Pure.
import { escapeHtml } from '../../platform/escape-html.ts'

export interface Feed {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly author: string
  readonly updated: Date
  /** Where people read the same. */
  readonly home: Link
  /** The address of this document, of the latest entries, and of those before it. */
  readonly self: string
  readonly current: string
  readonly older: string | null
  readonly isArchive: boolean
  readonly entries: readonly FeedEntry[]
}

interface FeedEntry {
  readonly id: string
  readonly title: string
  readonly published: Date
  readonly page: Link
  readonly changes: Link
  readonly html: string
  readonly rights: string
  /** The same for programs. */
  readonly data: object
}

export interface Link {
  readonly href: string
  readonly type: string
}

export const ATOM = 'application/atom+xml'
export const JSON_FEED = 'application/feed+json'

/** Half of a surrogate pair is no character; control characters, but for the ends of lines, are not allowed in XML, or hide text. */
const clean = (text: string) =>
  text.toWellFormed().replace(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufffe\uffff]/gu, '')

const write = (name: string, text: string, attributes = '') =>
  `<${name}${attributes}>${escapeHtml(clean(text))}</${name}>`
const link = (rel: string, { href, type }: Link) =>
  `<link rel="${rel}" type="${type}" href="${escapeHtml(clean(href))}"/>`

export function writeAtom(feed: Feed): string {
  const ofFeed = (href: string) => ({ href, type: ATOM })
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0" xml:lang="en">',
    write('id', feed.id),
    write('title', feed.title),
    write('subtitle', feed.description),
    write('updated', feed.updated.toISOString()),
    `<author>${write('name', feed.author)}</author>`,
    link('self', ofFeed(feed.self)),
    link('alternate', feed.home),
    ...(feed.isArchive ? ['<fh:archive/>', link('current', ofFeed(feed.current))] : []),
    ...(feed.older === null ? [] : [link('prev-archive', ofFeed(feed.older))]),
    ...feed.entries.map(writeEntry),
    '</feed>\n',
  ].join('\n')
}

const writeEntry = (entry: FeedEntry): string =>
  [
    '<entry>',
    write('id', entry.id),
    write('title', entry.title),
    write('published', entry.published.toISOString()),
    write('updated', entry.published.toISOString()),
    link('alternate', entry.page),
    link('related', entry.changes),
    write('rights', entry.rights),
    write('content', entry.html, ' type="html"'),
    '</entry>',
  ].join('\n')

export const writeJsonFeed = (feed: Feed): string =>
  JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: clean(feed.title),
    home_page_url: feed.home.href,
    feed_url: feed.self,
    description: clean(feed.description),
    ...(feed.older === null ? {} : { next_url: feed.older }),
    authors: [{ name: feed.author }],
    language: 'en',
    items: feed.entries.map((entry) => ({
      id: entry.id,
      url: entry.page.href,
      external_url: entry.changes.href,
      title: clean(entry.title),
      content_html: clean(entry.html),
      date_published: entry.published.toISOString(),
      date_modified: entry.published.toISOString(),
      _outbreaks: entry.data,
    })),
  })
