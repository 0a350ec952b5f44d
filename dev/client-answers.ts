// The parameters and answers of the interface as TypeScript types for the client package, rendered from the OpenAPI document.
// `dev/generate.ts` writes the file.

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly description?: string
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema: Schema }>> }>>
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Types {
  /** The type of its parameters. */
  readonly parameters?: string
  /** Parameters that the verb has no use for. */
  readonly without?: readonly string[]
  /** The type of its answer, or of an item of its pages. */
  readonly answer?: string
  readonly item?: string
}

export const OPERATIONS: Record<string, Types> = {
  listRecords: { parameters: 'RecordsParameters' },
  listRecordVersions: { item: 'RecordVersion' },
  listReleases: { item: 'Release' },
  listChanges: { parameters: 'ChangesParameters', item: 'Change' },
  listEvents: { parameters: 'EventsParameters', item: 'EventSummary' },
  searchValues: { parameters: 'SearchParameters', answer: 'SearchAnswer' },
  getFacets: { parameters: 'FacetsParameters', answer: 'Facets' },
  getCoverage: { parameters: 'CoverageParameters', answer: 'RecordCoverage' },
  getSeries: { parameters: 'SeriesParameters', answer: 'Series' },
  getSums: { parameters: 'SumsParameters', answer: 'Sums' },
  getVintages: { parameters: 'VintagesParameters', answer: 'Vintages' },
  getCitation: { parameters: 'CitationParameters', answer: 'Citation' },
  // A watch is about the questions that a feed can be about.
  getFeed: { parameters: 'WatchParameters', without: ['format', 'when', 'archive'] },
  getWatch: { answer: 'Watch' },
  previewWatch: { item: 'PreviewedNotice' },
  listWatchNotices: { item: 'WatchNotice' },
  listNotices: { item: 'ReleaseNotice' },
}

/** Objects that occur often have a type of their own, named by the member that has them, or by a type and its member. */
const NAMED_MEMBERS: Record<string, string> = {
  ...{ new: 'Counts', cumulative: 'Counts', point: 'Counts', cases: 'Coverage', completeness: 'Completeness' },
  ...{ points: 'Point', explain: 'Explanation', cover: 'Cover', files: 'ReleaseFile', figures: 'EventFigure' },
  ...{ spans: 'Span', beside: 'PlaceFigure' },
  'PreviewedNotice.data': 'WatchNoticeData',
  ...{ data: 'SearchMatch', suggestions: 'SearchMatch', event: 'Facet', reasons: 'Reasons' },
}
/** The client adds these itself. */
export const PAGING = new Set(['page', 'detail'])
/** The service accepts a number, a day or `latest`. */
export const RELEASE_PARAMETERS = new Set(['release', 'from', 'to'])

export const NOTICE = 'Generated from docs/openapi.json by `npm run generate`; do not edit by hand.'

export const findOperations = ({ paths }: OpenApiDocument) =>
  Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => operationId in OPERATIONS)

export function renderAnswers(document: OpenApiDocument): string {
  const operations = findOperations(document)
  const names = nameRepeatedObjects(operations)
  const declared = new Map<string, string>()
  const render: Render = (schema, indent) => renderType(schema, indent, (object) => names.get(keyOf(object)))
  const declare = (name: string, schema: Schema) =>
    declared.set(name, `export interface ${name} ${renderObject(schema, '', render)}\n`)
  for (const [key, name] of names) declare(name, JSON.parse(key) as Schema)
  for (const operation of operations) {
    const name = findName(operation)
    if (name !== undefined) declare(name, findAnswer(operation))
  }
  const header = `// What the service answers, as types.\n// ${NOTICE}\nimport type { OutbreakRecord } from './record.ts'\n`
  return [header, ...declared.values()].join('\n')
}

/** The name of the type of the answer or, for pages, of an item. */
function findName({ operationId }: Operation): string | undefined {
  const { answer, item } = OPERATIONS[operationId] ?? {}
  return answer ?? item
}

/** The schema of the answer or, for pages, of an item. */
function findAnswer({ operationId, responses }: Operation): Schema {
  const schema = responses['200']?.content?.['application/json']?.schema ?? {}
  // Of figures the clients read the full form, which is the last one.
  if (OPERATIONS[operationId]?.answer !== undefined) return schema.anyOf?.at(-1) ?? schema
  return schema.properties?.['data']?.items ?? {}
}

const withoutDescription = (schema: Schema): Schema => {
  const { description: _, ...rest } = schema
  return rest
}
const keyOf = (schema: Schema) => JSON.stringify(withoutDescription(schema))

function nameRepeatedObjects(operations: readonly Operation[]): Map<string, string> {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const visit = (schema: Schema, type: string, member: string): void => {
    if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
      const key = keyOf(schema)
      counts.set(key, (counts.get(key) ?? 0) + 1)
      const name = NAMED_MEMBERS[`${type}.${member}`] ?? NAMED_MEMBERS[member]
      if (name !== undefined && !names.has(key) && ![...names.values()].includes(name)) names.set(key, name)
    }
    for (const [name, value] of Object.entries(schema.properties ?? {})) visit(value, type, name)
    for (const part of [...(schema.anyOf ?? []), ...(schema.allOf ?? []), ...(schema.items ? [schema.items] : [])])
      visit(part, type, member)
  }
  for (const operation of operations) visit(findAnswer(operation), findName(operation) ?? '', '')
  return new Map(
    [...names].filter(
      ([key]) => (counts.get(key) ?? 0) > 1 || /ReleaseFile|EventFigure|Reasons/.test(names.get(key) ?? ''),
    ),
  )
}

type Render = (schema: Schema, indent: string) => string

function renderType(schema: Schema, indent: string, nameOf: (object: Schema) => string | undefined): string {
  const render: Render = (part, deeper) => renderType(part, deeper, nameOf)
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown'
  if (schema.enum !== undefined) return schema.enum.map((value) => renderLiteral(value)).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map((part) => render(part, indent)).join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map((part) => render(part, indent)).join(' & ')
  if (schema.type === 'array') {
    const item = schema.items === undefined ? 'unknown' : render(schema.items, indent)
    const isSingle =
      schema.items?.anyOf === undefined && schema.items?.allOf === undefined && schema.items?.enum === undefined
    return isSingle ? `${item}[]` : `(${item})[]`
  }
  if (schema.type !== 'object') return PRIMITIVES[schema.type ?? ''] ?? 'unknown'
  const name = nameOf(schema)
  if (name !== undefined) return name
  if (Object.keys(schema.properties ?? {}).length > 0) return renderObject(schema, indent, render)
  const values = schema.additionalProperties
  return `Record<string, ${typeof values === 'object' ? render(values, indent) : 'unknown'}>`
}

const PRIMITIVES: Record<string, string> = {
  ...{ integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' },
}
const renderLiteral = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))

function renderObject(
  { properties = {}, required = [], additionalProperties }: Schema,
  indent: string,
  render: Render,
): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${renderComment(schema.description, indent)}${indent}  ${name}${mark}: ${render(schema, `${indent}  `)}\n`
  })
  const others = additionalProperties === true ? `${indent}  [member: string]: unknown\n` : ''
  return `{\n${members.join('')}${others}${indent}}`
}

const renderComment = (text: string | undefined, indent: string) =>
  text === undefined ? '' : `${indent}  /** ${text.replaceAll('*/', '* /')} */\n`

export function renderParameters(document: OpenApiDocument): string {
  return `// The parameters of the requests, as types.\n// ${NOTICE}\n\n${renderParameterTypes(findOperations(document))}\n`
}

/** All parameters once, and for each operation those that it knows. A parameter that differs is written with the operation. */
function renderParameterTypes(operations: readonly Operation[]): string {
  const all = new Map<string, string>()
  const types = operations.flatMap(({ operationId, parameters = [] }) => {
    const { parameters: name, without = [] } = OPERATIONS[operationId] ?? {}
    if (name === undefined) return []
    const picked: string[] = []
    let own = ''
    const omitted = new Set([...PAGING, ...without])
    for (const parameter of parameters.filter((one) => one.in === 'query' && !omitted.has(one.name))) {
      const member = renderParameter(parameter)
      const known = all.get(parameter.name)
      if (known === undefined && parameter.required !== true) all.set(parameter.name, member)
      if (known === undefined ? parameter.required !== true : typeOf(known) === typeOf(member))
        picked.push(parameter.name)
      else own += member
    }
    const pick = `Pick<AllParameters, ${picked.map((one) => `'${one}'`).join(' | ')}>`
    return [`export type ${name} = ${pick}${own === '' ? '' : ` & {\n${own}}`}`]
  })
  return [
    `/** Every parameter of the interface. */\nexport interface AllParameters {\n${[...all.values()].join('')}}`,
    ...types,
  ].join('\n\n')
}

const typeOf = (member: string) => member.split('\n').at(-2)

function renderParameter({ name, schema, description, required }: Parameter): string {
  const render = (one: Schema) => renderType(one, '  ', () => undefined)
  const single = schema.type === 'array' ? render(schema.items ?? {}) : render(schema)
  const union = RELEASE_PARAMETERS.has(name) ? 'number | string' : single
  const value = schema.type === 'array' ? `${union} | readonly ${/ \| /.test(union) ? `(${union})` : union}[]` : union
  const type = required === true ? `: ${value}` : `?: ${value} | undefined`
  return `${renderComment(description, '')}  ${name}${type}\n`
}
