// The watches of a client: create, list, show, change, delete, read what they said, and preview what one would have said.
import type { FastifyRequest } from 'fastify'
import { extendAddress } from '../../api/feeds/feed-question.ts'
import type { FeedRoutes } from '../../api/feeds/read-entries.ts'
import { parseFigureRequest } from '../../api/figures/figure-request.ts'
import { validateFilters } from '../../api/requests/prepare-query.ts'
import { understandQuery } from '../../api/requests/understand-query.ts'
import { runWithTimeout } from '../../platform/cancellation.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { compileBody } from '../../platform/http/json-body.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import type { Judge } from './judge-release.ts'
import { nameWatch, type Watched } from './parse-watch.ts'
import {
  addWatch,
  changeWatch,
  deleteWatch,
  listWatches,
  type Owner,
  readNotices,
  readWatch,
  type WatchRow,
} from './store-watches.ts'
import { changeSchema, describeRoutes, newWatchSchema, PREVIEWED, previewSchema } from './watch-schemas.ts'

interface WatchRoutes {
  readonly routes: FeedRoutes
  readonly database: Database
  readonly judge: Judge
}

const PREVIEW_MS = 10_000
/** All of them. */
const config = { isPersonal: true }

export function registerWatchRoutes(app: HttpServer, { routes, database, judge }: WatchRoutes): void {
  const { dataset, releases, checkValues } = routes
  const home = `/v2/${dataset.name}/watches`
  const schemas = describeRoutes(dataset)
  const parseNew = compileBody(newWatchSchema(dataset))
  const parsePreview = compileBody(previewSchema(dataset))
  const parseChange = compileBody(changeSchema)
  const ownerOf = ({ clientId }: FastifyRequest): Owner => {
    if (clientId === null) throw new Error('watches must be registered inside a guarded scope')
    return { clientId, dataset: dataset.name }
  }

  /** The question as the latest release understands it: a value that no record has is a warning, a wrong one a Problem. */
  async function check({ question }: Watched) {
    const latest = await releases.resolveParameter('release', undefined)
    const { query } = await understandQuery(routes, question.query)
    const { filters } = parseFigureRequest(dataset, query)
    validateFilters(dataset, releases.list(), latest, filters)
    return { latest, warnings: await checkValues([latest], filters) }
  }

  /** Null for all releases, and for a query that an upgrade has made invalid: then the watch says why it ended. */
  const writeAbout = ({ question, condition }: WatchRow): string | null => {
    try {
      return judge.parse(question, condition).question.title
    } catch (error) {
      if (error instanceof Problem) return null
      throw error
    }
  }

  const toBody = (row: WatchRow) => ({
    id: row.id,
    name: row.name,
    question: row.question,
    when: row.condition,
    endpoint: row.endpoint,
    state: row.state,
    ended_because: row.reason,
    judged: row.judged,
    created_at: row.created_at.toISOString(),
    about: writeAbout(row),
    links: {
      self: `${routes.baseUrl}${home}/${row.id}`,
      notices: `${routes.baseUrl}${home}/${row.id}/notices`,
      figures: extendAddress(`${routes.baseUrl}/v2/${dataset.name}/sums`, row.question),
    },
  })

  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })

  app.get(home, { config, schema: schemas.list }, async (request) => ({
    data: (await listWatches(database, ownerOf(request))).map(toBody),
  }))

  app.post(home, { config, schema: schemas.create }, async (request, reply) => {
    const { question, when, name, endpoint = null } = parseNew(request.body)
    const watched = judge.parse(question, when)
    const { latest, warnings } = await check(watched)
    const row = await addWatch(database, ownerOf(request), {
      name: name ?? nameWatch(dataset, watched),
      question: watched.question.canonical,
      condition: when,
      endpoint,
      after: latest.number,
    })
    const body = toBody(row)
    return reply
      .code(201)
      .header('location', body.links.self)
      .send({ ...body, warnings })
  })

  app.post(`${home}/preview`, { config, schema: schemas.preview }, async (request) => {
    const { question, when, releases: count = PREVIEWED } = parsePreview(request.body)
    const watched = judge.parse(question, when)
    const { latest, warnings } = await check(watched)
    const pairs = judge.pairsAfter(Math.max(0, latest.number - count))
    const data = await runWithTimeout(
      PREVIEW_MS,
      async () => {
        const said = []
        for (const pair of pairs) {
          const { notice } = await judge.judge(watched, pair)
          if (notice !== null) said.push({ time: pair.release.publishedAt.toISOString(), ...notice })
        }
        return said
      },
      'The preview took too long. What was read is kept: send the same request again.',
    )
    return { data, judged: pairs.map(({ release }) => release.number), warnings }
  })

  app.get<{ Params: { id: string } }>(`${home}/:id`, { config, schema: schemas.read }, async (request) =>
    toBody(await readWatch(database, ownerOf(request), request.params.id)),
  )

  app.patch<{ Params: { id: string } }>(`${home}/:id`, { config, schema: schemas.change }, async (request) => {
    const change = parseChange(request.body)
    const latest = await releases.resolveParameter('release', undefined)
    const { id } = request.params
    return toBody(await changeWatch(database, ownerOf(request), { id, change, latest: latest.number }))
  })

  app.delete<{ Params: { id: string } }>(`${home}/:id`, { config, schema: schemas.remove }, async (request, reply) => {
    await deleteWatch(database, ownerOf(request), request.params.id)
    return reply.code(204).send()
  })

  app.get<{ Params: { id: string }; Querystring: { after?: number } }>(
    `${home}/:id/notices`,
    { config, schema: schemas.notices },
    async (request) => {
      const { after = 0 } = request.query
      const { notices, hasMore } = await readNotices(database, ownerOf(request), { id: request.params.id, after })
      return {
        data: notices.map(({ body }) => body),
        has_more: hasMore,
        next_after: notices.at(-1)?.release ?? after,
      }
    },
  )
}
