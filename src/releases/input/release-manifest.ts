// release.json: what a release says of itself, and why it changes what it changes.
import { readFile } from 'node:fs/promises'
import { type Static, Type } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { OperatorFault } from '../../platform/operator-fault.ts'
import { REASONS } from '../../records/reasons.ts'

const closed = { additionalProperties: false }
const someText = Type.String({ minLength: 1 })
const reason = Type.Optional(Type.Enum([...REASONS]))
const byKind = { added: reason, corrected: reason, withdrawn: reason }
const manifestSchema = Type.Object(
  {
    title: someText,
    licence: someText,
    note: Type.Optional(Type.String()),
    /** Set where the directory holds only what differs from this release, which must still be the newest. */
    base: Type.Optional(Type.Integer({ minimum: 1 })),
    reasons: Type.Optional(
      Type.Object({ ...byKind, events: Type.Optional(Type.Record(someText, Type.Object(byKind, closed))) }, closed),
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
    throw new OperatorFault(`${file} is missing or not JSON`, { cause })
  }
  if (Check(manifestSchema, manifest)) return manifest
  const [fault] = Errors(manifestSchema, manifest)
  const place = fault?.instancePath.slice(1).replaceAll('/', '.') || 'as a whole'
  throw new OperatorFault(
    `${file} must hold title and licence, and perhaps note, base and reasons; ${place}: ${fault?.message}`,
  )
}
