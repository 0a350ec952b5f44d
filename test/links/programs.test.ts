// Programs of others open links: DuckDB, pandas, R, LibreOffice and curl get the figures that the API answers with a token.
// A program that is not installed is skipped. DuckDB is the one of this package, with the httpfs extension of DUCKDB_PYTHON.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Credentials, newSettings, type Service, startService } from '../../dev/service.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { type Cell, openDuckDb, programs } from '../fixtures/links/programs.ts'
import { prepareInProcess } from '../fixtures/operate/prepared-database.ts'
import { LIVENESS_MS } from '../liveness.ts'

const HOME = '/v2/hed-outbreaks'
const MEASLES = 'event=Measles_United_States_2025'
const settings = newSettings(await createTestDatabase())
let service: Service
let token = ''
before(async () => {
  const releaseOf = (number: number) => path.resolve(import.meta.dirname, `../../sample/releases/${number}`)
  const credentials: Credentials = await prepareInProcess(settings, releaseOf(1))
  const operator = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 2 })
  for (const number of [2, 3, 4, 5, 6]) await publishRelease(operator, hedOutbreaks, releaseOf(number))
  await operator.close()
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
})
after(() => service.stop())

async function read<Body>(address: string): Promise<Body> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(service.baseUrl + address, { headers, signal: AbortSignal.timeout(LIVENESS_MS) })
  assert.equal(response.status, 200, address)
  return (await response.json()) as Body
}
const makeLink = async (address: string) =>
  (await read<{ url: string }>(`${HOME}/link?${new URLSearchParams({ url: HOME + address })}`)).url

interface Question {
  /** Without the format and the columns. */
  readonly address: string
  readonly columns: readonly string[]
}
const QUESTIONS: Record<string, Question> = {
  'cases by month': { address: `/series?${MEASLES}&interval=month`, columns: ['period', 'first_day', 'new_cases'] },
  'cases by week over nine years': {
    address: '/series?event=Dengue_Peru_2014&interval=isoweek',
    columns: ['period', 'last_day', 'new_cases'],
  },
  'sums by country, of which one is NA': {
    address: '/sums?disease=Measles&disease=Cholera&group_by=country_code',
    columns: ['country_code', 'cases', 'deaths', 'first_day'],
  },
  'sums by disease': {
    address: '/sums?group_by=disease',
    columns: ['disease', 'cases', 'deaths', 'first_day', 'last_day'],
  },
  'records with text and places': {
    address: `/outbreaks?${MEASLES}`,
    columns: ['id', 'country_code', 'admin_l1', 'date_high', 'case_status', 'cases', 'composite'],
  },
}

/** The rows as JSON, of all pages. */
async function readRows({ address, columns }: Question): Promise<Cell[][]> {
  const rows: Record<string, Cell>[] = []
  const isPaged = address.startsWith('/outbreaks')
  for (let next: string | null = `${HOME}${address}${isPaged ? '&num=1000' : ''}`; next !== null; ) {
    const body: { data: Record<string, Cell>[]; next?: string | null } = await read(next)
    rows.push(...body.data)
    next = typeof body.next === 'string' ? body.next.replace(service.baseUrl, '') : null
  }
  return rows.map((row) => columns.map((name) => row[name] ?? null))
}

/** A cell as a program shows it. Whole numbers may have become floating-point numbers. */
function isSame(cell: Cell, expected: Cell): boolean {
  if (expected === null || expected === '') return cell === null || cell === ''
  if (typeof expected === 'number') return cell !== null && cell !== '' && Number(cell) === expected
  return String(cell).toLowerCase() === String(expected).toLowerCase()
}

for (const { name, skip, read: readTable } of programs)
  describe(name, { skip }, () => {
    for (const [title, question] of Object.entries(QUESTIONS))
      test(`${title}: every figure is that of the API`, async () => {
        const { address, columns } = question
        const expected = await readRows(question)
        assert.ok(expected.length > 5 && expected.some((row) => row.some((cell) => Number(cell) > 0)), title)
        const link = await makeLink(
          `${address}&format=csv&${address.startsWith('/outbreaks') ? 'fields' : 'columns'}=${columns.join()}`,
        )
        const [header = [], ...rows] = await readTable(link)
        assert.deepEqual(header, columns)
        assert.equal(rows.length, expected.length)
        const wrong = expected.flatMap((row, i) =>
          row.flatMap((cell, j) => (isSame(rows[i]?.[j] ?? null, cell) ? [] : [[i, columns[j], cell, rows[i]?.[j]]])),
        )
        assert.deepEqual(wrong, [])
      })

    test('a link that was changed opens nothing', async () => {
      const link = await makeLink(`/series?${MEASLES}&interval=month&format=csv&columns=period,new_cases`)
      await assert.rejects(readTable(link.replace('month', 'year')))
    })
  })

const duckDb = await openDuckDb()
describe('DuckDB over HTTP', { skip: duckDb.skip }, () => {
  const ask = async (statement: string) => (await duckDb.run(statement)).map((row) => row.map(String))

  test('reads a link as Parquet, with the types of the columns', async () => {
    const records = await readRows({ address: `/outbreaks?${MEASLES}`, columns: ['cases'] })
    const link = await makeLink(`/outbreaks?${MEASLES}&format=parquet`)
    const sum = records.reduce((total, [cases]) => total + Number(cases), 0)
    assert.deepEqual(await ask(`select count(*), sum(cases) from read_parquet('${link}')`), [
      [String(records.length), String(sum)],
    ])
  })

  test('with a token as a secret it reads any address of the service, and none without', async () => {
    const address = `${service.baseUrl}${HOME}/sums?${MEASLES}&format=csv`
    await assert.rejects(ask(`from read_csv('${address}')`), /HTTP/)
    await ask(`create secret outbreaks (type http, bearer_token '${token}', scope '${service.baseUrl}')`)
    const [[cases] = []] = await readRows({ address: `/sums?${MEASLES}`, columns: ['cases'] })
    assert.deepEqual(await ask(`select cases from read_csv('${address}')`), [[String(cases)]])
    await ask('drop secret outbreaks')
    await assert.rejects(ask(`from read_csv('${address}')`), /HTTP/)
  })
})
