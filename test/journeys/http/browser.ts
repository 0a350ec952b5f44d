// Starts a real Chromium without background traffic.
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const BROWSER_OPTIONS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Letters are as wide on every machine, for tests that compare pictures.
  '--font-render-hinting=none',
]

/** The `skip` option of a test: a reason if there is no browser, otherwise false. */
export const skip = existsSync(executablePath)
  ? false
  : `there is no Chromium at ${executablePath}; set CHROMIUM to its path`

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: [...BROWSER_OPTIONS, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])] })
