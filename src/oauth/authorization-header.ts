// The Authorization header as it came: Node hides a second one, and a request with two must be refused.
import type { FastifyRequest } from 'fastify'

export const authorizationHeaders = ({ raw }: FastifyRequest): string[] =>
  raw.rawHeaders.filter((_value, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === 'authorization')
