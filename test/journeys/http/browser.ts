// A real Chromium, quiet. Knows nothing of what it is shown.
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Why there can be no browser here; false where there can. */
export const skip = existsSync(executablePath)
  ? false
  : `there is no Chromium at ${executablePath}; set CHROMIUM to its path`

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: [...QUIET, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])] })
