// Goal 8: the same thousand records from PostGraphile, which gets the first page every time and asks for no token.
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { load, openConnection, writePost } from '../client.ts'
import type { Contender } from '../contenders/child.ts'
import { startPostGraphile } from '../contenders/postgraphile.ts'
import { type Findings, figure, result } from '../goal.ts'
import { ratios, takeTurns } from '../measure.ts'
import { PAGE } from '../pages.ts'
import type { Stage } from '../stage.ts'
import type { Encoding } from '../target.ts'

const CLIENTS = 4
const TYPE = 'HedOutbreakVersion'

export async function measurePostGraphile({ cold, pages, options, store }: Stage): Promise<Findings> {
  const other = await startPostGraphile(store.databaseUrl).catch((error: unknown) => String(error))
  if (typeof other === 'string') {
    const [reason = ''] = other.split('\n')
    return { results: [], figures: [], skipped: ['8a', '8b'].map((goal) => ({ goal, reason })) }
  }
  try {
    const request = await writeQuestion(other)
    const ask = (encoding: Encoding) => async () => {
      const next = () => cold.get(pages[Math.floor(Math.random() * pages.length)] ?? '', encoding)
      return (await load(cold.address, next, { connections: CLIENTS, goesOn: options.seconds })).perSecond
    }
    const measured = await takeTurns(options.rounds, {
      gzip: ask('gzip'),
      identity: ask('identity'),
      postgraphile: async () =>
        (await load(other.address, () => request, { connections: CLIENTS, goesOn: options.seconds * 2 })).perSecond,
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
      figures: [figure(`PostGraphile ${other.version}`, 'pages/s', measured.postgraphile)],
      skipped: [],
    }
  } finally {
    await other.stop()
  }
}

/** Every field of a record, by the name that PostGraphile gave its column. */
async function writeQuestion(other: Contender): Promise<string> {
  const connection = openConnection(other.address, { keep: true })
  const ask = async <Data>(query: string) => {
    const body = await connection.ask(writePost('/graphql', JSON.stringify({ query })))
    return (JSON.parse(body.toString()) as { data: Data }).data
  }
  const { __type } = await ask<{ __type: { fields: { name: string }[] } }>(
    `{ __type(name: "${TYPE}") { fields { name } } }`,
  )
  const known = __type.fields.map(({ name }) => name)
  const fields = hedOutbreaks.fields.map(({ name }) => {
    const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    return name === 'id' && known.includes('rowId') ? 'rowId' : camel
  })
  const missing = fields.filter((field) => !known.includes(field))
  if (missing.length > 0) throw new Error(`PostGraphile has no ${missing.join(', ')}`)
  const question = `{ all${TYPE}s(first: ${PAGE}) { nodes { ${fields.join(' ')} } } }`
  const answer = await ask<Record<string, { nodes: unknown[] }>>(question)
  connection.close()
  if (answer[`all${TYPE}s`]?.nodes.length !== PAGE) throw new Error('PostGraphile does not give the page')
  return writePost('/graphql', JSON.stringify({ query: question }))
}
