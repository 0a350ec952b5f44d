// npm run mutants [folder…]: StrykerJS on each folder, with one database cluster for all of them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globalSetup, globalTeardown } from '../database.ts'

const FOLDERS = ['auth', 'methods', 'api', 'publish', 'platform/http']
/** One in so many declarations of a folder, so that a run ends within half an hour. */
const SAMPLES: Record<string, number> = { auth: 8, methods: 8, api: 60, publish: 20, 'platform/http': 6 }

const chosen = process.argv.slice(2)
await globalSetup()
try {
  for (const folder of chosen.length === 0 ? FOLDERS : chosen) {
    const sample = process.env['SAMPLE_ONE_IN'] ?? String(SAMPLES[folder] ?? 1)
    // Meanwhile this process drops the databases of tests that have ended: thousands in a run.
    const stryker = spawn('node_modules/.bin/stryker', ['run'], {
      stdio: 'inherit',
      env: { ...process.env, MUTANTS_FOLDER: folder, SAMPLE_ONE_IN: sample },
    })
    const [status] = await once(stryker, 'exit')
    if (status !== 0) process.exitCode = 1
  }
} finally {
  await globalTeardown()
}
