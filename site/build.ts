// npm run build:site: builds the site into site/dist. Needs `npm ci --prefix site` once; sends nothing over the network.
// The policy of the service allows exactly the inline scripts whose hashes this step finds.
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readPage } from './markdown.ts'
import { listSources, root } from './pages.ts'

const here = import.meta.dirname
export const output = path.join(here, 'dist')
/** The service reads it and does not serve it. */
export const HASHES = 'script-hashes.json'

/** The hashes of all inline scripts, as a policy names them. */
export function hashScripts(html: string): string[] {
  return [...html.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)]
    .filter(([, attributes = '', text]) => !/\ssrc=/.test(attributes) && text !== '')
    .map(([, , text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`)
}

/**
 * Whoever uses a keyboard scrolls a wide block of code when it has the focus. A script of the theme allows it, but later than the
 * page is shown, and not without scripts.
 */
const makeCodeFocusable = (html: string): string =>
  html.replaceAll('<pre data-language=', '<pre tabindex="0" data-language=')

/** Returns the number of pages. */
export function buildSite(): number {
  const program = path.join(here, 'node_modules/astro/bin/astro.mjs')
  if (!existsSync(program)) throw new Error('the packages of the site are missing: npm ci --prefix site')
  execFileSync(process.execPath, [program, 'build'], {
    ...{ cwd: here, stdio: 'inherit' },
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
  })
  for (const source of listSources())
    for (const picture of readPage(source, readFileSync(path.join(root, source), 'utf8')).pictures) {
      const copy = path.join(output, 'files', picture)
      mkdirSync(path.dirname(copy), { recursive: true })
      cpSync(path.join(root, picture), copy)
    }
  const pages = globSync('**/*.html', { cwd: output })
  const hashes = new Set<string>()
  for (const page of pages) {
    const html = makeCodeFocusable(readFileSync(path.join(output, page), 'utf8'))
    writeFileSync(path.join(output, page), html)
    for (const scriptHash of hashScripts(html)) hashes.add(scriptHash)
  }
  writeFileSync(path.join(output, HASHES), `${JSON.stringify([...hashes].toSorted())}\n`)
  return pages.length
}

if (import.meta.main) console.log(`${buildSite()} pages in ${path.relative(process.cwd(), output)}`)
