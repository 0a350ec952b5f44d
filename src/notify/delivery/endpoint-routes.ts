// The routes of endpoints, below /v2/{dataset}/endpoints: where a client receives notices, and what was delivered.

import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { AddressRefused, assertAllowedUrl, isTrusted } from '../../platform/egress/checked-connection.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { compileBody } from '../../platform/http/json-body.ts'
import { Problem, problemResponse } from '../../platform/problem.ts'
import { type Confirmation, confirmEndpoint, noMail } from './confirm.ts'
import { addTest, listDeliveries, PAGE_SIZE, redeliver } from './delivery-log.ts'
import {
  createEndpoint,
  deleteEndpoint,
  findEndpoint,
  listEndpoints,
  MAX_ENDPOINTS,
  type Owner,
  rotateSecret,
  setDigest,
} from './endpoints.ts'

export type EndpointDeps = Confirmation

const MAX_URL_LENGTH = 2000
/** One recipient, without a name, a quoted part or a comment. */
const MAIL_ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/i

const digestMember = Type.Optional(
  Type.Union([Type.Enum(['daily', 'weekly']), Type.Null()], {
    description:
      'Gathers notices into one delivery, at 06:00 UTC each day, or each Monday. null delivers each one when it is written.',
  }),
)
const newEndpoint = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_URL_LENGTH,
        description: 'Where to POST notices: a public https URL on port 443, or one whose origin the operator trusts.',
      }),
    ),
    mail: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: 254,
        description: 'A mail address, such as you@example.org, instead of a url.',
      }),
    ),
    digest: digestMember,
  },
  { examples: [{ url: 'https://example.org/outbreaks' }] },
)
const changedEndpoint = Type.Object({ digest: digestMember }, { examples: [{ digest: 'weekly' }] })

const readNew = compileBody(newEndpoint)
const readChanged = compileBody(changedEndpoint)

const idParameter = Type.String({ format: 'uuid', description: 'The id of the endpoint.' })
const endpointSchema = {
  id: Type.String({ format: 'uuid' }),
  kind: Type.Enum(['webhook', 'mail']),
  address: Type.String({ description: 'The URL, or the mail address.' }),
  state: Type.Enum(['unconfirmed', 'active', 'disabled'], { description: 'Only an active endpoint receives notices.' }),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it is disabled.' }),
  digest: Type.Union([Type.Enum(['daily', 'weekly']), Type.Null()]),
  failing_since: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'The first failed attempt after the last successful one. After five days the endpoint is disabled.',
  }),
  created_at: Type.String({ format: 'date-time' }),
}
const oneEndpoint = Type.Object(endpointSchema, { description: 'The endpoint.' })
const deliverySchema = Type.Object({
  id: Type.String({ format: 'uuid', description: 'The `webhook-id` of every attempt.' }),
  type: Type.String(),
  release: Type.Union([Type.Integer(), Type.Null()]),
  watch: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
  state: Type.Enum(['pending', 'delivered', 'failed', 'digest'], {
    description: '`digest` waits for a digest, or is part of one.',
  }),
  gathered_in: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], { description: 'The digest that has it.' }),
  created_at: Type.String({ format: 'date-time' }),
  next_attempt_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  attempts: Type.Array(
    Type.Object({
      at: Type.String({ format: 'date-time' }),
      status: Type.Union([Type.Integer(), Type.Null()], { description: 'The status of the response.' }),
      error: Type.Union([Type.String(), Type.Null()], { description: 'Why there was no response.' }),
      milliseconds: Type.Integer(),
    }),
  ),
})
const done = Type.Null({ description: 'Done. The response has no body.' })

/** `deps` is null on a process that does not run the handlers. */
export function registerEndpointRoutes(guarded: HttpServer, datasetName: string, deps: EndpointDeps | null): void {
  const home = `/v2/${datasetName}/endpoints`
  const use = (): EndpointDeps => {
    if (deps === null) throw new Problem('unavailable', 'Endpoints are served by the notifier.')
    return deps
  }
  const ownerOf = ({ caller }: FastifyRequest): Owner => {
    if (caller === null) throw new Error('endpoints must be registered inside a guarded scope')
    return { clientId: caller.clientId, dataset: datasetName }
  }
  type One = { Params: { id: string } }

  guarded.get(
    home,
    {
      config: { isPersonal: true },
      schema: describe('listEndpoints', 'List endpoints', { 200: listOf(oneEndpoint, 'endpoints') }),
    },
    async (request) => ({
      endpoints: await listEndpoints(use().database, ownerOf(request)),
    }),
  )

  guarded.post(
    home,
    {
      schema: {
        ...describe(
          'createEndpoint',
          'Create an endpoint',
          {
            201: Type.Object(
              {
                ...endpointSchema,
                secret: Type.Union([Type.String(), Type.Null()], {
                  description: 'Verifies signatures. Shown this once.',
                }),
              },
              { description: 'The endpoint.' },
            ),
            409: problemResponse(`The client has ${MAX_ENDPOINTS} endpoints, or this service sends no mail.`),
          },
          'Give a `url` or a `mail`. Store the secret, then confirm the endpoint. A mail address gets a link to confirm.',
        ),
        body: newEndpoint,
      },
    },
    async (request, reply) => {
      const current = use()
      const { url, mail, digest = mail === undefined ? null : 'daily' } = readNew(request.body)
      if ((url === undefined) === (mail === undefined))
        throw new Problem('invalid_parameter', 'Give a url, or a mail address, and not both.', { parameter: 'url' })
      const owner = ownerOf(request)
      reply.header('cache-control', 'no-store').code(201)
      if (url !== undefined) {
        const { address, state } = checkUrl(url, current)
        return createEndpoint(current.database, owner, { kind: 'webhook', address, digest, state }, current.sealingKeys)
      }
      if (current.mailer === null) throw noMail()
      if (!MAIL_ADDRESS.test(mail ?? ''))
        throw new Problem('invalid_parameter', 'mail must be one address, such as you@example.org.', {
          parameter: 'mail',
        })
      const created = await createEndpoint(
        current.database,
        owner,
        { kind: 'mail', address: mail ?? '', digest, state: 'unconfirmed' },
        current.sealingKeys,
      )
      await confirmEndpoint(current, owner, created.id)
      return created
    },
  )

  const one = `${home}/:id`
  guarded.get<One>(
    one,
    { config: { isPersonal: true }, schema: describeOne('readEndpoint', 'Read an endpoint', { 200: oneEndpoint }) },
    (request) => findEndpoint(use().database, ownerOf(request), request.params.id),
  )

  guarded.patch<One>(
    one,
    {
      schema: {
        ...describeOne('changeEndpoint', "Change an endpoint's digest", { 200: oneEndpoint }),
        body: changedEndpoint,
      },
    },
    (request) => {
      const { digest } = readChanged(request.body)
      if (digest === undefined) throw new Problem('invalid_parameter', 'digest is required.', { parameter: 'digest' })
      return setDigest(use().database, ownerOf(request), request.params.id, digest)
    },
  )

  guarded.delete<One>(
    one,
    { schema: describeOne('deleteEndpoint', 'Delete an endpoint', { 204: done }) },
    async (request, reply) => {
      await deleteEndpoint(use().database, ownerOf(request), request.params.id)
      return reply.code(204).send()
    },
  )

  guarded.post<One>(
    `${one}/confirm`,
    {
      schema: describeOne(
        'confirmEndpoint',
        'Confirm an endpoint',
        {
          200: oneEndpoint,
          409: problemResponse('The receiver did not echo the challenge; `detail` says what it did.'),
        },
        'A webhook gets a POST with `data.challenge` and must respond with `{"challenge": …}`, the same value. A mail address gets its mail again. A disabled endpoint becomes active again.',
      ),
    },
    async (request) => {
      const owner = ownerOf(request)
      await confirmEndpoint(use(), owner, request.params.id)
      return findEndpoint(use().database, owner, request.params.id)
    },
  )

  guarded.post<One>(
    `${one}/rotate`,
    {
      schema: describeOne('rotateEndpointSecret', 'Give a webhook a new secret', {
        200: Type.Object(
          {
            secret: Type.String({ description: 'The new secret. Shown this once.' }),
            previous_until: Type.String({ format: 'date-time', description: 'Until then both secrets sign.' }),
          },
          { description: 'The new secret.' },
        ),
      }),
    },
    (request, reply) => {
      reply.header('cache-control', 'no-store')
      return rotateSecret(use().database, ownerOf(request), request.params.id, use().sealingKeys)
    },
  )

  const accepted = Type.Object(
    { id: Type.String({ format: 'uuid' }) },
    { description: 'The delivery begins within a second.' },
  )
  const notActive = { 202: accepted, 409: problemResponse('The endpoint is not active.') }
  guarded.post<One>(
    `${one}/test`,
    { config: { isPersonal: true }, schema: describeOne('testEndpoint', 'Deliver a test', notActive) },
    async (request, reply) => {
      reply.code(202)
      return { id: await addTest(use().database, ownerOf(request), request.params.id, use().baseUrl) }
    },
  )

  guarded.get<One & { Querystring: { before?: string } }>(
    `${one}/deliveries`,
    {
      config: { isPersonal: true },
      schema: {
        ...describeOne(
          'listDeliveries',
          'List deliveries',
          {
            200: Type.Object(
              {
                deliveries: Type.Array(deliverySchema),
                before: Type.Union([Type.String(), Type.Null()], {
                  description: 'For the next page; null on the last one.',
                }),
              },
              { description: 'The deliveries, the latest first.' },
            ),
          },
          `What was delivered in the last 30 days, with every attempt, ${PAGE_SIZE} on a page.`,
        ),
        querystring: Type.Object({
          before: Type.Optional(Type.String({ description: 'Continues after the delivery with this id.' })),
        }),
      },
    },
    (request) => listDeliveries(use().database, ownerOf(request), request.params.id, request.query.before),
  )

  guarded.post<{ Params: { id: string; delivery: string } }>(
    `${one}/deliveries/:delivery/redeliver`,
    {
      schema: {
        ...describeOne('redeliverNotice', 'Deliver again', notActive, 'With the same id. Its retries begin again.'),
        params: Type.Object({
          id: idParameter,
          delivery: Type.String({ format: 'uuid', description: 'The id of the delivery.' }),
        }),
      },
    },
    async (request, reply) => {
      const { id, delivery } = request.params
      await redeliver(use().database, ownerOf(request), id, delivery)
      reply.code(202)
      return { id: delivery }
    },
  )
}

/** A receiver that the operator trusts needs no challenge. */
function checkUrl(text: string, { egress }: EndpointDeps): { address: string; state: 'unconfirmed' | 'active' } {
  const invalid = (detail: string) =>
    new Problem('invalid_parameter', `url cannot be used. ${detail}`, { parameter: 'url' })
  const url = URL.parse(text)
  if (url === null) throw invalid('Give an address such as https://example.org/outbreaks.')
  try {
    assertAllowedUrl(url, egress)
  } catch (error) {
    if (error instanceof AddressRefused) throw invalid(error.message)
    throw error
  }
  if (url.href.length > MAX_URL_LENGTH) throw invalid('It is too long.')
  return { address: url.href, state: isTrusted(url, egress) ? 'active' : 'unconfirmed' }
}

const listOf = (item: TSchema, name: string) =>
  Type.Object({ [name]: Type.Array(item) }, { description: 'All of them.' })

const describe = (operationId: string, summary: string, response: Record<number, object>, description = '') => ({
  tags: ['Endpoints'],
  operationId,
  summary,
  ...(description === '' ? {} : { description }),
  response: {
    ...response,
    400: problemResponse('A parameter or a member of the body is not valid.'),
    401: problemResponse('The request has no valid access token.'),
    404: problemResponse('This service has no watches.'),
    413: problemResponse('The body is longer than 8 KiB.'),
    429: problemResponse('Too many requests. `Retry-After` says when to try again.'),
    503: problemResponse('The service is temporarily unavailable.'),
  } as Record<number, object>,
})

function describeOne(operationId: string, summary: string, response: Record<number, object>, description = '') {
  const described = describe(operationId, summary, response, description)
  return {
    ...described,
    params: Type.Object({ id: idParameter }),
    response: {
      ...described.response,
      404: problemResponse('The client has no endpoint with this id, or this service has no watches.'),
    } as Record<number, object>,
  }
}
