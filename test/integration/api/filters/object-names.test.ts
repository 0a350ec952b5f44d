// Names that every object of the language has are values like any other: in a record, in a filter and in words.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
const TEXTS = [
  'event',
  'disease',
  'pathogen',
  'source_name',
  'admin_l1',
  'locality',
  'population',
  'age_group',
] as const

const { publish, refresh, inject } = await openRoutes()
before(async () => {
  await publish(
    NAMES.map((name) => ({
      key: name,
      source_name: name,
      population: name,
      date_low: '2020-01-01',
      date_high: '2020-01-01',
      cases: 1,
    })),
  )
  await refresh()
})

for (const name of NAMES)
  test(`${name} in filters and words of every resource`, async () => {
    for (const resource of ['outbreaks', 'series', 'sums', 'events', 'facets', 'citation', 'feed', 'changes?from=1'])
      for (const field of TEXTS) {
        const address = `${HOME}/${resource}${resource.includes('?') ? '&' : '?'}${field}=${name}`
        const { statusCode, body } = await inject(address)
        assert.ok(statusCode < 500, `${address}: ${statusCode} ${body}`)
      }
    for (const resource of ['series', 'sums', 'events', 'search']) {
      const { statusCode, body } = await inject(`${HOME}/${resource}?q=${name}`)
      assert.ok(statusCode < 500, `${resource}?q=${name}: ${statusCode} ${body}`)
    }
  })

test('they are labelled as they are', async () => {
  for (const name of NAMES) {
    const { statusCode, body } = await inject(`${HOME}/sums?source_name=${name}&group_by=population`)
    assert.equal(statusCode, 200, body)
    const { data } = JSON.parse(body) as { data: { population: string; label: string }[] }
    assert.deepEqual(
      data.map(({ population, label }) => [population, label]),
      [[name, name]],
    )
  }
})
