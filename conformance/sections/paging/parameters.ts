// Decisions on parameters: never clamped, never ignored. A table row is a check of its own.
import { type Check, check, type Section } from '../../check.ts'
import { expectProblem } from '../../expect.ts'
import { DATA_PATHS, EVENT_NAMES, V1, V2 } from '../../service.ts'

type Row = [words: string, raw: string]

/** Malformed as any integer: what a lenient parser would let through. */
const malformed: Row[] = [
  ['left empty', ''],
  ['of letters', 'abc'],
  ['in exponent form', '1e3'],
  ['in hexadecimal', '0x10'],
  ['with a decimal point', '5.0'],
  ['behind a space', '%205'],
  ['before a space', '5%20'],
  ['with a plus sign', '%2B5'],
  ['with a leading zero', '05'],
  ['in full-width digits', '%EF%BC%95'],
  ['with a thousands separator', '1,000'],
  ['of broken percent-encoding', '%zz'],
]
const numRows: Row[] = [
  ['0', '0'],
  ['1001', '1001'],
  ['-1', '-1'],
  ['beyond what a number holds exactly', '9007199254740993'],
  ...malformed,
]
const offsetRows: Row[] = [['-1', '-1'], ['beyond what a number holds exactly', '9007199254740992'], ...malformed]

const refused = (path: string, parameter: string, [words, raw]: Row): Check =>
  check(`${parameter} ${words} is refused, naming ${parameter}: ${path}`, async (service) =>
    expectProblem(await service.get(`${path}?${parameter}=${raw}`), 400, { code: 'invalid_parameter', parameter }),
  )

const repeated = (path: string, parameter: string, query: string): Check =>
  check(`${parameter} sent twice is refused, even with one value: ${path}`, async (service) =>
    expectProblem(await service.get(`${path}?${query}&${query}`), 400, { code: 'repeated_parameter', parameter }),
  )

const unknown = (path: string, parameter: string, why: string): Check =>
  check(`${why}: ${path}`, async (service) =>
    expectProblem(await service.get(`${path}?${encodeURIComponent(parameter)}=1`), 400, {
      code: 'unknown_parameter',
      parameter,
    }),
  )

export const parameters: Section = {
  name: 'parameters',
  checks: [
    ...numRows.map((row) => refused(V1, 'num', row)),
    ...numRows.map((row) => refused(V2, 'num', row)),
    ...offsetRows.map((row) => refused(V1, 'offset', row)),
    repeated(V1, 'num', 'num=5'),
    repeated(V2, 'num', 'num=5'),
    repeated(V1, 'offset', 'offset=0'),
    ...DATA_PATHS.map((path) => repeated(path, 'release', 'release=1')),
    ...DATA_PATHS.map((path) => unknown(path, 'no_such_parameter', 'an unknown parameter is refused by name')),
    unknown(V2, 'Num', 'the name of a parameter has one spelling'),
    unknown(V2, 'num[]', 'brackets do not make a parameter a list'),
    unknown(V1, 'constructor', 'a name every object has is unknown as any other'),
    unknown(V2, '__proto__', 'a name with a meaning in JavaScript is unknown as any other'),
    unknown(V1, 'page', 'v1 has no cursor: page is refused'),
    unknown(V2, 'offset', 'v2 has no offset: offset is refused'),
    check('a good parameter does not excuse an unknown one', async (service) =>
      expectProblem(await service.get(`${V1}?num=1&offset=0&ofset=5`), 400, {
        code: 'unknown_parameter',
        parameter: 'ofset',
      }),
    ),
    check('event-names refuses a parameter as unknown even when its value is empty', async (service) =>
      expectProblem(await service.get(`${EVENT_NAMES}?event=`), 400, {
        code: 'unknown_parameter',
        parameter: 'event',
      }),
    ),
  ],
}
