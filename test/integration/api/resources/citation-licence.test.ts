// A citation names the licences of the records that were asked for, not of everything that the release has.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { HOME, openRoutes, type Row } from '../../../fixtures/routes.ts'

const { get, publish, refresh } = await openRoutes()
const row = (key: string, event: string, licence: string | null): Row => ({ key, event, licence, cases: 1 })

before(async () => {
  await publish(
    [
      row('a1', 'A', 'CC-BY-4.0'),
      row('a2', 'A', 'CC-BY-4.0'),
      row('a3', 'A', 'Apache-2.0'),
      row('b1', 'B', 'MIT OR ISC'),
      row('b2', 'B', null),
      row('c1', 'C', null),
    ],
    { licence: 'CC0-1.0 AND CC-BY-4.0' },
  )
  await refresh()
})

for (const [query, licence] of [
  ['event=A', 'CC-BY-4.0 AND Apache-2.0'],
  ['event=B', '(MIT OR ISC) AND CC0-1.0 AND CC-BY-4.0'],
  ['event=C', 'CC0-1.0 AND CC-BY-4.0'],
  ['event=Z', 'CC0-1.0 AND CC-BY-4.0'],
] as const)
  test(`${query}: ${licence}`, async () => {
    const citation = JSON.parse((await get(`${HOME}/citation?${query}`)).text) as { licence: string; text: string }
    assert.equal(citation.licence, licence)
    assert.ok(citation.text.includes(`. ${licence}. `), citation.text)
  })
