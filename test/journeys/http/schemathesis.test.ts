// The described interface, attacked by a program that has read nothing but the description: every check it has, thousands of
// requests. SCHEMATHESIS names the program (from PyPI); where it is not named, this is skipped.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

const program = process.env['SCHEMATHESIS'] ?? ''
const EXAMPLES = process.env['SCHEMATHESIS_EXAMPLES'] ?? '60'
const FEWEST_CASES = Number(process.env['SCHEMATHESIS_CASES'] ?? 2000)
const sample = path.resolve(import.meta.dirname, '../../../sample')

/*
 * A cursor is one that we gave out, a release one that exists, and filters must not contradict each other: no schema can say
 * so. A request that is right by the schema may therefore be refused, and the refusal is then held against its own schema.
 */
const CONFIG = `
[checks.positive_data_acceptance]
expected-statuses = [200, 206, 304, 400, 401, 403, 404, 410, 416]

# Random values for all filters at once make an address that is too long.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 415, 431]
`

test('an attack by the description finds nothing', {
  skip: program === '' ? 'SCHEMATHESIS does not name the program' : false,
  timeout: 1_200_000,
}, async (t) => {
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
      ...['--config-file', config, 'run', `${service.baseUrl}/openapi.json`, '--checks', 'all'],
      ...['--header', `Authorization: Bearer ${token}`, '--max-examples', EXAMPLES, '--seed', '1', '--workers', '2'],
      ...['--exclude-path', '/oauth/token', '--suppress-health-check', 'all', '--no-color'],
    ],
    { cwd: directory, maxBuffer: 1 << 26 },
  ).catch((error: unknown) => {
    const { stdout: said = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return assert.fail(`${said.slice(-8000)}\n${stderr.slice(-2000)}`)
  })
  const cases = Number(/(\d[\d,]*) (?:generated|test cases)/.exec(stdout)?.[1]?.replaceAll(',', '') ?? 0)
  t.diagnostic(`${cases} cases`)
  assert.ok(cases >= FEWEST_CASES, stdout.slice(-3000))
})
