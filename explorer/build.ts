// npm run build:explorer: bundles the page, prepares the outlines of the maps, and writes dist/ with names that have a digest.
// Prints the sizes and fails if one is above its limit.
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, stop, transform } from 'esbuild'
import { iso31661 } from 'iso-3166'
import { readPictureStyles } from './picture-styles.ts'
import { US_STATES } from './us-states.ts'

const here = import.meta.dirname
const output = path.join(here, 'dist')
const assets = path.join(output, 'assets')
const require = createRequire(import.meta.url)
/** KB compressed: the script, the style and the fonts at first paint, the outlines when a map needs them. */
const LIMITS = { app: 100, style: 14, site: 14, sans: 30, serif: 30, world: 45, states: 45 } as const
/** Of the pages around the explorer. */
const SITE_STYLES = ['tokens.css', 'base.css', 'site.css'] as const
const STYLES = ['tokens.css', 'base.css', 'components.css', 'pages.css'] as const
const FONTS = { sans: 'source-sans-3.woff2', serif: 'source-serif-4-600.woff2' } as const

/** Draws pictures on the server. */
const DRAWING = 'draw.mjs'

export interface BuiltFile {
  readonly name: string
  readonly kilobytes: number
  readonly limit: number
}

interface Topology {
  objects: Record<string, { geometries: { id?: string; properties?: Record<string, unknown> }[] }>
}

/** The outlines of one kind, each with the code that records have. */
function readOutlines(file: string, object: string, codeOf: (id: string) => string | undefined): string {
  const topology = JSON.parse(readFileSync(require.resolve(file), 'utf8')) as Topology
  const kept = topology.objects[object]
  if (kept === undefined) throw new Error(`${file} has no ${object}`)
  const geometries = kept.geometries.map(({ id = '', properties = {}, ...shape }) => ({
    ...shape,
    properties: { code: codeOf(id) ?? null, name: properties['name'] },
  }))
  return JSON.stringify({ ...topology, objects: { places: { ...kept, geometries } } })
}

const readStyle = (name: string): string => readFileSync(path.join(here, 'src', name), 'utf8')

/** At once: tests that build the same at the same time never see half a file. */
function replaceFile(file: string, content: string | Buffer): void {
  // Not in assets/, whose files the service reads.
  const temporary = path.join(output, `${path.basename(file)}.${process.pid}`)
  writeFileSync(temporary, content)
  renameSync(temporary, file)
}

export async function buildExplorer(): Promise<BuiltFile[]> {
  const built: BuiltFile[] = []
  /** The address of the file. */
  function write(kind: keyof typeof LIMITS, extension: string, content: string | Buffer): string {
    const name = `${kind}-${hash('sha256', content, 'base64url').slice(0, 10)}.${extension}`
    replaceFile(path.join(assets, name), content)
    built.push({ name, kilobytes: gzipSync(content, { level: 9 }).length / 1024, limit: LIMITS[kind] })
    return `/explore/assets/${name}`
  }

  mkdirSync(assets, { recursive: true })
  const countries = new Map(iso31661.map(({ numeric, alpha2 }) => [numeric, alpha2]))
  const outlines = {
    WORLD_OUTLINES: write(
      'world',
      'json',
      readOutlines('world-atlas/countries-110m.json', 'countries', (id) => countries.get(id)),
    ),
    STATE_OUTLINES: write(
      'states',
      'json',
      readOutlines('us-atlas/states-albers-10m.json', 'states', (id) => US_STATES[id]),
    ),
  }
  const bundle = await build({
    entryPoints: [path.join(here, 'src/main.tsx')],
    ...{ bundle: true, minify: true, format: 'esm', target: 'es2024', write: false },
    ...{ jsx: 'automatic', jsxImportSource: 'preact' },
    define: Object.fromEntries(Object.entries(outlines).map(([name, url]) => [name, JSON.stringify(url)])),
  })
  const fonts = (Object.entries(FONTS) as [keyof typeof FONTS, string][]).map(
    ([kind, file]) => [`../fonts/${file}`, write(kind, 'woff2', readFileSync(path.join(here, 'fonts', file)))] as const,
  )
  async function joinStyles(names: readonly string[]): Promise<string> {
    const joined = names.map(readStyle).join('')
    const styles = fonts.reduce((text, [from, to]) => text.replace(from, to), joined)
    return (await transform(styles, { loader: 'css', minify: true })).code
  }
  const code = await joinStyles(STYLES)
  write('site', 'css', await joinStyles(SITE_STYLES))
  const drawing = await build({
    entryPoints: [path.join(here, 'src/picture/draw.tsx')],
    ...{ bundle: true, minify: true, format: 'esm', platform: 'node', target: 'node24', write: false },
    ...{ jsx: 'automatic', jsxImportSource: 'preact' },
    define: {
      PICTURE_STYLES: JSON.stringify(readPictureStyles(readStyle('tokens.css'), STYLES.map(readStyle).join(''))),
    },
  })
  // Otherwise its process stays as long as this one.
  await stop()
  // Beside assets/, because the service runs it and never sends it.
  replaceFile(path.join(output, DRAWING), drawing.outputFiles[0]?.text ?? '')
  const script = write('app', 'js', bundle.outputFiles[0]?.text ?? '')
  const style = write('style', 'css', code)
  replaceFile(path.join(output, 'index.html'), renderPage(script, style))
  const names = new Set(built.map(({ name }) => name))
  for (const old of readdirSync(assets)) if (!names.has(old)) rmSync(path.join(assets, old), { force: true })
  return built
}

const renderPage = (script: string, style: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outbreak explorer</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The explorer needs JavaScript. The <a href="/">API</a> does not.</p></noscript>
</body>
</html>
`

if (import.meta.main) {
  for (const { name, kilobytes, limit } of await buildExplorer()) {
    console.log(`${name.padEnd(28)} ${kilobytes.toFixed(1).padStart(6)} KB compressed, at most ${limit}`)
    if (kilobytes > limit) process.exitCode = 1
  }
}
