// A value that was asked for in vain, or that a release withdrew: what was remembered about it is of one release only.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'

const routes = await openRoutes()
const row = { disease: 'Cholera', pathogen: 'Vibrio cholerae' }
const [first, second] = [
  { key: 'a', event: 'Cholera_Testland_2020', ...row },
  { key: 'b', event: 'Cholera_Testland_2021', ...row },
]

async function ask(release: number, event: string) {
  const { statusCode, headers, body } = await routes.inject(`${HOME}/outbreaks`, { release, event, count: 'exact' })
  assert.equal(statusCode, 200, body)
  return { records: Number(headers['outbreaks-count']), isMissing: headers['outbreaks-warning'] !== undefined }
}

test('a value that a later release brings is found there, and stays missing before', async () => {
  await routes.publish([first])
  await routes.refresh()
  const missing = { records: 0, isMissing: true }
  assert.deepEqual(await ask(1, second.event), missing)
  assert.deepEqual(await ask(1, second.event), missing, 'the same from memory')
  await routes.publish([first, second])
  await routes.refresh()
  assert.deepEqual(await ask(2, second.event), { records: 1, isMissing: false })
  assert.deepEqual(await ask(1, second.event), missing)
})

test('a value that a release withdrew is missing there, and found before', async () => {
  await routes.publish([first])
  await routes.refresh()
  assert.deepEqual(await ask(3, second.event), { records: 0, isMissing: true })
  assert.deepEqual(await ask(2, second.event), { records: 1, isMissing: false })
  assert.deepEqual(await ask(3, first.event), { records: 1, isMissing: false })
})
