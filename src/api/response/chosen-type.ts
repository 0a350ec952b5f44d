// The media type of a response: by `format` in the address, for spreadsheets and browsers, or by Accept.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { chooseMediaType } from '../../platform/http/media-type.ts'

/** The name of each media type in an address. */
const FORMAT_NAMES = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/geo+json': 'geojson',
  'application/vnd.apache.parquet': 'parquet',
  'application/vnd.apache.arrow.stream': 'arrow',
} as const
type MediaType = keyof typeof FORMAT_NAMES
export const LINE_TYPES = ['application/x-ndjson'] as const

/** The parameter `format` of a resource that has these types besides JSON. */
export const formatParameter = (available: readonly MediaType[]) =>
  Type.Optional(
    Type.Enum(['json', ...available.map((type) => FORMAT_NAMES[type])], {
      description:
        'The format of the response. It comes before `Accept`, and is for programs that cannot send headers.',
    }),
  )

/** Null is JSON. */
export function chooseType<Available extends MediaType>(
  request: FastifyRequest,
  available: readonly Available[],
): Available | null {
  const { format } = request.query as { format?: string }
  if (format === undefined) return chooseMediaType(request.headers.accept, available)
  return available.find((type) => FORMAT_NAMES[type] === format) ?? null
}
