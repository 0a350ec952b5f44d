// The programs that the page shows, in four languages: each is run, and its numbers are those on the screen.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { python } from '../../clients/service.ts'
import { type Address, DEFAULT_VIEW, formatAddress, LANGUAGES, TAKEN } from '../../explorer/src/address.ts'
import { formatDays } from '../../explorer/src/format.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import { type Answer, readAnswer, showAddress, sortRows } from '../fixtures/explorer/screen.ts'

const runFile = promisify(execFile)
const clients = path.resolve(import.meta.dirname, '../../clients')
const TIMEOUT_MS = 120_000

const question = { event: ['COVID-19_Global_2019'], country_code: ['FR'] }
const stateOf = (taken: Address['view']['taken'], code: Address['view']['code']): Address => ({
  page: 'event',
  item: null,
  tab: 'overview',
  question,
  view: { ...DEFAULT_VIEW, interval: 'month', taken, code },
})
/** The columns of a data frame that have the numbers on the screen. */
const COLUMNS = {
  series: ['first_day', 'last_day', 'new_cases', 'records'],
  sums: ['country_code', 'total_cases'],
  coverage: ['records', 'changed'],
}

/** The same in the short form of the API, in which the total of a row is the count itself. */
const SHORT_COLUMNS = { series: COLUMNS.series, sums: ['country_code', 'cases'] }

const pickColumns = (rows: readonly object[], columns: readonly string[]): unknown[][] =>
  rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column] ?? null))

type Run = (command: string, taken: Address['view']['taken'], environment: NodeJS.ProcessEnv) => Promise<unknown[]>

await withExplorer({}, (explorer) => {
  const { baseUrl, credentials } = explorer
  for (const taken of TAKEN)
    for (const code of LANGUAGES)
      test(`the numbers of ${taken} in ${code}`, { timeout: TIMEOUT_MS, skip: whyNot(code) }, async () => {
        const context = await explorer.signIn()
        const page = await context.newPage()
        await page.goto(`${baseUrl}/explore`)
        const { command, numbers } = await showAddress(page, formatAddress(stateOf(taken, code)))
        assert.ok(numbers !== null && numbers.length > 1, command)
        const environment = {
          ...process.env,
          OUTBREAKS_URL: baseUrl,
          OUTBREAKS_CLIENT_ID: credentials.client_id,
          OUTBREAKS_CLIENT_SECRET: credentials.client_secret,
          TOKEN: await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl),
        }
        assert.deepEqual(await programs[code](command, taken, environment), numbers)
        await context.close()
      })
})

function whyNot(code: Address['view']['code']): string | false {
  if (code === 'python' && !existsSync(python)) return 'clients/python/check.sh has not made an environment'
  if (code === 'r' && !existsSync('/usr/bin/Rscript')) return 'R is not installed'
  return false
}

const inDirectory = async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-snippet-'))
  after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** The last line that a program prints. */
async function runProgram(program: string, file: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await runFile(program, [file], {
    env: environment,
    timeout: TIMEOUT_MS,
    cwd: path.dirname(file),
    maxBuffer: 1 << 26,
  })
  return stdout.trim().split('\n').at(-1) ?? ''
}

/** As on the screen: the days in words, the places in order. */
function arrange(taken: string, rows: unknown[][]): unknown[] {
  if (taken === 'coverage') return rows
  if (taken === 'sums') return sortRows(rows)
  return rows.map(([first, last, ...numbers]) => [formatDays(asDay(first), asDay(last)), ...numbers])
}

/** Data frames write days as milliseconds. */
const asDay = (value: unknown): string =>
  typeof value === 'number' ? new Date(value).toISOString().slice(0, 10) : String(value).slice(0, 10)

const programs: Record<Address['view']['code'], Run> = {
  async curl(command, taken, environment) {
    const { stdout } = await runFile('sh', ['-c', `${command} --silent --fail`], {
      env: environment,
      timeout: TIMEOUT_MS,
    })
    const answer = JSON.parse(stdout) as Answer
    // Figures are in the short form, with the columns of a data frame.
    return taken === 'coverage'
      ? readAnswer(stateOf(taken, 'curl'), answer)
      : arrange(taken, pickColumns(answer.data ?? [], SHORT_COLUMNS[taken]))
  },
  async python(command, taken, environment) {
    const file = path.join(await inDirectory(), 'program.py')
    await writeFile(file, `${command}\nprint(${taken}[${JSON.stringify(COLUMNS[taken])}].to_json(orient="values"))\n`)
    const env = { ...environment, PYTHONPATH: path.join(clients, 'python/src') }
    return arrange(taken, JSON.parse(await runProgram(python, file, env)) as unknown[][])
  },
  async r(command, taken, environment) {
    const directory = await inDirectory()
    const library = path.join(directory, 'library')
    await mkdir(library)
    await runFile('R', ['CMD', 'INSTALL', '--no-docs', `--library=${library}`, path.join(clients, 'r')], {
      timeout: TIMEOUT_MS,
    })
    const file = path.join(directory, 'program.R')
    const columns = COLUMNS[taken].map((name) => JSON.stringify(name)).join(', ')
    const last = `cat("\\n", jsonlite::toJSON(${taken}[, c(${columns})], dataframe = "values", na = "null", digits = NA))`
    await writeFile(file, `${command}\n${last}\n`)
    return arrange(
      taken,
      JSON.parse(await runProgram('Rscript', file, { ...environment, R_LIBS: library })) as unknown[][],
    )
  },
  async typescript(command, taken, environment) {
    const directory = await inDirectory()
    await runFile(process.execPath, [path.resolve(clients, '../node_modules/.bin/tsc'), '-p', '.'], {
      cwd: path.join(clients, 'typescript'),
      timeout: TIMEOUT_MS,
    })
    await mkdir(path.join(directory, 'node_modules/@outbreak-data'), { recursive: true })
    await symlink(path.join(clients, 'typescript'), path.join(directory, 'node_modules/@outbreak-data/client'))
    const file = path.join(directory, 'program.mts')
    await writeFile(file, `${command}\nconsole.log('\\n' + JSON.stringify(${taken}))\n`)
    const answer = JSON.parse(await runProgram(process.execPath, file, environment)) as Answer
    return readAnswer(stateOf(taken, 'typescript'), answer)
  },
}
