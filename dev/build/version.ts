// Writes the version of package.json to every other file that has it. `npm version` runs this file; `npm run release` and a test
// reject a version that stands differently anywhere.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './package.ts'

/** By file: what stands before the version. */
const PLACES: Readonly<Record<string, string>> = {
  'CITATION.cff': '\nversion: ',
  'clients/mcp/package.json': '\n  "version": "',
  'clients/python/pyproject.toml': '\nversion = "',
  'clients/r/DESCRIPTION': '\nVersion: ',
  'clients/typescript/package.json': '\n  "version": "',
  'deploy/compose.yaml': '${OUTBREAKS_VERSION:-',
  'deploy/kubernetes/kustomization.yaml': '\n    newTag: ',
}
const VERSION = /^\d+\.\d+\.\d+/

/** A file's text before its version, the version, and the text after it. */
function split(file: string): readonly [before: string, version: string, after: string] {
  const text = readFileSync(path.join(root, file), 'utf8')
  const start = text.indexOf(PLACES[file] ?? '') + (PLACES[file] ?? '').length
  const [version] = VERSION.exec(text.slice(start)) ?? []
  if (version === undefined) throw new Error(`${file} has no version after ${JSON.stringify(PLACES[file])}`)
  return [text.slice(0, start), version, text.slice(start + version.length)]
}

/** The version in each file but package.json. */
export const readVersions = (): Record<string, string> =>
  Object.fromEntries(Object.keys(PLACES).map((file) => [file, split(file)[1]]))

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  for (const file of Object.keys(PLACES)) {
    const [before, , after] = split(file)
    writeFileSync(path.join(root, file), `${before}${version}${after}`)
  }
}
