// The parameters of the data endpoints, declared once for parsing, documentation and types.
import { Type } from 'typebox'
import { type Dataset, INT4_MAX } from '../../datasets/define.ts'
import { INTERVALS } from '../../methods/calendar.ts'
import { hasSeries, type SeriesDataset } from '../../methods/record-series.ts'
import { acrossFields, figureFilters, groupFields, sortKeys } from '../figures/figure-request.ts'
import { filterParameters } from '../filters/filters.ts'
import { countFields, rangeParameters } from '../filters/ranges.ts'
import { sortChoices } from '../filters/sorted-page.ts'
import { measureParameters } from '../measures/measure-request.ts'
import { LATEST, REFERENCE_PATTERN } from '../paging/release-reference.ts'
import { formatParameter, LINE_TYPES } from '../response/chosen-type.ts'
import { CITATION_FORMATS } from '../response/citation-formats.ts'
import { recordMediaTypes } from '../response/record-formats.ts'
import { columnsParameter, TABLE_TYPES } from '../response/table-response.ts'

export const DEFAULT_NUM = 100
/** The clients and the explorer ask for pages of 1000 whatever this is, because they also read from older services. */
export const MAX_NUM = 1000
/** Of a field: these are no records, and do not follow MAX_NUM. */
const MAX_VALUES = 1000
export const DEFAULT_HITS = 20
export const MAX_HITS = 100

const num = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: MAX_NUM,
    default: DEFAULT_NUM,
    description: 'Maximum number of records to return.',
    examples: [10],
  }),
)
const reference = (description: string, example: string) =>
  Type.String({ pattern: REFERENCE_PATTERN, description, examples: [example] })
const REFERENCE_FORMS =
  'its number, a date (YYYY-MM-DD) for what was known on that day (the latest release whose `as_of` is that day or earlier), or `latest`'
const release = Type.Optional(reference(`The release to read: ${REFERENCE_FORMS}. Default: the latest.`, LATEST))
const tokenRelease = Type.Optional(
  reference(`The release to read: ${REFERENCE_FORMS}. Default: the release of the access token.`, LATEST),
)
const offset = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'Zero-based index of the first record to return.',
    examples: [0],
  }),
)
const page = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Opaque cursor: `next_page` of the previous response. Omit it for the first page.',
  }),
)

const fields = Type.Optional(
  Type.String({
    minLength: 1,
    description:
      'Names of fields, separated by commas, such as `id,event,cases`: the records have only these fields. Default: all.',
  }),
)
const count = Type.Optional(
  Type.Enum(['exact'], { description: 'Returns the number of matching records in the header `Outbreaks-Count`.' }),
)
const strict = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'With `true`, the request fails with 400 if the counts of the matching records cannot be added together, or if a filter value matches no records. The response lists the sets you can choose from, or the nearest values.',
  }),
)
const strictValues = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'With `true`, a filter value that matches no records fails with 400. Otherwise the header `Outbreaks-Warning` names it.',
  }),
)

const tableParameters = { format: formatParameter(TABLE_TYPES), columns: columnsParameter }
const recordsParameters = (dataset: Dataset) => ({ num, release, fields, count, strict, ...filterParameters(dataset) })

export const releaseQuery = Type.Object({ release })
export const offsetQuery = (dataset: Dataset) =>
  Type.Object({ offset, ...recordsParameters(dataset), release: tokenRelease })
export const cursorQuery = (dataset: Dataset) =>
  Type.Object({
    page,
    sort: Type.Optional(
      Type.Enum(sortChoices(dataset), {
        default: 'id',
        description:
          'Sort order: `id`, a date or a count. Put `-` in front for descending. Records without a value come last.',
      }),
    ),
    format: formatParameter(recordMediaTypes),
    ...recordsParameters(dataset),
  })
/** PostgreSQL is not asked, but a NUL is a mistake in any text. */
const searchText = (description: string, ...examples: string[]) =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000]*$',
    description,
    ...(examples.length > 0 && { examples }),
  })
export const eventsQuery = (dataset: Dataset) =>
  Type.Object({
    page,
    num,
    release,
    strict: strictValues,
    q: Type.Optional(
      searchText(
        'Only events that match these words, best match first. An event is found by its name and by the names of its diseases, pathogens and places.',
        'andes virus',
      ),
    ),
    ...(hasSeries(dataset)
      ? {
          sort: Type.Optional(
            Type.Enum(
              dataset.series.counts.flatMap((name) => [name, `-${name}`]),
              { description: 'A count of the headline to sort by, with `-` for the largest first. Not with `q`.' },
            ),
          ),
        }
      : {}),
    ...filterParameters(dataset),
    ...headlineRanges(dataset),
  })

/** A range of a count is about the event as a whole. */
const headlineRanges = (dataset: Dataset) =>
  Object.fromEntries(
    rangeParameters(dataset).flatMap(([name, schema]) => {
      const counted = countFields(dataset).find((field) => name === `${field.name}_min` || name === `${field.name}_max`)
      const description = `Only events whose headline has \`${counted?.name}\`, ${name.endsWith('_min') ? 'at least' : 'at most'} this number.`
      return counted === undefined ? [] : [[name, Type.Optional({ ...schema, description })]]
    }),
  )

export const searchQuery = Type.Object({
  q: searchText('What to find: a name, a synonym, or several words such as `cholera haiti 2010`.', 'ebola uganda'),
  num: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_HITS,
      default: DEFAULT_HITS,
      description: 'Maximum number of hits to return.',
    }),
  ),
  release,
})
export const facetsQuery = (dataset: Dataset) =>
  Type.Object({
    num: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_VALUES,
        default: DEFAULT_NUM,
        description: 'Maximum number of values per field.',
        examples: [10],
      }),
    ),
    release,
    ...tableParameters,
    strict: strictValues,
    ...filterParameters(dataset),
  })
const intervalOf = (description: string) =>
  Type.Enum([...INTERVALS], {
    description: `The interval: days, ISO weeks (or \`week\`), epidemiological weeks (MMWR), months or years.${description}`,
    examples: ['month'],
  })
const interval = intervalOf('')
const fittingInterval = Type.Optional(intervalOf(' Default: the finest that fits how often the records report.'))

export const coverageQuery = (dataset: Dataset) =>
  Type.Object({
    by: Type.Enum([...dataset.facets], {
      description: 'The field to count by. Each of its values is a row.',
      examples: ['country_code'],
    }),
    interval,
    release,
    ...tableParameters,
    strict: strictValues,
    ...filterParameters(dataset),
  })

const listOf = (names: readonly string[], maxItems: number, description: string) =>
  Type.Optional(Type.Array(Type.Enum([...names]), { maxItems, description }))

/** The parameters of every endpoint that makes numbers from records. */
const figureParameters = (dataset: SeriesDataset) => ({
  q: Type.Optional(
    searchText(
      'The query in words: names of a disease, a place, a pathogen, an event or a source, and a year, such as `measles united states 2025`. `understood` says what was read; a filter of the same name comes first.',
    ),
  ),
  strict: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Rejects counts that were counted in several ways instead of choosing one, and filter values that match no records.',
    }),
  ),
  across: listOf(
    acrossFields(dataset),
    acrossFields(dataset).length,
    'Fields to add up over on purpose, such as all events of a country. Can be repeated.',
  ),
  release,
  ...tableParameters,
  detail: Type.Optional(
    Type.Enum(['short', 'full'], {
      default: 'short',
      description:
        '`short`: flat rows with the counts that have values, and `flags` with what is true. `full`: every count, flag and completeness of each row, and the url of each way of counting.',
    }),
  ),
  ...figureFilters(dataset),
})
const groupedParameters = (dataset: SeriesDataset) => ({
  counts: listOf(
    dataset.series.counts,
    dataset.series.counts.length,
    'The counts in the response. The first one decides which way of counting is chosen, unless `sort` does. Default: all. Can be repeated, or have several names with commas.',
  ),
  place: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'One place, with everything in it: `world`, a WHO region (`AFR`), a UN region (`Western Africa`), a country (`US`) or a part of it (`US-CO`). Places that were reported are chosen so that none is counted twice.',
    }),
  ),
  side_by_side: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Shows every way of counting side by side, as groups, instead of choosing one. At most 20, those with the most records.',
    }),
  ),
  explain: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Lists the records behind each number, and the rule that was applied to each.',
    }),
  ),
  ...figureParameters(dataset),
})

export const seriesQuery = (dataset: SeriesDataset) =>
  Type.Object({
    interval: fittingInterval,
    group_by: listOf(groupFields(dataset), 1, 'Shows one series for each value of this field, side by side.'),
    ...measureParameters,
    ...groupedParameters(dataset),
  })
export const sumsQuery = (dataset: SeriesDataset) =>
  Type.Object({
    group_by: listOf(
      [...groupFields(dataset), ...INTERVALS],
      2,
      'One or two fields, or a field and an interval: a row for each combination of values.',
    ),
    sort: Type.Optional(
      Type.Enum(sortKeys(dataset), {
        description: 'A number to sort by, with `-` for the largest first. Default: by the values of the groups.',
      }),
    ),
    num: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20_000, description: 'The maximum number of rows. Default: all.' }),
    ),
    measures: measureParameters.measures,
    ...groupedParameters(dataset),
  })
export const vintagesQuery = (dataset: SeriesDataset) => {
  const { release: _release, ...parameters } = figureParameters(dataset)
  return Type.Object({
    interval: fittingInterval,
    count: Type.Optional(
      Type.Enum([...dataset.series.counts], {
        default: dataset.series.counts[0],
        description: 'The count to follow.',
      }),
    ),
    from: Type.Optional(reference(`The first release: ${REFERENCE_FORMS}. Default: the oldest that can be read.`, '1')),
    to: Type.Optional(reference(`The last release: ${REFERENCE_FORMS}. Default: the latest.`, LATEST)),
    ...parameters,
  })
}

/** What decides the figures of a query, without groups, words and the form of the response. */
export const feedQuery = (dataset: SeriesDataset) => {
  const names = new Set(['counts', 'place', 'across', ...Object.keys(figureFilters(dataset))])
  return Type.Object({
    format: Type.Optional(
      Type.Enum(['atom', 'json'], {
        default: 'atom',
        description: 'Atom, or JSON Feed 1.1. It comes before `Accept`, and is for programs that cannot send headers.',
      }),
    ),
    when: Type.Optional(
      Type.String({
        pattern: `^crosses:(${dataset.series.counts.join('|')}):[1-9][0-9]{0,9}$`,
        description: `Only releases in which the value rose to a number, fell below it, or became known or unknown: \`crosses:${dataset.series.counts[0]}:1000\`.`,
      }),
    ),
    archive: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: INT4_MAX,
        description:
          'Earlier releases instead of the latest ten: 1 has the releases 1 to 10, 2 those from 11 to 20. An archive exists when all of its releases do, and never changes.',
      }),
    ),
    ...Object.fromEntries(Object.entries(groupedParameters(dataset)).filter(([name]) => names.has(name))),
  })
}

export const citationQuery = (dataset: Dataset) =>
  Type.Object({
    format: Type.Optional(
      Type.Enum([...CITATION_FORMATS], {
        default: 'json',
        description: 'All formats in one JSON object, or one format as a file.',
        examples: ['json'],
      }),
    ),
    release,
    strict: strictValues,
    ...(dataset.search === undefined
      ? {}
      : {
          q: Type.Optional(
            searchText('The query in words, as for `/sums`. The title and the URL of the citation say what was read.'),
          ),
        }),
    ...filterParameters(dataset),
  })
export const listQuery = Type.Object({ page, num })
export const releasesQuery = Type.Object({ page, num, ...tableParameters })
export const emptyQuery = Type.Object({})
export const changesQuery = (dataset: Dataset) =>
  Type.Object({
    from: reference(`The earlier release: ${REFERENCE_FORMS}.`, '1'),
    to: Type.Optional(reference(`The later release: ${REFERENCE_FORMS}. Default: the latest.`, LATEST)),
    page,
    num,
    bodies: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'With `false`, each change lists only the names of the changed `fields`, not the records.',
      }),
    ),
    changed_fields: Type.Optional(
      Type.Boolean({ default: false, description: 'Adds `fields`, the names of the fields that changed.' }),
    ),
    format: formatParameter(LINE_TYPES),
    strict: strictValues,
    ...filterParameters(dataset),
  })

/** The path parameters are for the OpenAPI document; the handlers parse them. */
export const recordPath = Type.Object({ id: Type.String({ description: 'The id of a record.', examples: ['1'] }) })
export const releasePath = Type.Object({
  number: Type.String({ description: 'The number of a release, or `latest`.', examples: ['latest'] }),
})
export const filePath = (dataset: Dataset) =>
  Type.Object({
    number: Type.String({ description: 'The number of a release.', examples: ['1'] }),
    name: Type.String({ description: 'The name of a file of the release.', examples: [`${dataset.name}-1.csv.gz`] }),
  })
