// A Markdown file of the repository as a page of the site: its title, a sentence about it, and links that lead to pages.
import path from 'node:path'
import { addressOf, BASE, listSources, REPOSITORY } from './pages.ts'

interface PageText {
  readonly title: string
  readonly description: string
  /** Without the title, which the theme writes. */
  readonly body: string
  /** Paths of the pictures, which are copied to the site. */
  readonly pictures: readonly string[]
}

const PICTURE = /\.(?:png|svg|webp)$/
const CODE = /^ *```[^]*?^ *```[^\n]*$|`[^`\n]*`/gm
const TARGET = /(\]\(<?)([^)>\s]+)(>?\))/g

/** Applies a function to the text outside of code. */
function replaceOutsideCode(text: string, replace: (part: string) => string): string {
  let [end, result] = [0, '']
  for (const match of text.matchAll(CODE)) {
    result += replace(text.slice(end, match.index)) + match[0]
    end = match.index + match[0].length
  }
  return result + replace(text.slice(end))
}

/** Where a link of a file leads on the site: a page, a picture, the service, or the repository. */
function resolveTarget(source: string, target: string, sources: ReadonlySet<string>): string {
  if (/^(?:[a-z]+:|#)/i.test(target)) return target
  const [name = '', anchor] = target.split('#')
  const file = path.posix.join(path.posix.dirname(source), name).replace(/\/$/, '')
  const suffix = anchor === undefined ? '' : `#${anchor}`
  if (file === 'README.md') return `${BASE}/${suffix}`
  if (sources.has(file)) return addressOf(file) + suffix
  if (sources.has(`${file}/README.md`)) return addressOf(`${file}/README.md`)
  if (PICTURE.test(file)) return `${BASE}/files/${file}`
  if (file === 'docs/openapi.json') return '/openapi.json'
  return `${REPOSITORY}/${file}${suffix}`
}

/** Without the marks of Markdown. An underscore in a name, as in `OUTBREAKS_SECRET`, is none. */
const plain = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*<>]/g, '')
    .replace(/\b_|_\b/g, '')

/** Throws if a file has no title. */
export function readPage(source: string, text: string, sources = new Set(listSources())): PageText {
  const [, title] = /^# (.+)\n/.exec(text) ?? []
  if (title === undefined) throw new Error(`${source} does not begin with a title`)
  const pictures = new Set<string>()
  const body = replaceOutsideCode(text.slice(text.indexOf('\n') + 1), (part) =>
    part
      .replace(TARGET, (_link, before: string, target: string, after: string) => {
        const address = resolveTarget(source, target, sources)
        if (address.startsWith(`${BASE}/files/`)) pictures.add(address.slice(`${BASE}/files/`.length))
        return before + address + after
      })
      .replace(/<!--[^]*?-->/g, ''),
  )
  const paragraph = body.split(/\n\s*\n/).find((block) => /^\s*[^\s!#`|<>-]/.test(block)) ?? ''
  const sentence = plain(paragraph).replace(/\s+/g, ' ').trim()
  return {
    title: plain(title),
    description: /^.{20,200}?[.:](?= |$)/.exec(sentence)?.[0] ?? sentence.slice(0, 200),
    body,
    pictures: [...pictures],
  }
}

/** A wide table scrolls in a box that the keyboard reaches. */
export const wrapTables = (html: string): string =>
  html.replaceAll('<table>', '<div class="table" tabindex="0"><table>').replaceAll('</table>', '</table></div>')
