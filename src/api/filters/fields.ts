// Field selection: `fields=event,cases` returns records with only these fields, in the order of the declaration. Pure.
import type { Dataset } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import { SEPARATOR } from '../../storage/chunk.ts'
import { type Part, splitRecords } from '../../storage/gzip-splice.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

export function parseFields(dataset: Dataset, text: string): string[] {
  const requested = text.split(',')
  const known = dataset.fields.map((field) => field.name)
  const unknown = requested.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw invalidFields(`${JSON.stringify(unknown.slice(0, 40))} is not a field. GET /v2/{dataset}/schema lists them.`)
  if (new Set(requested).size < requested.length) throw invalidFields('fields lists a field twice. List each one once.')
  return known.filter((name) => requested.includes(name))
}

const invalidFields = (detail: string) => new Problem('invalid_parameter', detail, { parameter: 'fields' })

export const hasField = ({ contract }: PublishedRelease, name: string): boolean =>
  contract.fields.some((field) => field.name === name)

/** Rejects a field that was added after the release: null would look like an unknown value. */
export function requireField(
  releases: readonly PublishedRelease[],
  release: PublishedRelease,
  name: string,
  parameter: string,
): void {
  if (hasField(release, name)) return
  const since = releases.find((later) => hasField(later, name))
  const when = since === undefined ? 'No release has it yet' : `It was added in release ${since.number}`
  throw new Problem('invalid_parameter', `Release ${release.number} does not have the field ${name}. ${when}.`, {
    parameter,
  })
}

/** The parts with only the selected fields of each record. */
export const pickParts = (parts: readonly Part[], pick: ((body: string) => string) | undefined): Part[] =>
  pick === undefined ? [...parts] : parts.map((part) => splitRecords(part).map(pick).join(SEPARATOR))

/** The record with only these fields. Numbers and texts are serialised as in the stored record. */
export function pickFields(body: string, fields: readonly string[]): string {
  const record = JSON.parse(body) as Record<string, unknown>
  return JSON.stringify(Object.fromEntries(fields.map((name) => [name, record[name]])))
}
