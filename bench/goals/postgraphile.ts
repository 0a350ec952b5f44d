// Goal 8: compared with PostGraphile for a thousand records. PostGraphile reads the first page every time and requires no
// token.
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { formatPost, load, openConnection } from '../client.ts'
import type { Contender } from '../contenders/child.ts'
import { startPostGraphile } from '../contenders/postgraphile.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import { PAGE_SIZE } from '../pages.ts'
import type { Stage } from '../stage.ts'
import type { Encoding } from '../target.ts'

const CLIENTS = 4
const TYPE = 'HedOutbreakVersion'

export async function measurePostGraphile({ cold, pages, options, store }: Stage): Promise<Measurements> {
  const contender = await startPostGraphile(store.databaseUrl).catch((error: unknown) => String(error))
  if (typeof contender === 'string') {
    const [reason = ''] = contender.split('\n')
    return { results: [], figures: [], skipped: ['8a', '8b'].map((goal) => ({ goal, reason })) }
  }
  try {
    const request = await createRequest(contender)
    const measureRate = (encoding: Encoding) => async () => {
      const next = () => cold.get(pages[Math.floor(Math.random() * pages.length)] ?? '', encoding)
      return (await load(cold.address, next, { connections: CLIENTS, duration: options.seconds })).perSecond
    }
    const measured = await measureInTurns(options.rounds, {
      gzip: measureRate('gzip'),
      identity: measureRate('identity'),
      postgraphile: async () =>
        (await load(contender.address, () => request, { connections: CLIENTS, duration: options.seconds * 2 }))
          .perSecond,
    })
    return {
      results: [
        result('8a', 'cold gzip page / PostGraphile', { atLeast: 100 }, ratios(measured.gzip, measured.postgraphile)),
        result(
          '8b',
          'cold identity page / PostGraphile',
          { atLeast: 15 },
          ratios(measured.identity, measured.postgraphile),
        ),
      ],
      figures: [figure(`PostGraphile ${contender.version}`, 'pages/s', measured.postgraphile)],
      skipped: [],
    }
  } finally {
    await contender.stop()
  }
}

/** The request for every field of a record, by the names that PostGraphile gives to columns. */
async function createRequest(contender: Contender): Promise<string> {
  const connection = openConnection(contender.address, { keepBody: true })
  const sendQuery = async <Data>(query: string) => {
    const body = await connection.send(formatPost('/graphql', JSON.stringify({ query })))
    return (JSON.parse(body.toString()) as { data: Data }).data
  }
  const { __type } = await sendQuery<{ __type: { fields: { name: string }[] } }>(
    `{ __type(name: "${TYPE}") { fields { name } } }`,
  )
  const known = __type.fields.map(({ name }) => name)
  const fields = hedOutbreaks.fields.map(({ name }) => {
    const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    return name === 'id' && known.includes('rowId') ? 'rowId' : camel
  })
  const missing = fields.filter((field) => !known.includes(field))
  if (missing.length > 0) throw new Error(`PostGraphile has no ${missing.join(', ')}`)
  const query = `{ all${TYPE}s(first: ${PAGE_SIZE}) { nodes { ${fields.join(' ')} } } }`
  const response = await sendQuery<Record<string, { nodes: unknown[] }>>(query)
  connection.close()
  if (response[`all${TYPE}s`]?.nodes.length !== PAGE_SIZE) throw new Error('PostGraphile did not return a full page')
  return formatPost('/graphql', JSON.stringify({ query: query }))
}
