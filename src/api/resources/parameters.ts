// The parameters of the data endpoints, declared once for parsing, documentation and types.
import { Type } from 'typebox'
import type { Dataset } from '../../datasets/define.ts'
import { INTERVALS } from '../../methods/calendar.ts'
import { filterParameters } from '../filters/filters.ts'
import { REFERENCE_PATTERN } from '../paging/release-reference.ts'
import { CITATION_FORMATS } from './citation-formats.ts'

export const DEFAULT_NUM = 100

const num = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: DEFAULT_NUM,
    description: 'Maximum number of records to return.',
  }),
)
const reference = (description: string) => Type.String({ pattern: REFERENCE_PATTERN, description })
const REFERENCE_FORMS =
  'its number, a date (YYYY-MM-DD, UTC) for the newest published by the end of that day, or `latest` for the newest'
const release = Type.Optional(reference(`The release to read: ${REFERENCE_FORMS}. Default: the newest.`))
const tokenRelease = Type.Optional(
  reference(`The release to read: ${REFERENCE_FORMS}. Default: the release of the access token.`),
)
const offset = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'Zero-based index of the first record to return.',
  }),
)
const page = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Opaque cursor: `next_page` of the previous response. Omit it for the first page.',
  }),
)

const fields = Type.Optional(
  Type.String({
    minLength: 1,
    description: 'Names of fields, separated by commas: the records have only these fields. Default: all.',
  }),
)
const count = Type.Optional(
  Type.Enum(['exact'], { description: 'Returns the number of matching records in the header `Outbreaks-Count`.' }),
)
const strict = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Rejects a query that mixes levels of place, statuses, kinds of count, or composite and raw series.',
  }),
)

const recordsParameters = (dataset: Dataset) => ({ num, release, fields, count, strict, ...filterParameters(dataset) })

export const releaseQuery = Type.Object({ release })
export const offsetQuery = (dataset: Dataset) =>
  Type.Object({ offset, ...recordsParameters(dataset), release: tokenRelease })
export const cursorQuery = (dataset: Dataset) => Type.Object({ page, ...recordsParameters(dataset) })
export const eventsQuery = Type.Object({ page, num, release })
export const facetsQuery = (dataset: Dataset) =>
  Type.Object({
    num: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: DEFAULT_NUM,
        description: 'Maximum number of values per field.',
      }),
    ),
    release,
    ...filterParameters(dataset),
  })
export const seriesQuery = (dataset: Dataset) =>
  Type.Object({
    interval: Type.Enum([...INTERVALS], {
      description: 'The length of the periods: days, ISO weeks, epidemiological weeks (MMWR) or months.',
    }),
    mixed: Type.Optional(
      Type.Enum(['refuse', 'warn'], {
        default: 'refuse',
        description:
          'Whether a query whose records differ in level of place, status, kind of count, host, kind of date, stratum or composite is rejected, or gets a response with a warning.',
      }),
    ),
    release,
    ...filterParameters(dataset),
  })
export const citationQuery = (dataset: Dataset) =>
  Type.Object({
    format: Type.Optional(
      Type.Enum([...CITATION_FORMATS], {
        default: 'json',
        description: 'All formats in one JSON object, or one format as a file.',
      }),
    ),
    release,
    ...filterParameters(dataset),
  })
export const listQuery = Type.Object({ page, num })
export const emptyQuery = Type.Object({})
export const changesQuery = Type.Object({
  from: reference(`The earlier release: ${REFERENCE_FORMS}.`),
  to: Type.Optional(reference(`The later release: ${REFERENCE_FORMS}. Default: the newest.`)),
  page,
  num,
})
