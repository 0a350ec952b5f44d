// npm run build:explorer: bundles the page, prepares the outlines of the maps, and writes dist/ with names that have a digest.
// Prints the sizes and fails if one is above its budget.
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { iso31661 } from 'iso-3166'
import { US_STATES } from './us-states.ts'

const here = import.meta.dirname
const output = path.join(here, 'dist')
const assets = path.join(output, 'assets')
const require = createRequire(import.meta.url)
/** KB compressed. */
const BUDGETS: Record<string, number> = { app: 90, style: 10, world: 45, states: 45 }

interface Topology {
  objects: Record<string, { geometries: { id?: string; properties?: Record<string, unknown> }[] }>
}

function write(name: string, extension: string, text: string): string {
  const file = `${name}-${hash('sha256', text, 'base64url').slice(0, 10)}.${extension}`
  writeFileSync(path.join(assets, file), text)
  const kilobytes = gzipSync(text, { level: 9 }).length / 1024
  const budget = BUDGETS[name] ?? 0
  console.log(`${file.padEnd(28)} ${kilobytes.toFixed(1).padStart(6)} KB compressed, at most ${budget}`)
  if (kilobytes > budget) process.exitCode = 1
  return `/explore/assets/${file}`
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

rmSync(output, { recursive: true, force: true })
mkdirSync(assets, { recursive: true })
const countries = new Map(iso31661.map(({ numeric, alpha2 }) => [numeric, alpha2]))
const world = write('world', 'json', readOutlines('world-atlas/countries-110m.json', 'countries', (id) => countries.get(id)))
const states = write('states', 'json', readOutlines('us-atlas/states-albers-10m.json', 'states', (id) => US_STATES[id]))
const bundle = await build({
  entryPoints: [path.join(here, 'src/main.tsx')],
  ...{ bundle: true, minify: true, format: 'esm', target: 'es2024', write: false },
  ...{ jsx: 'automatic', jsxImportSource: 'preact' },
  define: { WORLD_OUTLINES: JSON.stringify(world), STATE_OUTLINES: JSON.stringify(states) },
})
const script = write('app', 'js', bundle.outputFiles[0]?.text ?? '')
const style = write('style', 'css', readFileSync(path.join(here, 'src/style.css'), 'utf8'))
writeFileSync(
  path.join(output, 'index.html'),
  `<!doctype html>
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
`,
)
