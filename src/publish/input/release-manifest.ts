// release.json: what a release says of itself, and why it changes what it changes.
import { readFile } from 'node:fs/promises'
import { type Static, Type } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { OperatorError } from '../../platform/operator-error.ts'
import { CHANGE_REASONS } from '../../storage/change-reasons.ts'
import { isStorable } from '../../storage/normalise-text.ts'

const closed = { additionalProperties: false }
const someText = Type.String({ minLength: 1, maxLength: 500 })
const reason = Type.Optional(Type.Enum([...CHANGE_REASONS]))
const byKind = { added: reason, corrected: reason, withdrawn: reason }
const manifestSchema = Type.Object(
  {
    title: someText,
    licence: someText,
    note: Type.Optional(Type.String({ maxLength: 10_000 })),
    /** Set where the directory holds only what differs from this release, which must still be the newest. */
    base: Type.Optional(Type.Integer({ minimum: 1 })),
    reasons: Type.Optional(
      Type.Object(
        { ...byKind, events: Type.Optional(Type.Record(Type.String(), Type.Object(byKind, closed))) },
        closed,
      ),
    ),
  },
  closed,
)

export type ReleaseManifest = Static<typeof manifestSchema>

export async function readManifest(file: string): Promise<ReleaseManifest> {
  let manifest: unknown
  try {
    manifest = JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new OperatorError(`${file} is missing or not JSON`, { cause })
  }
  if (Check(manifestSchema, manifest)) {
    refuseTexts(manifest, file)
    return manifest
  }
  const [fault] = Errors(manifestSchema, manifest)
  const place = fault?.instancePath.slice(1).replaceAll('/', '.') || 'as a whole'
  throw new OperatorError(
    `${file} must hold title and licence, and perhaps note, base and reasons; ${place}: ${fault?.message}`,
  )
}

/** Events of more than this are of another dataset. */
const LONGEST_EVENT = 200
const MOST_EVENTS = 10_000

/** What a schema cannot say: consumers read these texts, terminals show them, and PostgreSQL keeps them. */
function refuseTexts({ title, licence, note = '', reasons }: ReleaseManifest, file: string): void {
  const events = Object.keys(reasons?.events ?? {})
  const long = events.length > MOST_EVENTS || events.some((event) => Array.from(event).length > LONGEST_EVENT)
  if (long) throw new OperatorError(`${file} reasons.events: has more than ${MOST_EVENTS} events, or an overlong name`)
  for (const [place, text] of [
    ['title', title],
    ['licence', licence],
    ['note', note],
    ...events.map((event) => ['reasons.events', event]),
  ] as const) {
    if (!isStorable(text) || /[^\P{Cc}\n]/u.test(text))
      throw new OperatorError(`${file} ${place}: holds a control character or half of a surrogate pair`)
  }
}
