// Specification section 4, event names, and the decision on their format and order.
import { check, dataCheck, type Section } from '../../check.ts'
import { asArray, expectEqual, expectProblem, expectStatus, expectThat, readJson } from '../../expect.ts'
import { EVENT_NAMES, readOnce, type Service } from '../../service.ts'
import { readCompleteWalk } from '../../walk.ts'

const readNames = readOnce(async (service: Service) => {
  const response = await service.get(EVENT_NAMES)
  expectStatus(response, 200)
  const names = asArray(readJson(response), 'the body')
  expectThat(names.length > 0, 'at least one event name', names)
  return names
})

/** The bytes of UTF-8 sort as the code points do; the code units of a JavaScript string do not. */
const byCodePoint = (a: unknown, b: unknown) => Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))

export const eventNames: Section = {
  name: 'event-names',
  checks: [
    check('the response is a plain JSON array', async (service) => {
      const body = readJson(await service.get(EVENT_NAMES))
      expectThat(Array.isArray(body), 'an array', typeof body)
    }),
    check('each event name is a non-empty string', async (service) => {
      const other = (await readNames(service)).find((name) => typeof name !== 'string' || name === '')
      expectThat(other === undefined, 'only non-empty strings', other)
    }),
    check('event names are distinct', async (service) => {
      const names = await readNames(service)
      const duplicate = names.find((name, index) => names.indexOf(name) !== index)
      expectThat(duplicate === undefined, 'each name once', duplicate)
    }),
    check('event names are sorted by code point', async (service) => {
      const names = await readNames(service)
      const at = names.findIndex((name, index) => index > 0 && byCodePoint(names[index - 1], name) > 0)
      expectThat(at === -1, 'ascending code points', names.slice(at - 1, at + 1))
    }),
    dataCheck('the event of each record is in the list of event names', async (walk, service) => {
      const names = new Set(await readNames(service))
      const other = walk.records.find((record) => !names.has(record.event))
      expectThat(other === undefined, 'every event listed', other?.event)
    }),
    check('each event name is the event of a record', async (service) => {
      const events = new Set((await readCompleteWalk(service)).records.map((record) => record.event))
      const other = (await readNames(service)).find((name) => !events.has(name))
      expectThat(other === undefined, 'no name without a record', other)
    }),
    check('a repeated request returns the same bytes', async (service) => {
      const [first, second] = [await service.get(EVENT_NAMES), await service.get(EVENT_NAMES)]
      expectStatus(first, 200)
      expectThat(first.text === second.text, 'equal bodies', 'different ones')
    }),
    ...['num', 'page', 'offset'].map((parameter) =>
      check(`event names are not paged: ${parameter} is 400`, async (service) =>
        expectProblem(await service.get(`${EVENT_NAMES}?${parameter}=1`), 400, {
          code: 'unknown_parameter',
          parameter,
        }),
      ),
    ),
    check('release= with the current release returns the same event names', async (service) => {
      const current = await service.get(EVENT_NAMES)
      const pinned = await service.get(`${EVENT_NAMES}?release=${current.headers.get('outbreaks-release')}`)
      expectStatus(pinned, 200)
      expectEqual('names', readJson(pinned), readJson(current))
    }),
  ],
}
