// The parameters of the interface as types of Python, one for each verb that takes filters, rendered from the OpenAPI document.
// The text is already in the format of Ruff. `dev/generate.ts` writes the file.
import {
  findOperations,
  NOTICE,
  OPERATIONS,
  type OpenApiDocument,
  PAGING,
  type Parameter,
  RELEASE_PARAMETERS,
  type Schema,
} from './client-answers.ts'
import { indent, PYTHON_WIDTH, toTypeName, wrap } from './client-records.ts'

/** The verb has an argument of its own for these. */
const ARGUMENTS: Record<string, readonly string[]> = {
  ...{ listRecords: ['release'], listEvents: ['release'], listChanges: ['from', 'to'], searchValues: ['release', 'q'] },
  ...{ getFacets: ['release'], getCoverage: ['release', 'by', 'interval'], getSeries: ['release'] },
  ...{ getSums: ['release'], getCitation: ['release'] },
}
/** The client adds the page and the detail; `cite` and `link` have formats of their own, and only a link has columns. */
const OMITTED = new Set([...PAGING, 'format', 'columns'])
/** The parameters that the same operations have as this one are declared once. */
const BASES: Record<string, { name: string; about: string }> = {
  strict: { name: 'Strictness', about: 'What every verb with filters that returns data accepts.' },
  event: { name: 'Filters', about: 'What every verb with filters accepts.' },
  reported_from: { name: 'RecordFilters', about: 'What verbs that return records, or describe them, accept.' },
}
/** One text with commas for the service. */
const JOINED: Record<string, string> = { fields: 'str | Sequence[str]', bbox: 'str | Sequence[float]' }
const PRIMITIVES: Record<string, string> = { integer: 'int', number: 'float', string: 'str', boolean: 'bool' }
/** A name that Python reserves gets an underscore. */
const KEYWORDS = new Set(['from'])
/** Ruff breaks longer lines. */
const LINE_WIDTH = 120

interface Key {
  readonly name: string
  readonly type: string
  readonly text: string
  /** The types of parameters that have it. */
  readonly owners: string[]
}

export function renderPythonParameters(document: OpenApiDocument): string {
  const lists = new Map<string, string>()
  const keys = collectKeys(document, lists)
  const owners = findOperations(document).flatMap(({ operationId }) => OPERATIONS[operationId]?.parameters ?? [])
  const bases = Object.entries(BASES).flatMap(([sample, { name, about }]) => {
    const found = keys.find((key) => key.name === sample)
    return found === undefined ? [] : [{ name, about, owners: found.owners }]
  })
  const isShared = (key: Key) => bases.some((base) => isSame(base.owners, key.owners))
  const declared = [...lists].map(([values, name]) => renderList(name, JSON.parse(values) as string[]))
  const classes = [
    ...bases.map(({ name, about, owners: shared }) =>
      renderClass(
        name,
        about,
        'TypedDict',
        keys.filter((key) => isSame(shared, key.owners)),
      ),
    ),
    ...owners.map((owner) => {
      const parents = bases.filter((base) => base.owners.includes(owner)).map(({ name }) => name)
      const own = keys.filter((key) => key.owners.includes(owner) && !isShared(key))
      return renderClass(owner, '', parents.join(', ') || 'TypedDict', own)
    }),
  ]
  return `"""The parameters of the verbs.

${wrap(NOTICE, PYTHON_WIDTH).join('\n')}
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Literal, ${classes.some((text) => text.includes('Required[')) ? 'Required, ' : ''}TypeAlias, TypedDict, TypeVar

Value = TypeVar("Value")
Several: TypeAlias = Value | Sequence[Value] | AbstractSet[Value]
"""One value, or several of which a record has one."""

${declared.join('\n')}


${classes.join('\n\n\n')}
`
}

/** Every parameter with its type; one that differs between operations several times. `lists` gets the closed lists. */
function collectKeys(document: OpenApiDocument, lists: Map<string, string>): Key[] {
  const keys = new Map<string, Key>()
  for (const { operationId, parameters = [] } of findOperations(document)) {
    const { parameters: owner, without = [] } = OPERATIONS[operationId] ?? {}
    if (owner === undefined) continue
    const omitted = new Set([...OMITTED, ...without])
    for (const parameter of parameters) {
      if (parameter.in !== 'query' || omitted.has(parameter.name)) continue
      const type = renderType(parameter, (values) => nameList(lists, parameter.name, owner, values))
      if (ARGUMENTS[operationId]?.includes(parameter.name)) continue
      const text = renderKey(parameter, type)
      const key = keys.get(`${parameter.name} ${type}`) ?? { name: parameter.name, type, text, owners: [] }
      key.owners.push(owner)
      keys.set(`${parameter.name} ${type}`, key)
    }
  }
  return [...keys.values()]
}

const isSame = (one: readonly string[], other: readonly string[]) => one.join() === other.join()

/** A list that differs from another one of the same parameter is named by its owner too. */
function nameList(lists: Map<string, string>, parameter: string, owner: string, values: readonly unknown[]): string {
  const key = JSON.stringify(values)
  const name = toTypeName(parameter)
  const isTaken = [...lists.values()].includes(name)
  const chosen = lists.get(key) ?? (isTaken ? `${owner.replace('Parameters', '')}${name}` : name)
  lists.set(key, chosen)
  return chosen
}

function renderType(parameter: Parameter, nameOf: (values: readonly unknown[]) => string): string {
  const { name, schema, required } = parameter
  const renderOne = (one: Schema): string => {
    if (one.enum !== undefined) return nameOf(one.enum)
    if (one.format === 'date') return 'str | date'
    return PRIMITIVES[one.type ?? ''] ?? 'object'
  }
  const single = RELEASE_PARAMETERS.has(name) ? 'int | str | date' : (JOINED[name] ?? renderOne(schema))
  const type = schema.type === 'array' ? `Several[${renderOne(schema.items ?? {})}]` : single
  return required === true ? `Required[${type}]` : type
}

function renderKey({ name, description }: Parameter, type: string): string {
  const key = `    ${KEYWORDS.has(name) ? `${name}_` : name}: ${type}`
  return description === undefined ? key : `${indent(wrap(description, PYTHON_WIDTH - 6), '    # ')}\n${key}`
}

/** On one line, or with a line for each value if it would be too long. */
function renderList(name: string, values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`)
  const short = `${name} = Literal[${quoted.join(', ')}]`
  return short.length <= LINE_WIDTH
    ? short
    : `${name} = Literal[\n${indent(quoted, '    ').replaceAll('\n', ',\n')},\n]`
}

function renderClass(name: string, about: string, parents: string, keys: readonly Key[]): string {
  const body = keys.map(({ text }) => text).join('\n')
  const header = `class ${name}(${parents}, total=False):`
  const documented = about === '' ? header : `${header}\n    """${about}"""\n`
  return `${documented}\n${body === '' ? '    pass' : body}`
}
