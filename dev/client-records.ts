// The types of a record for the client packages in TypeScript, Python and R, rendered from the declaration of a dataset.
// The text is already in the format of Biome and Ruff. `dev/generate.ts` writes the files.
import type { Dataset, Field } from '../src/datasets/define.ts'

const NOTICE = 'Generated from the declaration of the dataset by `npm run generate`; do not edit by hand.'
const PRESENCE = [
  'Every key is present in every record. A release that was published before a field was added does not have its key.',
  'A later release may have further values in a closed list: keep a value that is not listed.',
]

type TypeNames = Readonly<Record<Field['kind'], string>>

const choicesOf = ({ choices = [] }: Field): readonly string[] => choices
const isCategory = (field: Field): boolean => field.kind === 'choice'

/** Lines of at most `width` characters, broken at spaces. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

export const indent = (lines: readonly string[], prefix: string): string =>
  lines.map((line) => prefix + line).join('\n')

// TypeScript

const TYPESCRIPT_TYPES: Omit<TypeNames, 'choice'> = {
  identifier: 'Integer',
  integer: 'Integer',
  number: 'number',
  text: 'string',
  code: 'string',
  uri: 'string',
  date: 'IsoDay',
  boolean: 'boolean',
  object: 'Record<string, unknown>',
}
const TYPESCRIPT_WIDTH = 120

export const renderTypeScript = (dataset: Dataset): string => `// The record of the dataset ${dataset.name}.
// ${NOTICE}

/** A number without a fraction. */
export type Integer = number

/** A calendar day without a time zone, as ISO 8601: YYYY-MM-DD. */
export type IsoDay = \`\${number}-\${number}-\${number}\`

/**
${indent(
  [dataset.description, ...PRESENCE].flatMap((text) => wrap(text, TYPESCRIPT_WIDTH - 3)),
  ' * ',
)}
 */
export interface ${dataset.recordName} {
${dataset.fields.map(renderProperty).join('\n')}
}
`

function renderProperty(field: Field): string {
  const quoted = choicesOf(field).map((choice) => `'${choice}'`)
  const members = [
    ...(field.kind === 'choice' ? quoted : [TYPESCRIPT_TYPES[field.kind]]),
    ...(field.nullable ? ['null'] : []),
  ]
  const short = `  ${field.name}: ${members.join(' | ')}`
  const property = short.length <= TYPESCRIPT_WIDTH ? short : `  ${field.name}:\n${indent(members, '    | ')}`
  const comment = `  /** ${field.description} */`
  return comment.length <= TYPESCRIPT_WIDTH
    ? `${comment}\n${property}`
    : `  /**\n${indent(wrap(field.description, TYPESCRIPT_WIDTH - 5), '   * ')}\n   */\n${property}`
}

// Python

const PYTHON_TYPES: Omit<TypeNames, 'choice'> = {
  identifier: 'int',
  integer: 'int',
  number: 'float',
  text: 'str',
  code: 'str',
  uri: 'str',
  date: 'IsoDay',
  boolean: 'bool',
  object: 'dict[str, Any]',
}
/** The types of columns, which do not depend on a library of data frames. */
const COLUMN_TYPES: TypeNames = {
  identifier: 'integer',
  integer: 'integer',
  number: 'real',
  text: 'text',
  code: 'text',
  uri: 'text',
  date: 'date',
  boolean: 'boolean',
  choice: 'category',
  object: 'json',
}
export const PYTHON_WIDTH = 88

export const renderPython = (dataset: Dataset): string => `"""The record of the dataset ${dataset.name}.

${wrap(NOTICE, PYTHON_WIDTH).join('\n')}
"""

from typing import Any, Final, Literal, NewType, TypedDict, get_args

IsoDay = NewType("IsoDay", str)
"""A calendar day without a time zone, as ISO 8601: YYYY-MM-DD."""

${dataset.fields.filter(isCategory).map(renderLiteral).join('\n')}


class ${dataset.recordName}(TypedDict):
    """${wrap(dataset.description, PYTHON_WIDTH - 8).join('\n    ')}

${indent(wrap(PRESENCE.join(' '), PYTHON_WIDTH - 4), '    ')}
    """

${dataset.fields.map(renderKey).join('\n')}


ColumnType = Literal["text", "integer", "real", "date", "boolean", "category", "json"]

COLUMNS: Final[dict[str, ColumnType]] = {
${dataset.fields.map(({ name, kind }) => `    "${name}": "${COLUMN_TYPES[kind]}",`).join('\n')}
}
"""The type of each column of a data frame. \`json\` is an object, or its JSON text."""

CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
${dataset.fields
  .filter(isCategory)
  .map(({ name }) => `    "${name}": get_args(${toTypeName(name)}),`)
  .join('\n')}
}
"""The values of each category, in their order."""
`

export const toTypeName = (name: string): string =>
  name
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

/** One value on each line: the comma after the last keeps it so in every line length. */
const renderLiteral = (field: Field): string =>
  `${toTypeName(field.name)} = Literal[\n${choicesOf(field)
    .map((choice) => `    "${choice}",`)
    .join('\n')}\n]`

function renderKey(field: Field): string {
  const type = field.kind === 'choice' ? toTypeName(field.name) : PYTHON_TYPES[field.kind]
  const key = `    ${field.name}: ${type}${field.nullable ? ' | None' : ''}`
  return `${indent(wrap(field.description, PYTHON_WIDTH - 6), '    # ')}\n${key}`
}

// R

const R_TYPES: TypeNames = {
  // An integer of R has 32 bits.
  identifier: 'double',
  integer: 'integer',
  number: 'double',
  text: 'character',
  code: 'character',
  uri: 'character',
  date: 'Date',
  boolean: 'logical',
  choice: 'factor',
  object: 'json',
}
const R_WIDTH = 80

export const renderR = (dataset: Dataset): string => `# The columns of a record of the dataset ${dataset.name}.
${indent(wrap(NOTICE, R_WIDTH - 2), '# ')}
#
${indent(wrap(PRESENCE.join(' '), R_WIDTH - 2), '# ')}
#
# type: "character", "integer", "double", "Date", "logical", "factor", or "json"
# for an object or its JSON text. nullable: whether a value may be NA.
ob_record_columns <- list(
${dataset.fields.map(renderColumn).join(',\n')}
)
`

function renderColumn(field: Field): string {
  const parts = [`type = "${R_TYPES[field.kind]}"`, `nullable = ${field.nullable ? 'TRUE' : 'FALSE'}`]
  if (!isCategory(field)) return `  ${field.name} = list(${parts.join(', ')})`
  const levels = choicesOf(field).map((choice) => `      "${choice}"`)
  return `  ${field.name} = list(\n${indent(parts, '    ').replaceAll('\n', ',\n')},\n    levels = c(\n${levels.join(',\n')}\n    )\n  )`
}
