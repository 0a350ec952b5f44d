// The parameters of a picture: a query as for /series, and how it is drawn.
import { type TSchema, Type } from 'typebox'
import type { Interval } from '../../methods/calendar.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { figureFilters } from '../figures/figure-request.ts'
import { seriesQuery } from '../requests/parameters.ts'
import type { FiguresQuery } from '../requests/prepare-figures.ts'
import { THEMES, type Theme } from './drawing.ts'

export const DEFAULT_WIDTH = 800

export interface PictureQuery extends FiguresQuery {
  readonly interval?: Interval
  readonly kind?: 'new' | 'cumulative'
  readonly scale?: 'linear' | 'log'
  readonly theme?: Theme
}

/** Those of /series that choose what is counted. */
const ASKED = ['interval', 'counts', 'place', 'side_by_side', 'q', 'strict', 'across', 'release']

function questionParameters(dataset: SeriesDataset): Record<string, TSchema> {
  const names = new Set([...ASKED, ...Object.keys(figureFilters(dataset))])
  const parameters = Object.entries(seriesQuery(dataset).properties as Record<string, TSchema>)
  return {
    ...Object.fromEntries(parameters.filter(([name]) => names.has(name))),
    kind: Type.Optional(
      Type.Enum(['new', 'cumulative'], { default: 'new', description: 'What the bars of a curve are.' }),
    ),
    scale: Type.Optional(
      Type.Enum(['linear', 'log'], { default: 'linear', description: 'The scale of the counts of a curve.' }),
    ),
  }
}

export const pictureQuery = (dataset: SeriesDataset) =>
  Type.Object({
    ...questionParameters(dataset),
    format: Type.Optional(Type.Enum(['svg'], { default: 'svg', description: 'The format of the picture.' })),
    width: Type.Optional(
      Type.Integer({
        minimum: 320,
        maximum: 1600,
        default: DEFAULT_WIDTH,
        description: 'The width in pixels. The height follows from what is drawn.',
      }),
    ),
    theme: Type.Optional(Type.Enum([...THEMES], { default: 'light', description: 'The colours.' })),
  })

export const embedQuery = (dataset: SeriesDataset) =>
  Type.Object({
    ...questionParameters(dataset),
    theme: Type.Optional(
      Type.Enum([...THEMES], { description: "The colours. Default: as the reader's browser is set." }),
    ),
  })
