// The programs of docs/describe-the-data.md run against a service with a release of the sample.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { newSettings, prepareDatabase, type Service, startService } from '../../dev/service.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { skipWithoutValidators, VALIDATOR_PYTHON } from '../fixtures/describe/python.ts'

const root = path.resolve(import.meta.dirname, '../..')
const page = await readFile(path.join(root, 'docs/describe-the-data.md'), 'utf8')
const programs = [...page.matchAll(/^```(sh|python)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}))
const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-page-'))
after(() => rm(directory, { recursive: true, force: true }))
let service: Service
let token: string
before(async () => {
  process.env['OUTBREAKS_FILES'] = directory
  const settings = newSettings(await createTestDatabase())
  const credentials = await prepareDatabase(settings, path.join(root, 'sample/releases/1'))
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
})
after(() => service.stop())

/** Not spawnSync: the program may wait for the service, whose output this process reads. */
async function run(command: string, args: readonly string[]): Promise<string> {
  const cwd = await mkdtemp(path.join(directory, 'run-'))
  const child = spawn(command, args, {
    ...{ cwd, timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...process.env, OUTBREAKS_URL: service.baseUrl, TOKEN: token },
  })
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const status = await new Promise((resolve) => child.once('close', resolve))
  assert.equal(status, 0, errors)
  return output
}

/** What each program of the page prints, in their order. */
const EXPECTED = [
  /"@id":".*\/v2\/hed-outbreaks\/releases\/1"/,
  /^187 records, 182865737 cases$/m,
  /^valid$/m,
  /^\d+ .*\/files\/hed-outbreaks-1\.csv\.gz\n\d+ .*\.ndjson\.gz\n\d+ .*\.parquet\n$/,
]

test('the page has as many programs as this test knows', () => {
  assert.equal(programs.length, EXPECTED.length)
})

for (const [i, { language, text }] of programs.entries())
  test(`program ${i + 1} of the page (${language}) prints what it should`, {
    skip: language === 'python' && skipWithoutValidators,
  }, async () => {
    const output = await run(language === 'sh' ? 'sh' : (VALIDATOR_PYTHON as string), ['-c', text])
    assert.match(output, EXPECTED[i] as RegExp)
  })
