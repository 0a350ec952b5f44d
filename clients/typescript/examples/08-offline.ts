// A script that gives the same numbers always, even without a network.
//
// The file of a release is downloaded once and verified. Afterwards the script reads the file and requests nothing.
import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type OutbreakRecord, Outbreaks } from '@outbreak-data/client'
import { saveFile } from '@outbreak-data/client/node'

const file = 'release-6.ndjson'
if (!existsSync(file)) await saveFile(Outbreaks.fromEnv(), 'ndjson', file, { release: 6 })

let [records, cholera, cases] = [0, 0, 0]
for await (const line of createInterface(createReadStream(file))) {
  const record = JSON.parse(line) as OutbreakRecord
  records += 1
  if (record.disease !== 'Cholera') continue
  cholera += 1
  cases = Math.max(cases, record.cases ?? 0)
}
console.log(`${records} records, ${cholera} of cholera; the largest count is ${cases}`)
