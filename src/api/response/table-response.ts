// CSV as another format of a small response.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { chooseType } from './chosen-type.ts'

export const TABLE_TYPES = ['text/csv'] as const

/** The request headers that select the format and the encoding of a response. */
export const FORMAT_VARY = 'accept, accept-encoding'

/** The parameter `columns` of a resource that has a table. */
export const columnsParameter = Type.Optional(
  Type.String({
    pattern: '^\\w+(,\\w+)*$',
    maxLength: 2000,
    description:
      'Only for CSV: the names of the columns, separated by commas, in the order that the table has them, such as `period,new_cases,flags`.',
  }),
)

export function wantsTable(request: FastifyRequest): boolean {
  const isTable = chooseType(request, TABLE_TYPES) !== null
  if (isTable || chosenColumns(request) === undefined) return isTable
  throw new Problem('invalid_parameter', 'columns chooses the columns of a table. Add format=csv.', {
    parameter: 'columns',
  })
}

/** The columns that were asked for, in their order; undefined without a choice. */
function chosenColumns({ query }: FastifyRequest): string[] | undefined {
  const names = (query as { columns?: string }).columns?.split(',')
  return names === undefined ? undefined : [...new Set(names)]
}

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
  return { isTable, columns: chosenColumns(request), format: { vary: FORMAT_VARY, ...(isTable && { file }) } }
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
    `${parameter} works with JSON only. A ${mediaType} response always contains everything. Remove ${parameter}.`,
    { parameter },
  )
}
