// Builds the explorer if it is not built, because the service has no /explore without it. Test files that run side by side build
// it once.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const folder = path.resolve(import.meta.dirname, '../../../explorer')
const isBuilt = () => existsSync(path.join(folder, 'dist/index.html'))
const lock = path.join(os.tmpdir(), `outbreaks-explorer-${process.env['TEST_RUN']}`)
const BUILD_MS = 60_000

export async function buildExplorer(): Promise<void> {
  const deadline = Date.now() + BUILD_MS
  while (!isBuilt()) {
    if (takeLock()) {
      execFileSync(process.execPath, [path.join(folder, 'build.ts')], { timeout: BUILD_MS })
      rmdirSync(lock)
    } else if (Date.now() > deadline) throw new Error(`the explorer is not built; ${lock} exists`)
    else await wait(100)
  }
}

function takeLock(): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}
