// Words for people: titles of events, fields and their values come from the service, names of countries from the browser.
import { signal } from '@preact/signals'
import { asText, capitalise } from './format.ts'

export interface Field {
  readonly name: string
  readonly label: string
  readonly description: string
  /** The label of each closed value. */
  readonly values: ReadonlyMap<string, string>
}

interface Property {
  readonly title?: string
  readonly description?: string
  readonly oneOf?: readonly { readonly const?: unknown; readonly title?: string }[]
}

export type Properties = Readonly<Record<string, Property>>

export const fields = signal<ReadonlyMap<string, Field>>(new Map())
const titles = signal<ReadonlyMap<string, string>>(new Map())

/** Once for a visit. Without the words the values themselves are shown. */
export async function loadFields(): Promise<void> {
  const response = await fetch('/v2/hed-outbreaks/schema').catch(() => null)
  if (response?.ok !== true) return
  const { properties = {} } = (await response.json()) as { properties?: Properties }
  fields.value = readFields(properties)
}

/** The words of a schema of the API. */
export const readFields = (properties: Properties): ReadonlyMap<string, Field> =>
  new Map(
    Object.entries(properties).map(([name, { title = plain(name), description = '', oneOf = [] }]) => [
      name,
      { name, label: title, description, values: new Map(oneOf.map((one) => [String(one.const), one.title ?? ''])) },
    ]),
  )

const plain = (text: string): string => capitalise(text.replaceAll('_', ' '))

export const fieldWord = (name: string): string => fields.value.get(name)?.label ?? plain(name)

/** A value of a field in words; a value that is not closed stays as it is. */
export function valueWord(name: string, value: unknown): string {
  const text = String(value)
  const label = fields.value.get(name)?.values.get(text)
  if (label !== undefined && label !== '') return label
  return /^[a-z0-9]+(_[a-z0-9]+)*$/.test(text) ? text.replaceAll('_', ' ') : text
}

const lower = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

/** Within a sentence: county or district. */
export const levelWord = (level: unknown): string =>
  level == null ? 'place not given' : lower(valueWord('location_granularity', level))
export const kindWord = (kind: unknown): string => lower(valueWord('count_kind', kind))
/** What is counted: confirmed cases. */
export function statusWord(status: unknown): string {
  if (status == null || status === 'total') return 'cases'
  return `${lower(valueWord('case_status', status))} cases`
}
export const sourceWord = (source: unknown): string => asText(source ?? 'source not given')

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The whole world has a code in the data; a code that is no country stays as it is. */
export function countryName(code: string): string {
  if (code === 'XW') return 'worldwide'
  return /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code
}

/** What answers say about events: their titles are known from then on. */
export function rememberTitles(known: readonly { readonly event: string; readonly title: string }[]): void {
  const unknown = known.filter(({ event, title }) => titles.peek().get(event) !== title)
  if (unknown.length > 0)
    titles.value = new Map([...titles.peek(), ...unknown.map(({ event, title }) => [event, title] as const)])
}

export const isKnown = (event: string): boolean => titles.value.has(event)
/** Until an answer has it, the name without its signs. */
export const eventTitle = (event: string): string => titles.value.get(event) ?? event.replaceAll('_', ' ')

export interface TitleParts {
  readonly label: string
  readonly place: string
  readonly year: string
}

/** Measles, United States, 2025: the parts of a title. */
export function splitTitle(title: string): TitleParts {
  const parts = title.split(', ')
  const year = /^\d{4}/.test(parts.at(-1) ?? '') ? (parts.pop() ?? '') : ''
  return { label: parts[0] ?? title, place: parts.slice(1).join(', '), year }
}
