// A local copy that follows the releases.
//
// The first release is downloaded. Later ones fetch only the changes, and check the digest of the whole.
import { Outbreaks } from '@outbreak-data/client'
import { saveFile, updateCopy } from '@outbreak-data/client/node'

const outbreaks = Outbreaks.fromEnv()
await saveFile(outbreaks, 'ndjson', 'copy.ndjson', { release: 4 })
console.log('release 4: downloaded')
for (const from of [4, 5]) {
  const { added, corrected, withdrawn } = await updateCopy(outbreaks, 'copy.ndjson', { from, to: from + 1 })
  console.log(`release ${from + 1}: ${added} added, ${corrected} corrected, ${withdrawn} withdrawn`)
}
