// Decision on errors: RFC 9457 problems from one closed list, with the status of the response.
import { type Check, check, type Section } from '../check.ts'
import {
  expectEqual,
  expectHeader,
  expectJsonType,
  expectProblem,
  expectStatus,
  expectThat,
  type Row,
  readJson,
  readObject,
  type ServiceResponse,
  show,
} from '../expect.ts'
import { DATA_PATHS, NO_TOKEN, readOnce, type Service, V1, V2 } from '../service.ts'

interface Sample {
  readonly what: string
  readonly response: ServiceResponse
  readonly problem: Row
}

const INVALID_AUTHORIZATION = 'Bearer this-is-no-token-and-must-not-come-back'

/** One error of each kind that a client can cause. */
const readSamples = readOnce(async (service: Service): Promise<Sample[]> => {
  const requests: [string, Promise<ServiceResponse>][] = [
    ['no token', service.get(V2, NO_TOKEN)],
    ['invalid token', service.get(V2, { authorization: INVALID_AUTHORIZATION })],
    ['malformed parameter', service.get(`${V1}?num=0`)],
    ['unknown parameter', service.get(`${V1}?nmu=5`)],
    ['repeated parameter', service.get(`${V2}?num=5&num=6`)],
    ['damaged cursor', service.get(`${V2}?page=x`)],
    ['unknown path', service.get('/v2/hed-outbreaks/nothing')],
    ['wrong method', service.request('DELETE', V2)],
  ]
  const responses = await Promise.all(requests.map(async ([what, response]) => ({ what, response: await response })))
  return responses.map(({ what, response }) => {
    expectThat(response.status >= 400, `an error for ${what}`, response.status)
    return { what, response, problem: readObject(response) }
  })
})

const onEachError = (title: string, test: (sample: Sample) => boolean, pick: (sample: Sample) => unknown): Check =>
  check(title, async (service) => {
    const failed = (await readSamples(service)).find((sample) => !test(sample))
    expectThat(failed === undefined, `this for ${failed?.what}`, failed && pick(failed))
  })

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const notFound: [why: string, path: string][] = [
  ['an unknown path of a dataset is 404', '/v2/hed-outbreaks/nothing'],
  ['an unknown dataset is 404', '/v2/no-such-dataset/outbreaks'],
  ['a path below an endpoint is 404', `${V1}/1/2`],
]
const wrongMethod: [method: string, path: string][] = [
  ...DATA_PATHS.map((path): [string, string] => ['POST', path]),
  ['PUT', V2],
  ['DELETE', V1],
  ['PATCH', V2],
]

export const errors: Section = {
  name: 'errors',
  checks: [
    onEachError(
      'every error is application/problem+json',
      ({ response }) => /^application\/problem\+json\s*(;|$)/i.test(response.headers.get('content-type') ?? ''),
      ({ response }) => response.headers.get('content-type'),
    ),
    onEachError(
      'every error has a type that is a URI',
      ({ problem }) => isText(problem.type) && URL.canParse(problem.type),
      ({ problem }) => problem.type,
    ),
    onEachError(
      'every error has a title',
      ({ problem }) => isText(problem.title),
      ({ problem }) => problem.title,
    ),
    onEachError(
      'the status in the body is the status of the response',
      ({ problem, response }) => problem.status === response.status,
      ({ problem, response }) => ({ body: problem.status, response: response.status }),
    ),
    onEachError(
      'every error has a detail',
      ({ problem }) => isText(problem.detail),
      ({ problem }) => problem.detail,
    ),
    onEachError(
      'every error has a code in snake_case',
      ({ problem }) => isText(problem.code) && /^[a-z]+(_[a-z0-9]+)*$/.test(problem.code),
      ({ problem }) => problem.code,
    ),
    onEachError(
      'every error has the request id of its response',
      ({ problem, response }) =>
        isText(problem.request_id) && problem.request_id === response.headers.get('x-request-id'),
      ({ problem, response }) => ({ body: problem.request_id, header: response.headers.get('x-request-id') }),
    ),
    onEachError(
      'an error does not repeat the credentials that were sent',
      ({ response }) => response.text !== '' && !response.text.includes(INVALID_AUTHORIZATION.slice('Bearer '.length)),
      () => 'the token in the body',
    ),
    onEachError(
      'an error reveals no internals: no stack trace, no file, no SQL',
      ({ response }) =>
        response.text !== '' && !/\bat \S+ \(|node_modules|\.ts:\d|\bSELECT\b.+\bFROM\b/.test(response.text),
      () => 'internals in the body',
    ),
    check('one code has one type, title and status', async (service) => {
      const rows = new Map<unknown, unknown>()
      for (const { problem } of await readSamples(service)) {
        const { code, type, title, status } = problem
        const row = { type, title, status }
        expectThat(code !== undefined, 'a code', code)
        expectEqual(`for ${show(code)}`, row, rows.get(code) ?? row)
        rows.set(code, row)
      }
    }),
    check('each code has a page under /problems, without a token', async (service) => {
      for (const code of new Set((await readSamples(service)).map(({ problem }) => String(problem.code)))) {
        const page = await service.get(`/problems/${encodeURIComponent(code)}`, NO_TOKEN)
        expectThat(page.status === 200, `status 200 for ${code}`, page.status)
        readJson(page)
      }
    }),
    ...notFound.map(([why, path]) =>
      check(`${why} with code not_found`, async (service) =>
        expectProblem(await service.get(path), 404, { code: 'not_found' }),
      ),
    ),
    ...wrongMethod.map(([method, path]) =>
      check(`${method} is 405 with code method_not_allowed and Allow: ${path}`, async (service) => {
        const response = await service.request(method, path)
        expectProblem(response, 405, { code: 'method_not_allowed' })
        expectHeader(response, 'allow', /\bGET\b/, 'with GET')
      }),
    ),
    check('HEAD with a malformed parameter is 400', async (service) =>
      expectStatus(await service.request('HEAD', `${V2}?num=0`), 400),
    ),
    check('GET /problems/invalid_parameter describes the code in JSON, without a token', async (service) => {
      const response = await service.get('/problems/invalid_parameter', NO_TOKEN)
      expectStatus(response, 200)
      expectJsonType(response)
      expectThat(
        response.text.includes('invalid_parameter'),
        'a page that names the code',
        Object.keys(readObject(response)),
      )
    }),
    check('the page of an unknown problem type is 404', async (service) =>
      expectStatus(await service.get('/problems/no_such_problem', NO_TOKEN), 404),
    ),
  ],
}
