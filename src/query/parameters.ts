// What can be asked: the parameters of the data endpoints, declared once for reading, documentation and types.
import { Type } from 'typebox'

export const DEFAULT_NUM = 100

const num = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: DEFAULT_NUM,
    description: 'Maximum number of records to return.',
  }),
)
const release = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Number of the release to read; the newest where it is left out.',
  }),
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
    description: "Opaque cursor: the previous answer's `next_page`. Left out for the first page.",
  }),
)

export const eventNamesQuery = Type.Object({ release })
export const offsetQuery = Type.Object({ offset, num, release })
export const cursorQuery = Type.Object({ page, num, release })
