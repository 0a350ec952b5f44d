// Follows the releases with a copy, and prints its SHA-256 and number of records after each, for clients/compare/sync.ts.
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
  const bytes = await readFile(copy)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const records = bytes.toString('latin1').split('\n').length - 1
  console.log(JSON.stringify({ release, sha256, records, changes }))
}
await rm(directory, { recursive: true })
