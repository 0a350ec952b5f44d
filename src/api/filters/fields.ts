// The choice of fields: `fields=event,cases` answers records with these keys only, in the order of the declaration. Pure.
import type { Dataset } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

export function readFields(dataset: Dataset, text: string): string[] {
  const wanted = text.split(',')
  const known = dataset.fields.map((field) => field.name)
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown !== undefined) throw refuse(`${JSON.stringify(unknown.slice(0, 40))} is not a field of a record.`)
  if (new Set(wanted).size < wanted.length) throw refuse('fields names a field twice.')
  return known.filter((name) => wanted.includes(name))
}

const refuse = (detail: string) => new Problem('invalid_parameter', detail, { parameter: 'fields' })

export const hasField = ({ contract }: PublishedRelease, name: string): boolean =>
  contract.fields.some((field) => field.name === name)

/** A field that came later than the release is refused: null would look like an unknown value. */
export function requireField(
  releases: readonly PublishedRelease[],
  release: PublishedRelease,
  name: string,
  parameter: string,
): void {
  if (hasField(release, name)) return
  const since = releases.find((later) => hasField(later, name))
  const when = since === undefined ? 'no release has it yet' : `it exists since release ${since.number}`
  throw new Problem('invalid_parameter', `Release ${release.number} does not have the field ${name}; ${when}.`, {
    parameter,
  })
}

/** The record with the fields alone. What was rendered once is rendered the same way again. */
export function pickFields(body: string, fields: readonly string[]): string {
  const record = JSON.parse(body) as Record<string, unknown>
  return JSON.stringify(Object.fromEntries(fields.map((name) => [name, record[name]])))
}
