// Adds the digests that both lock files lack, as the registry of this machine states them: `node dev/build/complete-lock.ts`. npm
// does not add them for binaries of other systems. Prints what the registry does not have.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

interface Entry {
  readonly name?: string
  readonly version: string
  readonly integrity?: string
}

const LOCK_FILES = ['package-lock.json', 'site/package-lock.json']

function readDigest(name: string, version: string): string | null {
  try {
    const output = execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 20_000,
    })
    return output.trim() === '' ? null : (JSON.parse(output) as string)
  } catch {
    return null
  }
}

for (const name of LOCK_FILES) completeLock(path.resolve(import.meta.dirname, '../..', name))

function completeLock(file: string): void {
  const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Entry> }
  for (const [location, entry] of Object.entries(lock.packages)) {
    if (location === '' || entry.integrity !== undefined) continue
    const { version, ...rest } = entry
    const name = entry.name ?? location.split('node_modules/').at(-1) ?? ''
    const integrity = readDigest(name, version)
    if (integrity === null) console.log(`${name}@${version}: the registry does not have it`)
    else lock.packages[location] = { version, integrity, ...rest }
  }
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
}
