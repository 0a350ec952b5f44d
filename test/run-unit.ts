// npm run test:unit: runs the unit tests in one process for each core. A process for each file would take twice as long.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import os from 'node:os'

const processes = os.availableParallelism()
const exits = Array.from({ length: processes }, (_, i) => {
  const shard = `--test-shard=${i + 1}/${processes}`
  const child = spawn(
    process.execPath,
    ['--test', '--test-isolation=none', shard, 'test/unit/**/*.test.ts', 'clients/typescript/test/unit/*.test.ts'],
    {
      stdio: 'inherit',
    },
  )
  return once(child, 'exit') as Promise<[code: number | null]>
})
const codes = await Promise.all(exits)
process.exitCode = codes.every(([code]) => code === 0) ? 0 : 1
