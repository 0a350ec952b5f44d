// What a picture is drawn from: answers of the API, as the service has them.
import type { Counts, Series } from '../../../clients/typescript/src/client.ts'
import type { View } from '../address.ts'
import type { Properties } from '../labels.ts'

/** A count of one way of counting, with its days. */
export interface PictureTotal {
  /** How it was counted, by field and in words. */
  readonly values: Readonly<Record<string, unknown>>
  readonly words: string
  readonly first_day: string | null
  readonly last_day: string | null
  readonly counts: Readonly<Record<string, number | null>>
  /** The service recommends it. */
  readonly isChosen?: boolean
}

export type PictureSeries = Pick<
  Series,
  'interval' | 'chosen' | 'left_out' | 'left_out_total' | 'records' | 'undated' | 'points' | 'spans'
>

export interface PictureAnswer {
  /** The schema of the records: words for fields and their values. */
  readonly properties: Properties
  /** What was asked: Measles, United States, 2025. */
  readonly title: string
  readonly release: number
  readonly sources: readonly string[]
  readonly citation: string
  /** Why there is no number; null if there is one. */
  readonly refusal: string | null
  /** The first way of counting; null if there is none. */
  readonly how: PictureTotal | null
  readonly series: PictureSeries | null
  /** Each way of counting by itself; none if there is a curve. */
  readonly totals: readonly PictureTotal[]
  readonly count: keyof Counts
  readonly kind: View['kind']
  readonly isLog: boolean
}
