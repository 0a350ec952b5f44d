// Schemathesis (PyPI) tests the service against its OpenAPI document with all checks and thousands of requests.
// SCHEMATHESIS is the path of the program; the test is skipped without it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { newSettings, prepareDatabase, startService } from '../../dev/service.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'

const program = process.env['SCHEMATHESIS'] ?? ''
const EXAMPLES = process.env['SCHEMATHESIS_EXAMPLES'] ?? '60'
/** The phase `coverage` sends nine thousand requests, whatever the number of examples. */
const PHASES = process.env['SCHEMATHESIS_PHASES'] ?? 'examples,coverage,fuzzing,stateful'
const MIN_CASES = Number(process.env['SCHEMATHESIS_CASES'] ?? 2000)
/** Of one operation, with all of its examples. */
const MIN_TOKEN_CASES = 10
const sample = path.resolve(import.meta.dirname, '../../sample/releases/1')

/*
 * A schema cannot say that a cursor was issued by the service, that a release exists, or that filters do not contradict
 * each other. A request that matches the schema may therefore give an error; its response is checked against the schema.
 */
const CONFIG = `
[checks.positive_data_acceptance]
expected-statuses = [200, 206, 304, 400, 401, 403, 404, 410, 416]

# Random values for all filters at once give a URL that is too long.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 413, 415, 431]

# As an id "preview" is a word like any other.
[[operations]]
include-path = "/v2/hed-outbreaks/watches/preview"
phases.coverage.unexpected-methods = ["PUT"]
`

const options = { skip: program === '' ? 'SCHEMATHESIS is not set' : false, timeout: 1_200_000 } as const

async function attack(t: TestContext, choose: (token: string) => string[], minCases: number): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-attack-'))
  after(() => rm(directory, { recursive: true, force: true }))
  const settings = newSettings(await createTestDatabase())
  const credentials = await prepareDatabase(settings, sample)
  const service = await startService(settings)
  after(() => service.stop())
  const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  const config = path.join(directory, 'schemathesis.toml')
  await writeFile(config, CONFIG)
  const { stdout } = await promisify(execFile)(
    program,
    [
      ...['--config-file', config, 'run', `${service.baseUrl}/openapi.json`, '--checks', 'all', ...choose(token)],
      ...['--phases', PHASES],
      ...['--max-examples', EXAMPLES, '--seed', '1', '--workers', '2', '--suppress-health-check', 'all', '--no-color'],
    ],
    { cwd: directory, maxBuffer: 1 << 26 },
  ).catch((error: unknown) => {
    const { stdout: output = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return assert.fail(`${output.slice(-8000)}\n${stderr.slice(-2000)}`)
  })
  const cases = Number(/(\d[\d,]*) (?:generated|test cases)/.exec(stdout)?.[1]?.replaceAll(',', '') ?? 0)
  t.diagnostic(`${cases} cases`)
  assert.ok(cases >= minCases, stdout.slice(-3000))
}

test('schemathesis finds no error', options, (t) =>
  attack(t, (token) => ['--header', `Authorization: Bearer ${token}`, '--exclude-path', '/oauth/token'], MIN_CASES),
)

test('schemathesis finds no error in the token endpoint, which takes no token', options, (t) =>
  attack(t, () => ['--include-path', '/oauth/token'], MIN_TOKEN_CASES),
)
