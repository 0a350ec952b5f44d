// Decision on errors: RFC 9457 from one closed table; the status on the wire is the truth.
import { type Check, check, type Section } from '../check.ts'
import {
  type Answer,
  expectEqual,
  expectHeader,
  expectJsonType,
  expectProblem,
  expectStatus,
  expectThat,
  type Row,
  readJson,
  readObject,
  show,
} from '../expect.ts'
import { DATA_PATHS, OPEN, readOnce, type Service, V1, V2 } from '../service.ts'

interface Sample {
  readonly what: string
  readonly answer: Answer
  readonly problem: Row
}

const GARBLED = 'Bearer this-is-no-token-and-must-not-come-back'

/** One error of each kind that can be provoked from outside. */
const readSamples = readOnce(async (service: Service): Promise<Sample[]> => {
  const provoked: [string, Promise<Answer>][] = [
    ['no token', service.get(V2, OPEN)],
    ['garbled token', service.get(V2, { authorization: GARBLED })],
    ['malformed parameter', service.get(`${V1}?num=0`)],
    ['unknown parameter', service.get(`${V1}?nmu=5`)],
    ['repeated parameter', service.get(`${V2}?num=5&num=6`)],
    ['damaged cursor', service.get(`${V2}?page=x`)],
    ['unknown path', service.get('/v2/hed-outbreaks/nothing')],
    ['wrong method', service.request('DELETE', V2)],
  ]
  const answers = await Promise.all(provoked.map(async ([what, answer]) => ({ what, answer: await answer })))
  return answers.map(({ what, answer }) => {
    expectThat(answer.status >= 400, `an error for ${what}`, answer.status)
    return { what, answer, problem: readObject(answer) }
  })
})

const onEachError = (title: string, holds: (sample: Sample) => boolean, pick: (sample: Sample) => unknown): Check =>
  check(title, async (service) => {
    const other = (await readSamples(service)).find((sample) => !holds(sample))
    expectThat(other === undefined, `this for ${other?.what}`, other && pick(other))
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
      ({ answer }) => /^application\/problem\+json\s*(;|$)/i.test(answer.headers.get('content-type') ?? ''),
      ({ answer }) => answer.headers.get('content-type'),
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
      'the status in the body is the status on the wire',
      ({ problem, answer }) => problem.status === answer.status,
      ({ problem, answer }) => ({ body: problem.status, wire: answer.status }),
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
      'every error has the request_id of its answer',
      ({ problem, answer }) => isText(problem.request_id) && problem.request_id === answer.headers.get('x-request-id'),
      ({ problem, answer }) => ({ body: problem.request_id, header: answer.headers.get('x-request-id') }),
    ),
    onEachError(
      'an error does not repeat the credentials that were sent',
      ({ answer }) => answer.text !== '' && !answer.text.includes(GARBLED.slice('Bearer '.length)),
      () => 'the token in the body',
    ),
    onEachError(
      'an error tells nothing of the inside: no stack, no file, no SQL',
      ({ answer }) => answer.text !== '' && !/\bat \S+ \(|node_modules|\.ts:\d|\bSELECT\b.+\bFROM\b/.test(answer.text),
      () => 'a trace of the inside',
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
    check('each code met has a page of its own under /problems, open to all', async (service) => {
      for (const code of new Set((await readSamples(service)).map(({ problem }) => String(problem.code)))) {
        const page = await service.get(`/problems/${encodeURIComponent(code)}`, OPEN)
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
        const answer = await service.request(method, path)
        expectProblem(answer, 405, { code: 'method_not_allowed' })
        expectHeader(answer, 'allow', /\bGET\b/, 'with GET')
      }),
    ),
    check('HEAD on a malformed parameter is 400 too', async (service) =>
      expectStatus(await service.request('HEAD', `${V2}?num=0`), 400),
    ),
    check('GET /problems/invalid_parameter tells about it in JSON, without a token', async (service) => {
      const answer = await service.get('/problems/invalid_parameter', OPEN)
      expectStatus(answer, 200)
      expectJsonType(answer)
      expectThat(
        answer.text.includes('invalid_parameter'),
        'a page that names the code',
        Object.keys(readObject(answer)),
      )
    }),
    check('a problem type that was never declared has no page: 404', async (service) =>
      expectStatus(await service.get('/problems/no_such_problem', OPEN), 404),
    ),
  ],
}
