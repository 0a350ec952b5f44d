// What can be asked: the parameters of the data endpoints, declared once for reading, documentation and types.
import { Type } from 'typebox'
import { REFERENCE_PATTERN } from './release-reference.ts'

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
const WAYS = 'its number, or a date (YYYY-MM-DD, UTC) for the newest published by the end of that day'
const release = Type.Optional(reference(`The release to read: ${WAYS}. The newest where it is left out.`))
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
    description: "Opaque cursor: the previous answer's `next_page`. Left out for the first page.",
  }),
)

export const releaseQuery = Type.Object({ release })
export const offsetQuery = Type.Object({ offset, num, release })
export const cursorQuery = Type.Object({ page, num, release })
export const listQuery = Type.Object({ page, num })
export const nothingQuery = Type.Object({})
export const changesQuery = Type.Object({
  from: reference(`The release to compare with: ${WAYS}.`),
  to: Type.Optional(reference(`The release that is compared: ${WAYS}. The newest where it is left out.`)),
  page,
  num,
})
