// The recorded answers in clients/vectors are what the service answers now.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { createCluster } from '../../../dev/postgres.ts'
import { recordAnswers } from '../../../dev/record-answers.ts'

const recorded = path.resolve(import.meta.dirname, '../../../clients/vectors/answers.json')
// A cluster of its own, because it is stopped: a service without a database is one of the answers.
const cluster = await createCluster()
after(() => cluster.stop())

test('clients/vectors/answers.json is what the service answers; otherwise run node dev/record-answers.ts', async () => {
  const answers = await recordAnswers(cluster.url, cluster.stopServer)
  const expected = JSON.parse(await readFile(recorded, 'utf8')) as typeof answers
  for (const [name, answer] of Object.entries(answers)) assert.deepEqual(answer, expected[name], name)
  assert.deepEqual(Object.keys(answers), Object.keys(expected))
})
