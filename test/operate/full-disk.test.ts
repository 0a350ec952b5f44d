// The disk of the index is full: pages are served, the log and the doctor say why filters are not, and the node heals by itself
// when there is space again.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { createDirectory, waitUntil, withoutPrograms, writeIn } from '../fixtures/operate/program.ts'

const root = path.resolve(import.meta.dirname, '../..')
const skip = withoutPrograms('mount') || (process.getuid?.() === 0 ? false : 'needs root')
/** The node waits for a minute at most before it tries again. */
const HEAL_MS = 90_000

for (const [left, reason] of [
  [0, /"ENOSPC: no space left on device/],
  // Enough for what the node fetches, but not for what DuckDB writes.
  [2 ** 17, /"A disk is full \(Could not write [^()]*No space left on device\)\. Free some space\."/],
] as const) {
  const disk = createDirectory()
  test(`${left} bytes are left for the index`, { skip, timeout: 240_000 }, async (t) => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk])
    t.after(() => spawnSync('umount', ['--lazy', disk]))
    const settings = newSettings(await createTestDatabase())
    const credentials = await prepareDatabase(settings, path.join(root, 'sample/releases/1'))
    const node = await startService(settings, { OUTBREAKS_INDEX: disk })
    t.after(() => node.process.kill('SIGKILL'))
    const { bavail, bsize } = statfsSync(disk)
    const filler = writeIn(disk, 'filler', 'x'.repeat(bavail * bsize - left))
    await outbreakctl(settings, 'release', 'publish', path.join(root, 'sample/releases/2'))
    await waitUntil('the log says it', async () => reason.test(node.output()))

    const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)
    const ask = (query: string) =>
      fetch(`${node.baseUrl}/v2/hed-outbreaks/outbreaks?num=1&release=2${query}`, {
        headers: { authorization: `Bearer ${token}` },
      })
    const filtered = await ask('&cases_min=1')
    assert.deepEqual([filtered.status, filtered.headers.get('retry-after')], [503, '1'], await filtered.text())
    assert.equal((await ask('')).status, 200)

    const variables = { DATABASE_URL: settings.databaseUrl, OUTBREAKS_SECRET: settings.secret, OUTBREAKS_INDEX: disk }
    const doctor = spawnSync(process.execPath, [path.join(root, 'src/cli.ts'), 'doctor'], {
      encoding: 'utf8',
      env: { ...process.env, ...variables, OUTBREAKS_BASE_URL: node.baseUrl },
    })
    assert.equal(doctor.status, 1)
    assert.match(doctor.stdout, new RegExp(`${disk} is full`))

    rmSync(filler)
    const since = performance.now()
    await waitUntil('filters work again', async () => (await ask('&cases_min=1')).status === 200, HEAL_MS)
    t.diagnostic(`healed ${((performance.now() - since) / 1000).toFixed(1)} s after there was space`)
    await node.stop()
  })
}
