// The packages as people get them: built twice, then installed from the file alone in an empty directory, and their first example
// run against a service with the sample. The images have their tests in test/operate and in demo.test.ts.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { buildArtefacts, findMissing } from '../../dev/build/artefacts.ts'
import { newSettings, prepareDatabase, type Service, startService } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { createDirectory, withoutPrograms } from '../fixtures/operate/program.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
/** Has one total in the first release of the sample. */
const QUESTION = { event: 'Ebola_Democratic_Republic_of_Congo_2018' }

/** The name and the digest of every file. */
const digest = (directory: string) =>
  Object.fromEntries(
    globSync('*', { cwd: directory }).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(path.join(directory, name)))
        .digest('hex'),
    ]),
  )

describe('the packages of the clients', { concurrency: false, timeout: 900_000 }, () => {
  const packages = ['typescript', 'mcp', 'python', ...(withoutPrograms('R') === false ? ['r'] : [])]
  const artefacts = createDirectory()
  let service: Service
  let variables: Record<string, string>
  let expected: string

  before(async () => {
    const settings = newSettings(await createEmptyDatabase())
    const { client_id, client_secret } = await prepareDatabase(settings, path.join(root, 'sample/releases/1'))
    service = await startService(settings)
    variables = {
      OUTBREAKS_URL: service.baseUrl,
      OUTBREAKS_CLIENT_ID: client_id,
      OUTBREAKS_CLIENT_SECRET: client_secret,
    }
    expected = await readCases()
    await buildArtefacts(artefacts, packages)
  })
  after(() => service.stop())

  async function readCases(): Promise<string> {
    const credentials = btoa(`${variables['OUTBREAKS_CLIENT_ID']}:${variables['OUTBREAKS_CLIENT_SECRET']}`)
    const token = await fetch(`${service.baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    const { access_token } = (await token.json()) as { access_token: string }
    const response = await fetch(`${service.baseUrl}/v2/hed-outbreaks/sums?${new URLSearchParams(QUESTION)}`, {
      headers: { authorization: `Bearer ${access_token}` },
    })
    const { data } = (await response.json()) as { data: { cases: number }[] }
    const cases = data[0]?.cases
    assert.ok(cases !== undefined && cases > 0)
    return String(cases)
  }

  /** In an empty directory, so with nothing of the checkout; the settings of npm and pip are those of the machine. */
  async function runAlone(directory: string, program: string, ...options: string[]): Promise<string> {
    const env = { ...process.env, ...variables }
    const { stdout } = await run(program, options, { cwd: directory, env })
    return stdout.trim()
  }

  const findArtefact = (pattern: string): string => {
    const [name] = globSync(pattern, { cwd: artefacts })
    assert.ok(name !== undefined, pattern)
    return path.join(artefacts, name)
  }

  test('are the same when they are built again', async () => {
    const again = createDirectory()
    await buildArtefacts(again, packages)
    assert.deepEqual(digest(again), digest(artefacts))
    assert.equal(Object.keys(digest(again)).length, packages.length + 1)
  })

  test('TypeScript: installed by npm from the file', async () => {
    const directory = createDirectory()
    writeFileSync(path.join(directory, 'package.json'), '{ "type": "module", "private": true }')
    await runAlone(directory, 'npm', 'install', '--no-audit', '--no-fund', findArtefact('outbreak-data-client-*.tgz'))
    const program = `import { Outbreaks } from '@outbreak-data/client'
      const { data } = await Outbreaks.fromEnv().sums(${JSON.stringify(QUESTION)})
      console.log(data[0].total.cases)`
    writeFileSync(path.join(directory, 'first.js'), program)
    assert.equal(await runAlone(directory, 'node', 'first.js'), expected)
  })

  test('the tools for assistants: installed by npm from the file', async () => {
    const directory = createDirectory()
    writeFileSync(path.join(directory, 'package.json'), '{ "type": "module", "private": true }')
    await runAlone(directory, 'npm', 'install', '--no-audit', '--no-fund', findArtefact('outbreak-data-mcp-*.tgz'))
    const call = { name: 'count', arguments: QUESTION }
    const messages = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: call },
    ]
    const lines = messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })).join('\n')
    writeFileSync(path.join(directory, 'messages'), `${lines}\n`)
    const command = '(cat messages; sleep 5) | node_modules/.bin/outbreak-mcp'
    const answers = (await runAlone(directory, 'sh', '-c', command)).split('\n')
    assert.match(answers.find((line) => line.includes('"id":2')) ?? '', new RegExp(`\\b${expected}\\b`))
  })

  test('Python: installed by pip from the file', async () => {
    const directory = createDirectory()
    await runAlone(directory, 'python3', '-m', 'venv', 'venv')
    const python = path.join(directory, 'venv/bin/python')
    await runAlone(directory, python, '-m', 'pip', 'install', '--quiet', findArtefact('outbreak_data-*.whl'))
    const program = `from outbreaks import Client\nprint(Client().sums(event="${QUESTION.event}")["data"][0]["total"]["cases"])`
    assert.equal(await runAlone(directory, python, '-W', 'ignore', '-c', program), expected)
  })

  test('R: installed from the source package', { skip: withoutPrograms('R') }, async (t) => {
    const directory = createDirectory()
    const needed = ['cli', 'curl', 'jsonlite', 'openssl', 'rlang', 'tibble']
    const check = `quit(status = !all(vapply(c(${needed.map((name) => `"${name}"`).join(', ')}), requireNamespace, TRUE, quietly = TRUE)))`
    if (
      await run('Rscript', ['-e', check]).then(
        () => false,
        () => true,
      )
    )
      return t.skip(
        'R packages are missing: apt-get install r-cran-cli r-cran-curl r-cran-jsonlite r-cran-openssl r-cran-rlang r-cran-tibble',
      )
    await runAlone(directory, 'R', 'CMD', 'INSTALL', `--library=${directory}`, findArtefact('outbreakdata_*.tar.gz'))
    const program = `library(outbreakdata, lib.loc = "${directory}")
      cat(suppressMessages(ob_sums(ob_client(), event = "${QUESTION.event}"))$total_cases[[1]])`
    assert.equal(await runAlone(directory, 'Rscript', '-e', program), expected)
  })

  test('a program that is missing is named, with what to leave out', () => {
    const { PATH } = process.env
    try {
      process.env['PATH'] = '/nowhere'
      assert.match(findMissing(['r'])[0] ?? '', /^r needs R\. Install it, or leave the artefact out: --without r$/)
    } finally {
      process.env['PATH'] = PATH
    }
  })
})
