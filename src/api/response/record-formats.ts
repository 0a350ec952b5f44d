// The formats in which a query returns all its records as one file, by media type.
import type { Dataset } from '../../datasets/define.ts'
import type { FileEncoder } from '../../formats/file-encoder.ts'
import { createParquetEncoder } from '../../formats/parquet-encoder.ts'
import { createCsvEncoder, createGeoJsonEncoder, createNdjsonEncoder } from '../../formats/text-encoders.ts'
import type { Fields } from '../../storage/contract.ts'

interface FileContents {
  readonly dataset: Dataset
  readonly release: number
  readonly fields: Fields
}

interface RecordFormat {
  readonly contentType: string
  readonly extension: string
  readonly createEncoder: (contents: FileContents) => FileEncoder | Promise<FileEncoder>
}

/** Encoding a row group blocks the event loop for about 50 ms. */
const ROW_GROUP_SIZE = 2000

const describeContents = ({ dataset, release }: FileContents) =>
  new Map([
    ['outbreaks.dataset', dataset.name],
    ['outbreaks.release', String(release)],
  ])

export const recordFormats = {
  'text/csv': {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    createEncoder: ({ fields }) => createCsvEncoder(fields),
  },
  'application/x-ndjson': {
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    createEncoder: () => createNdjsonEncoder(),
  },
  'application/geo+json': {
    contentType: 'application/geo+json',
    extension: 'geojson',
    createEncoder: ({ release }) => createGeoJsonEncoder(release),
  },
  'application/vnd.apache.parquet': {
    contentType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    createEncoder: (contents) =>
      createParquetEncoder(contents.fields, contents.dataset.name, {
        rowGroupSize: ROW_GROUP_SIZE,
        metadata: describeContents(contents),
      }),
  },
  'application/vnd.apache.arrow.stream': {
    contentType: 'application/vnd.apache.arrow.stream',
    extension: 'arrows',
    // Loaded with the first request: the library takes 0.2 s and 20 MB.
    createEncoder: async (contents) => {
      const { createArrowEncoder } = await import('../../formats/arrow-encoder.ts')
      return createArrowEncoder(contents.fields, describeContents(contents))
    },
  },
} as const satisfies Record<string, RecordFormat>

export type RecordMediaType = keyof typeof recordFormats
export const recordMediaTypes = Object.keys(recordFormats) as RecordMediaType[]
