// Reads and validates release.json: title, licence, note and day of a release, the reasons for its changes, and how its publisher
// prefers events to be counted.
import { type Static, Type } from 'typebox'
import { Check, Errors } from 'typebox/schema'
import { isCalendarDate } from '../../platform/calendar-date.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { CHANGE_REASONS } from '../../storage/change-reasons.ts'
import { isStorable } from '../../storage/normalise-text.ts'
import { requireUniqueKeys } from './json-value.ts'
import { readSettingsFile } from './read-text.ts'

const closed = { additionalProperties: false }
const someText = Type.String({ minLength: 1, maxLength: 500 })
const reason = Type.Optional(Type.Enum([...CHANGE_REASONS]))
const reasonsByKind = { added: reason, corrected: reason, withdrawn: reason }
const manifestSchema = Type.Object(
  {
    title: someText,
    licence: someText,
    note: Type.Optional(Type.String({ maxLength: 10_000 })),
    /** The day up to which the data is known. */
    as_of: Type.Optional(Type.String()),
    /** Set if the directory has only changes to this release, which must be the latest. */
    base: Type.Optional(Type.Integer({ minimum: 1 })),
    reasons: Type.Optional(
      Type.Object(
        { ...reasonsByKind, events: Type.Optional(Type.Record(Type.String(), Type.Object(reasonsByKind, closed))) },
        closed,
      ),
    ),
    /** By event: values of the fields that say how it was counted. */
    preferred: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Record(Type.String(), Type.Union([someText, Type.Boolean(), Type.Null()]), { minProperties: 1 }),
      ),
    ),
  },
  closed,
)

export type ReleaseManifest = Static<typeof manifestSchema>

export async function readManifest(file: string): Promise<ReleaseManifest> {
  let text: string
  let manifest: unknown
  try {
    text = await readSettingsFile(file)
    manifest = JSON.parse(text)
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError(`${file} is missing or is not valid JSON.`, { cause })
  }
  requireUniqueKeys(text, file)
  if (Check(manifestSchema, manifest)) {
    validateTexts(manifest, file)
    validateDay(manifest, file)
    return manifest
  }
  const [, [error]] = Errors(manifestSchema, manifest)
  const location = error?.instancePath.slice(1).replaceAll('/', '.') || '(top level)'
  throw new OperatorError(
    `${file} is not valid: ${location} ${error?.message}. It must have title and licence, and can have note, as_of, base, reasons and preferred.`,
  )
}

function validateDay({ as_of: day }: ReleaseManifest, file: string): void {
  if (day === undefined) return
  // PostgreSQL has no year 0.
  if (!isCalendarDate(day) || day.startsWith('0000'))
    throw new OperatorError(`In ${file}, as_of must be a date that exists, as YYYY-MM-DD.`)
  const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
  if (day > today)
    throw new OperatorError(
      `In ${file}, as_of ${day} is in the future; today is ${today} (UTC). Give the last day that the data covers, or leave as_of out for the day of publication.`,
    )
}

/** Longer or more event names belong to another dataset. */
const MAX_EVENT_LENGTH = 200
const MAX_EVENTS = 10_000

/** Checks what a schema cannot: terminals must be able to show these texts and PostgreSQL must be able to store them. */
function validateTexts({ title, licence, note = '', reasons, preferred = {} }: ReleaseManifest, file: string): void {
  const values = Object.values(preferred).flatMap((one) => Object.values(one))
  const events = [
    ['reasons.events', Object.keys(reasons?.events ?? {})],
    ['preferred', Object.keys(preferred)],
  ] as const
  for (const [location, names] of events)
    if (names.length > MAX_EVENTS || names.some((name) => Array.from(name).length > MAX_EVENT_LENGTH))
      throw new OperatorError(
        `In ${file}, ${location} has more than ${MAX_EVENTS} events, or a name longer than ${MAX_EVENT_LENGTH} characters.`,
      )
  for (const [location, text] of [
    ['title', title],
    ['licence', licence],
    ['note', note],
    ...events.flatMap(([name, names]) => names.map((event) => [name, event] as const)),
    ...values.filter((value) => typeof value === 'string').map((value) => ['preferred', value] as const),
  ] as const) {
    if (!isStorable(text) || /[^\P{Cc}\n]/u.test(text))
      throw new OperatorError(
        `In ${file}, ${location} contains a control character or an incomplete character (half of a surrogate pair).`,
      )
  }
}
