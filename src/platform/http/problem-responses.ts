// Sends every error as problem+json (RFC 9457): as the response to a request, or on a connection that sent no complete request.
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { countProblem } from '../metrics/response-metrics.ts'
import { Problem, type ProblemCode, problems, problemType } from '../problem.ts'
import { normaliseAddress } from './response-log.ts'

export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply, baseUrl: string): void {
  request.problem = problem.code
  // A second line for each request that a busy node or one without its index sends away would add to the load, and nothing else.
  if (problem.status === 500 || (problem.status > 500 && problem.cause !== undefined))
    request.log.error({ request_id: request.id, code: problem.code, err: problem.cause ?? problem }, problem.message)
  void reply
    .code(problem.status)
    .headers({ 'cache-control': 'no-store', ...problem.headers })
    .type('application/problem+json')
    // Even where a response has a schema by media type, which fastify would look up.
    .serializer(JSON.stringify)
    .send(problem.toBody(baseUrl, request.id))
}

interface SocketProblems {
  baseUrl: string
  log: FastifyBaseLogger
  /** The headers of each response, for a request id. */
  defaultHeaders: (id: string) => Record<string, string>
}

/** For input that is not a complete request: broken framing, headers that are too large or too slow, a tunnel. */
export function createSocketProblems({ baseUrl, log, defaultHeaders }: SocketProblems) {
  return (socket: Socket, code: ProblemCode, reason: string | undefined): void => {
    const problem = new Problem(code, problems[code][1])
    const id = randomUUID()
    const body = JSON.stringify(problem.toBody(baseUrl, id))
    const headers = {
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      connection: 'close',
      ...defaultHeaders(id),
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    // What it sent is not a request, so there are no headers of a proxy.
    const address = normaliseAddress(socket.remoteAddress)
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
    countProblem(code)
    log.info({ request_id: id, status: problem.status, address, problem: code, reason })
  }
}

/** What the `type` of a problem links to. */
export function registerProblemPages(app: FastifyInstance, baseUrl: string): void {
  app.get('/problems/:code', { schema: { hide: true } }, async (request) => {
    const { code } = request.params as { code: string }
    if (!Object.hasOwn(problems, code)) throw new Problem('not_found', 'No error has this code.')
    const [status, title] = problems[code as ProblemCode]
    return { type: problemType(baseUrl, code as ProblemCode), code, status, title }
  })
}
