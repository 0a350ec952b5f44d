// Decisions on parameters: a wrong one is rejected, never clamped or ignored. Each table row is a check.
import { type Check, check, type Section } from '../../check.ts'
import { expectProblem } from '../../expect.ts'
import { DATA_PATHS, EVENT_NAMES, V1, V2 } from '../../service.ts'
import { MAX_NUM } from '../limits.ts'

type Row = [words: string, raw: string]

/** Malformed integers that a lenient parser would accept. */
const malformed: Row[] = [
  ['that is empty', ''],
  ['of letters', 'abc'],
  ['in exponent form', '1e3'],
  ['in hexadecimal', '0x10'],
  ['with a decimal point', '5.0'],
  ['after a space', '%205'],
  ['before a space', '5%20'],
  ['with a plus sign', '%2B5'],
  ['with a leading zero', '05'],
  ['in full-width digits', '%EF%BC%95'],
  ['with a thousands separator', '1,000'],
  ['with invalid percent-encoding', '%zz'],
]
const numRows: Row[] = [
  ['0', '0'],
  [`${MAX_NUM + 1}`, `${MAX_NUM + 1}`],
  ['-1', '-1'],
  ['above the largest safe integer', '9007199254740993'],
  ...malformed,
]
const offsetRows: Row[] = [['-1', '-1'], ['above the largest safe integer', '9007199254740992'], ...malformed]

const invalid = (path: string, parameter: string, [words, raw]: Row): Check =>
  check(`${parameter} ${words} is 400 with parameter ${parameter}: ${path}`, async (service) =>
    expectProblem(await service.get(`${path}?${parameter}=${raw}`), 400, { code: 'invalid_parameter', parameter }),
  )

const repeated = (path: string, parameter: string, query: string): Check =>
  check(`${parameter} sent twice is 400, even with equal values: ${path}`, async (service) =>
    expectProblem(await service.get(`${path}?${query}&${query}`), 400, { code: 'repeated_parameter', parameter }),
  )

const unknown = (path: string, parameter: string, title: string): Check =>
  check(`${title}: ${path}`, async (service) =>
    expectProblem(await service.get(`${path}?${encodeURIComponent(parameter)}=1`), 400, {
      code: 'unknown_parameter',
      parameter,
    }),
  )

export const parameters: Section = {
  name: 'parameters',
  checks: [
    ...numRows.map((row) => invalid(V1, 'num', row)),
    ...numRows.map((row) => invalid(V2, 'num', row)),
    ...offsetRows.map((row) => invalid(V1, 'offset', row)),
    repeated(V1, 'num', 'num=5'),
    repeated(V2, 'num', 'num=5'),
    repeated(V1, 'offset', 'offset=0'),
    ...DATA_PATHS.map((path) => repeated(path, 'release', 'release=1')),
    ...DATA_PATHS.map((path) => unknown(path, 'no_such_parameter', 'an unknown parameter is 400 with its name')),
    unknown(V2, 'Num', 'parameter names are case-sensitive'),
    unknown(V2, 'num[]', 'a parameter name with brackets is unknown'),
    unknown(V1, 'constructor', 'a property name of every JavaScript object is unknown'),
    unknown(V2, '__proto__', 'a name with a special meaning in JavaScript is unknown'),
    unknown(V1, 'page', 'v1 has no cursor: page is unknown'),
    unknown(V2, 'offset', 'v2 has no offset: offset is unknown'),
    check('an unknown parameter beside valid ones is 400', async (service) =>
      expectProblem(await service.get(`${V1}?num=1&offset=0&ofset=5`), 400, {
        code: 'unknown_parameter',
        parameter: 'ofset',
      }),
    ),
    check('an unknown parameter of event-names is 400 even if it is empty', async (service) =>
      expectProblem(await service.get(`${EVENT_NAMES}?event=`), 400, {
        code: 'unknown_parameter',
        parameter: 'event',
      }),
    ),
  ],
}
