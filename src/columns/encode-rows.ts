// The columns of a record from its cells, and the steps of a series as rows. Pure, but for the dictionary, which grows.
import type { Dataset, FieldValue } from '../datasets/define.ts'
import { parseDay, remembering } from '../methods/calendar.ts'
import type { RecordSeries, SeriesDataset } from '../methods/record-series.ts'
import { deriveRecordSteps, RULES } from '../methods/step-columns.ts'
import type { Cell } from '../storage/serialise-record.ts'
import type { Dictionary } from './dictionary.ts'
import { indexedFields, PLACES, PRESENT } from './layout.ts'
import type { StagedValue } from './stage.ts'

/** A number in JavaScript has this many bits that are exact. */
const MAX_NULLABLE_FIELDS = 53

/** The columns of a record from its cells. */
export function createRecordEncoder(dataset: Dataset, dictionary: Dictionary, release: number) {
  const { content } = dataset
  const position = new Map(content.map(({ name }, i) => [name, i]))
  const encoders = indexedFields(dataset).map(({ name, kind }) => {
    const index = position.get(name) as number
    const encode = encoderOf(dictionary, name, kind)
    return (cells: readonly Cell[]) => {
      const { value } = cells[index] as Cell
      return value === null ? null : encode(value)
    }
  })
  const nullable = content
    .map(({ name }, index) => ({ name, index }))
    .filter(({ index }) => content[index]?.nullable)
    .map(({ name, index }) => ({ index, bit: 2 ** dictionary.codeOf(PRESENT, name) }))
  if (nullable.length > MAX_NULLABLE_FIELDS) throw new Error(`more than ${MAX_NULLABLE_FIELDS} fields can be null`)
  return (id: number, cells: readonly Cell[], lastRelease: number): StagedValue[] => {
    let present = 0
    for (const { index, bit } of nullable) if ((cells[index] as Cell).value !== null) present += bit
    return [id, release, lastRelease, present, ...encoders.map((encode) => encode(cells))]
  }
}

type Kind = Dataset['content'][number]['kind']

function encoderOf(dictionary: Dictionary, field: string, kind: Kind): (value: NonNullable<FieldValue>) => StagedValue {
  switch (kind) {
    case 'identifier':
    case 'integer':
    case 'number':
    case 'boolean':
      return (value) => value as number | boolean
    case 'date': {
      const toDay = remembering(parseDay)
      return (value) => toDay(value as string)
    }
    default:
      return (value) => dictionary.codeOf(field, typeof value === 'string' ? value : JSON.stringify(value))
  }
}

/** A row for each record of the series, in the order of the stage. */
export function encodeSteps(
  dataset: SeriesDataset,
  dictionary: Dictionary,
  series: RecordSeries,
  broken: ReadonlySet<number>,
): StagedValue[][] {
  const { counts, place } = dataset.series
  const codeOf = (field: string, value: FieldValue) =>
    typeof value === 'string' ? dictionary.codeOf(field, value) : null
  const shared = [
    codeOf(PLACES, series.place),
    codeOf(PLACES, series.exclusivePlace),
    ...(place?.names ?? []).map((name) => codeOf(name, series.read(name))),
  ]
  return deriveRecordSteps(series, counts.length).map(({ id, day, marks, counts: steps }) => [
    id,
    broken.has(id),
    day,
    marks,
    ...shared,
    ...steps.flatMap((step) =>
      step === null
        ? [null, null, null, null, null, null, null]
        : [RULES.indexOf(step.rule), step.increment, step.since, step.total, step.gain, step.until, step.isFirst],
    ),
  ])
}
