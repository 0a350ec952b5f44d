// CSV as another format of a small response.
import type { FastifyRequest } from 'fastify'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { chooseType } from './chosen-type.ts'

export const TABLE_TYPES = ['text/csv'] as const

/** The request headers that select the format and the encoding of a response. */
export const FORMAT_VARY = 'accept, accept-encoding'

export const wantsTable = (request: FastifyRequest): boolean => chooseType(request, TABLE_TYPES) !== null

/** For the response of a resource that also has a table. */
export function chooseFormat(
  request: FastifyRequest,
  datasetName: string,
  { number }: PublishedRelease,
  resource: string,
) {
  const isTable = wantsTable(request)
  const file = {
    contentType: 'text/csv; charset=utf-8; header=present',
    name: `${datasetName}-${number}-${resource}.csv`,
  }
  return { isTable, format: { vary: FORMAT_VARY, ...(isTable && { file }) } }
}

/** A file has everything in one response: a page of CSV would look complete. */
export function rejectPaging(
  query: Readonly<Record<string, unknown>>,
  mediaType: string,
  parameters: readonly string[] = ['page', 'num', 'sort'],
): void {
  const parameter = parameters.find((name) => query[name] !== undefined)
  if (parameter === undefined) return
  throw new Problem(
    'invalid_parameter',
    `${parameter} applies to JSON only. A response of type ${mediaType} is complete.`,
    { parameter },
  )
}
