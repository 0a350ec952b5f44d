// A node whose clock is wrong is not ready: its tokens would be from the future, or never expire.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createEmptyDatabase } from '../../database.ts'

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-clock-'))
after(() => rm(directory, { recursive: true, force: true }))
const settings = newSettings(await createEmptyDatabase())
await prepareDatabase(settings)

for (const [minutes, title] of [
  [25 * 60, 'a day ahead'],
  [-5, 'five minutes behind'],
] as const)
  test(`${title}: not ready, with the reason`, async () => {
    const preload = path.join(directory, `${minutes}.mjs`)
    await writeFile(
      preload,
      `const now = Date.now
process.on('SIGWINCH', () => { Date.now = () => now() + ${minutes * 60_000} })`,
    )
    const node = await startService(settings, { NODE_OPTIONS: `--import=${preload}` })
    after(node.stop)
    node.process.kill('SIGWINCH')
    const deadline = Date.now() + 10_000
    let response = await fetch(`${node.baseUrl}/ready`)
    while (response.ok && Date.now() < deadline) response = await fetch(`${node.baseUrl}/ready`)
    assert.equal(response.status, 503)
    assert.deepEqual(((await response.json()) as { reasons: string[] }).reasons, ['clock'])
  })
