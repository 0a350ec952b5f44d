// Follows the releases with a copy, and says after each whether it is the published file, for clients/compare/sync.ts.
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Outbreaks } from '../src/client.ts'
import { saveFile, updateCopy } from '../src/node.ts'

const outbreaks = Outbreaks.fromEnv()
const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-copy-'))
const copy = path.join(directory, 'copy.ndjson')
for (let release = 1; release <= Number(process.env['SYNC_RELEASES']); release += 1) {
  let changes = 0
  if (release === 1) await saveFile(outbreaks, 'ndjson', copy, { release })
  else {
    const { added, corrected, withdrawn } = await updateCopy(outbreaks, copy, { from: release - 1, to: release })
    changes = added + corrected + withdrawn
  }
  const { files } = await outbreaks.release(release)
  const sha256 = createHash('sha256')
    .update(await readFile(copy))
    .digest('hex')
  const right = files.some((file) => file.name.endsWith('.ndjson') && file.sha256 === sha256)
  console.log(JSON.stringify({ release, right, changes }))
}
await rm(directory, { recursive: true })
