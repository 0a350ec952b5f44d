// The TypeScript client reads a service that is killed and started again, through a proxy that breaks connections: each result
// is exactly right or an error of the client. TORTURE_SECONDS sets how long.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../../..')
const seconds = process.env['TORTURE_SECONDS'] ?? '20'

test('nothing that the client returns is wrong', async () => {
  const program = path.join(root, 'clients/typescript/programs/torture.ts')
  const { stdout } = await run(
    process.execPath,
    [path.join(root, 'clients/torture/run.ts'), '--seconds', seconds, '--', process.execPath, program],
    { env: { ...process.env, TORTURE_TRAILERS: '1' }, timeout: (Number(seconds) + 240) * 1000 },
  )
  const { right, wrong } = JSON.parse(stdout) as { right: Record<string, number>; wrong: string[] }
  assert.deepEqual(wrong, [])
  assert.ok(Object.values(right).length > 0)
})
