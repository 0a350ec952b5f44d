// The parameters of the verbs as types of Python, rendered from an OpenAPI document.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderPythonParameters } from '../../../dev/python-parameters.ts'

const query = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more })
const several = (items: object) => ({ type: 'array', items })
const sex = query('sex', several({ enum: ['female', 'male'] }), { description: 'Sex of the counted persons.' })
const event = query('event', several({ type: 'string' }))
const release = query('release', { type: 'string' })
const operation = (operationId: string, parameters: object[]) => ({ get: { operationId, parameters, responses: {} } })
const document = {
  paths: {
    '/outbreaks': operation('listRecords', [
      ...[event, sex, release, query('page', { type: 'string' }), query('fields', { type: 'string' })],
      ...[query('sort', { enum: ['id', '-id'] }), query('cases_min', { type: 'integer' })],
      query('date_from', { type: 'string', format: 'date' }),
    ]),
    '/vintages': operation('getVintages', [
      ...[event, sex, query('from', { type: 'string' }), query('sort', { enum: ['new_cases'] })],
      query('interval', { enum: ['day', 'year'] }, { required: true }),
    ]),
    '/search': operation('searchValues', [release, query('q', { type: 'string' }), query('num', { type: 'integer' })]),
    '/citation': operation('getCitation', [event, sex, release, query('format', { enum: ['text'] })]),
    '/ignored': operation('getSomethingElse', [query('colour', { type: 'string' })]),
  },
} as unknown as Parameters<typeof renderPythonParameters>[0]
const rendered = renderPythonParameters(document)

test('what all verbs accept is declared once, and arguments of the verb are left out', () => {
  assert.equal(
    rendered.slice(rendered.indexOf('Sex =')),
    `Sex = Literal["female", "male"]
Sort = Literal["id", "-id"]
VintagesSort = Literal["new_cases"]
Interval = Literal["day", "year"]


class Filters(TypedDict, total=False):
    """What every verb with filters accepts."""

    event: Several[str]
    # Sex of the counted persons.
    sex: Several[Sex]


class RecordsParameters(Filters, total=False):
    fields: str | Sequence[str]
    sort: Sort
    cases_min: int
    date_from: str | date


class VintagesParameters(Filters, total=False):
    from_: int | str | date
    sort: VintagesSort
    interval: Required[Interval]


class SearchParameters(TypedDict, total=False):
    num: int


class CitationParameters(Filters, total=False):
    pass
`,
  )
})

test('a list that does not fit in a line has a line for each value, as Ruff writes it', () => {
  const values = Array.from({ length: 12 }, (_, i) => `long_value_${i}`)
  const text = renderPythonParameters({
    paths: { '/a': operation('listRecords', [query('sort', { enum: values })]) },
  } as unknown as Parameters<typeof renderPythonParameters>[0])
  assert.match(text, /^Sort = Literal\[\n {4}"long_value_0",\n(?: {4}"long_value_\d+",\n){11}\]$/m)
})
