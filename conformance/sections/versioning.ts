// Specification section 9, and the decision that v1 stays available and links to its successor.
import { check, type Section } from '../check.ts'
import { expectEqual, expectProblem, expectStatus, expectThat, readJson, readObject } from '../expect.ts'
import { type Service, V1, V2 } from '../service.ts'

const readLink = async (service: Service, path: string) => {
  const response = await service.get(path)
  expectStatus(response, 200)
  const links = (response.headers.get('link') ?? '').split(/,(?=\s*<)/)
  const link = links.find((candidate) => /;\s*rel="?[^"]*\bsuccessor-version\b/i.test(candidate))
  return { url: response.url, target: link && /<([^>]*)>/.exec(link)?.[1] }
}

export const versioning: Section = {
  name: 'versioning',
  checks: [
    check('the version is a path segment, and both /v1/ and /v2/ exist', async (service) => {
      for (const path of [V1, V2]) expectStatus(await service.get(`${path}?num=1`), 200)
    }),
    check('v1 and v2 differ in shape: a plain array and an envelope', async (service) => {
      const v1 = readJson(await service.get(`${V1}?num=1`))
      expectThat(Array.isArray(v1), 'an array from v1', typeof v1)
      const v2 = readObject(await service.get(`${V2}?num=1`))
      expectThat(Array.isArray(v2.data), 'data in an envelope from v2', Object.keys(v2))
    }),
    check('a version that does not exist is 404', async (service) =>
      expectProblem(await service.get('/v3/hed-outbreaks/outbreaks'), 404, { code: 'not_found' }),
    ),
    check('a path without a version is 404', async (service) =>
      expectProblem(await service.get('/hed-outbreaks/outbreaks'), 404, { code: 'not_found' }),
    ),
    check('v2 is the recommended version: v1 links to it as successor-version', async (service) => {
      const { url, target } = await readLink(service, `${V1}?num=1`)
      expectThat(target !== undefined, 'a Link with rel="successor-version"', target)
      const { origin, pathname } = new URL(target, url)
      expectEqual('its target', origin + pathname, service.base(V2))
    }),
    check('v2 has no successor', async (service) =>
      expectEqual('successor-version', (await readLink(service, `${V2}?num=1`)).target, undefined),
    ),
    check('v1 has no Sunset header: no retirement is planned', async (service) => {
      const response = await service.get(`${V1}?num=1`)
      expectStatus(response, 200)
      expectEqual('Sunset', response.headers.get('sunset'), null)
    }),
  ],
}
