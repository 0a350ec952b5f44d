// The bodies of watches and what they answer, for the routes and for the OpenAPI document.
import { type TSchema, Type } from 'typebox'
import { warningsSchema } from '../../api/requests/understand-query.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { rateLimitHeaders } from '../../platform/http/rate-limit.ts'
import { problemResponse } from '../../platform/problem.ts'
import { CHANGE_REASONS, CHANGES } from '../../storage/change-reasons.ts'
import { conditionPattern, EVENT_TYPES, FIGURE_STATES } from './condition.ts'
import { MAX_WATCHES } from './store-watches.ts'

/** The releases of a preview. */
export const PREVIEWED = 10
const INT4_MAX = 2 ** 31 - 1
const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'

const questionSchema = Type.String({
  maxLength: 4000,
  description:
    'A question of `/sums` without groups, as it stands behind the question mark: `country_code=GN&disease=ebola&counts=cases`. Empty for all releases.',
})
const whenSchema = (dataset: SeriesDataset) => {
  const [count] = dataset.series.counts
  return Type.String({
    pattern: conditionPattern(dataset),
    maxLength: 60,
    description: `\`changes\`: a release touched the question. \`changes:${count}:10\`: the figure moved by 10 or more. \`crosses:${count}:1000\`: it rose to 1000 or fell below. \`appears\`: an event matches that did not. \`corrects\`: matching records were corrected or withdrawn.`,
  })
}
const nameSchema = Type.String({ minLength: 1, maxLength: 200, description: 'For people, at most 200 characters.' })
const endpointSchema = Type.Union([Type.String({ pattern: UUID }), Type.Null()], {
  description: 'The endpoint to which notices are delivered. Without one they are only kept, and read by polling.',
})

const exampleOf = ({ example, series }: SeriesDataset) => {
  const { event } = { ...example }
  const parameters = { ...(typeof event === 'string' ? { event } : {}), counts: series.counts[0] ?? '' }
  return { question: new URLSearchParams(parameters).toString(), when: `crosses:${series.counts[0]}:100` }
}

export const newWatchSchema = (dataset: SeriesDataset) =>
  Type.Object(
    {
      question: questionSchema,
      when: whenSchema(dataset),
      name: Type.Optional(nameSchema),
      endpoint: Type.Optional(endpointSchema),
    },
    { examples: [exampleOf(dataset)] },
  )

export const previewSchema = (dataset: SeriesDataset) =>
  Type.Object(
    {
      question: questionSchema,
      when: whenSchema(dataset),
      releases: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: PREVIEWED,
          default: PREVIEWED,
          description: `How many of the latest releases are judged, from 1 to ${PREVIEWED}.`,
        }),
      ),
    },
    { examples: [exampleOf(dataset)] },
  )

export const changeSchema = Type.Object(
  {
    name: Type.Optional(nameSchema),
    endpoint: Type.Optional(endpointSchema),
    state: Type.Optional(
      Type.Enum(['active', 'paused'], {
        description: '`paused` or `active`. A resumed watch begins with the next release.',
      }),
    ),
  },
  { examples: [{ state: 'paused' }] },
)

const orNull = (schema: TSchema, description: string) => Type.Union([schema, Type.Null()], { description })
const uri = Type.String({ format: 'uri' })

const watchSchema = (dataset: SeriesDataset) =>
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    question: Type.String({ description: 'In the one form that each question has.' }),
    when: whenSchema(dataset),
    endpoint: endpointSchema,
    state: Type.Enum(['active', 'paused', 'ended']),
    ended_because: orNull(Type.String(), 'Why it ended. An ended watch never says anything again.'),
    judged: Type.Integer({ minimum: 0, description: 'The last release that was judged.' }),
    created_at: Type.String({ format: 'date-time' }),
    about: orNull(Type.String(), 'The question in words; null for all releases.'),
    links: Type.Object({ self: uri, notices: uri, figures: uri }),
  })

const counts = (description: string) =>
  orNull(Type.Object({}, { additionalProperties: orNull(Type.Integer(), '') }), description)
const stateSchema = Type.Enum([...FIGURE_STATES])

const noticeData = Type.Object(
  {
    watch: Type.Optional(Type.String({ format: 'uuid', description: 'Absent in a preview.' })),
    name: Type.Optional(Type.String()),
    release: Type.Integer(),
    previous: orNull(Type.Integer(), 'The release before.'),
    as_of: Type.String({ format: 'date' }),
    restores: orNull(Type.Integer(), 'The earlier release that a rollback restored.'),
    question: Type.String(),
    when: Type.String(),
    title: Type.String({ description: 'One sentence.' }),
    text: Type.String({ description: 'A few lines, with the citation.' }),
    before: counts(
      'The figures before; null if there was no single answer. A count that is not known is null, never 0.',
    ),
    after: counts('The figures after.'),
    refused_before: orNull(Type.String(), 'Why there was no single answer.'),
    refused_after: orNull(Type.String(), 'Why there is none.'),
    counted_another_way: Type.Boolean({ description: 'True if the figures must not be compared.' }),
    changes: Type.Array(
      Type.Object({
        kind: Type.Enum([...CHANGES]),
        reason: Type.Enum([...CHANGE_REASONS]),
        records: Type.Integer({ minimum: 1 }),
      }),
      { description: 'The matching records that the release changed.' },
    ),
    cause: orNull(
      Type.Enum(['new_reports', 'correction', 'reports_and_corrections', 'rollback', 'counted_another_way']),
      'What moved the figure.',
    ),
    became: Type.Array(Type.Object({ count: Type.String(), from: stateSchema, to: stateSchema }), {
      description: 'The counts that became a number, or stopped being one.',
    }),
    events: Type.Array(Type.String(), { description: 'For `appears`: the new events, at most 20.' }),
    more_events: Type.Integer({ minimum: 0 }),
    reason: orNull(Type.Enum(['pruned']), '`pruned` if the releases can no longer be compared.'),
    citation: orNull(Type.String(), 'How to cite the figures after.'),
    links: Type.Object({
      page: orNull(Type.String(), 'For people.'),
      changes: orNull(Type.String(), 'The changed records.'),
      figures: Type.String(),
    }),
  },
  { description: 'What the release did to the question.' },
)

const eventSchema = Type.Object({
  specversion: Type.String(),
  id: Type.String({ format: 'uuid', description: 'The same however often the notice is sent.' }),
  source: uri,
  type: Type.Enum([...EVENT_TYPES]),
  time: Type.String({ format: 'date-time', description: 'When the release was published.' }),
  datacontenttype: Type.String(),
  data: noticeData,
})

const answer = (schema: TSchema, description: string) => ({ ...schema, description, headers: rateLimitHeaders })
const errors = {
  400: problemResponse('The body, the question or a parameter is not valid.'),
  401: problemResponse('There is no valid access token.'),
  403: problemResponse('The token does not permit this request.'),
  404: problemResponse('You have no such watch, or this service has no watches.'),
  429: problemResponse('The client has used up its quota. `Retry-After` says when to try again.'),
  503: problemResponse('The service is temporarily unavailable, or no release has been published yet.'),
}
const tooLarge = { 413: problemResponse('The body is longer than 8 KiB.') }
const limit = { 409: problemResponse(`The client has ${MAX_WATCHES} watches, or the watch has ended.`) }
const noQuery = { querystring: Type.Object({}) }
const one = { params: Type.Object({ id: Type.String({ format: 'uuid', description: 'The id of the watch.' }) }) }
const tags = ['Watches']

export const describeRoutes = (dataset: SeriesDataset) => ({
  list: {
    tags,
    operationId: 'listWatches',
    summary: 'List your watches',
    description: 'The watches of the client of the token, the oldest first.',
    ...noQuery,
    response: { 200: answer(Type.Object({ data: Type.Array(watchSchema(dataset)) }), 'The watches.'), ...errors },
  },
  create: {
    tags,
    operationId: 'createWatch',
    summary: 'Watch a question',
    description: `The watch judges each later release, and says at most one thing about it. A client has at most ${MAX_WATCHES} watches. The watch ends with its client.`,
    ...noQuery,
    body: newWatchSchema(dataset),
    response: {
      201: answer(Type.Intersect([watchSchema(dataset), Type.Object({ warnings: warningsSchema })]), 'The watch.'),
      ...errors,
      ...tooLarge,
      ...limit,
    },
  },
  preview: {
    tags,
    operationId: 'previewWatch',
    summary: 'See what a watch would have said',
    description:
      'Judges the latest releases exactly as a watch does. Nothing is created. Releases never change, so this is what the watch would have said; a release that was pruned, and the one after it, cannot be compared any more.',
    ...noQuery,
    body: previewSchema(dataset),
    response: {
      200: answer(
        Type.Object({
          data: Type.Array(
            Type.Object({
              time: Type.String({ format: 'date-time' }),
              type: Type.Enum([...EVENT_TYPES]),
              data: noticeData,
            }),
            { description: 'The notices, in the order of the releases.' },
          ),
          judged: Type.Array(Type.Integer(), { description: 'The releases that were judged.' }),
          warnings: warningsSchema,
        }),
        'What the watch would have said.',
      ),
      ...errors,
      ...tooLarge,
    },
  },
  read: {
    tags,
    operationId: 'getWatch',
    summary: 'Show a watch',
    description: 'A watch of another client does not exist for you.',
    ...noQuery,
    ...one,
    response: { 200: answer(watchSchema(dataset), 'The watch.'), ...errors },
  },
  change: {
    tags,
    operationId: 'changeWatch',
    summary: 'Pause, resume or rename a watch',
    description:
      'Members that are left out stay as they are. The question of a watch cannot change: create another one.',
    ...noQuery,
    ...one,
    body: changeSchema,
    response: { 200: answer(watchSchema(dataset), 'The watch.'), ...errors, ...tooLarge, ...limit },
  },
  remove: {
    tags,
    operationId: 'deleteWatch',
    summary: 'Delete a watch',
    description: 'Its notices can no longer be read.',
    ...noQuery,
    ...one,
    response: { 204: { description: 'The watch is deleted.', type: 'null' }, ...errors },
  },
  notices: {
    tags,
    operationId: 'listWatchNotices',
    summary: 'Read what a watch said',
    description:
      'The notices of the watch about releases after `after`, in their order, as they were delivered. They are kept for 30 days.',
    querystring: Type.Object({
      after: Type.Optional(
        Type.Integer({ minimum: 0, maximum: INT4_MAX, default: 0, description: 'The last release that you know.' }),
      ),
    }),
    ...one,
    response: {
      200: answer(
        Type.Object({
          data: Type.Array(eventSchema, { description: 'CloudEvents, as they were delivered.' }),
          has_more: Type.Boolean(),
          next_after: Type.Integer({ description: 'The value of `after` for the next request.' }),
        }),
        'The notices.',
      ),
      ...errors,
    },
  },
})
