// Encodes records as text: CSV (RFC 4180), NDJSON and GeoJSON (RFC 7946).
import type { FieldValue } from '../datasets/define.ts'
import type { Fields } from '../storage/contract.ts'
import { formatLine } from './csv-line.ts'
import type { EncodableRecord, FileEncoder } from './file-encoder.ts'

const NO_BYTES = new Uint8Array()

export function createNdjsonEncoder(): FileEncoder<Pick<EncodableRecord, 'body'>> {
  return {
    add: (records) => Buffer.from(records.map(({ body }) => `${body}\n`).join('')),
    end: () => NO_BYTES,
  }
}

/** Without a byte order mark: R in the C locale and Python's csv module would make it part of the first name. */
export function createCsvEncoder(fields: Fields): FileEncoder {
  const takeHeader = takeOnce(formatLine(fields.map(({ name }) => name)))
  return {
    add: (records) => Buffer.from(takeHeader() + records.map(({ values }) => formatLine(values)).join('')),
    end: () => Buffer.from(takeHeader()),
  }
}

/**
 * A FeatureCollection with one feature for each record. The position comes from the complete record, whichever fields are
 * selected; a record without coordinates has a null geometry. The member after the features states how many there are, so
 * that a reader of the file alone can check it.
 */
export function createGeoJsonEncoder(release: number): FileEncoder {
  const takeHead = takeOnce('{"type":"FeatureCollection","features":[\n')
  let written = 0
  const writeFeature = (record: EncodableRecord) => `${written++ === 0 ? '' : ',\n'}${formatFeature(record)}`
  return {
    add: (records) => Buffer.from(takeHead() + records.map(writeFeature).join('')),
    end: () =>
      Buffer.from(`${takeHead()}\n],"outbreaks":{"release":${release},"records":${written},"complete":true}}\n`),
  }
}

function formatFeature({ body, record }: EncodableRecord): string {
  const { id, latitude = null, longitude = null } = record
  const geometry = formatPoint(longitude, latitude)
  return `{"type":"Feature","id":${JSON.stringify(id)},"geometry":${geometry},"properties":${body}}`
}

/** RFC 7946, 3.1.1: longitude, then latitude. */
const formatPoint = (longitude: FieldValue, latitude: FieldValue): string =>
  longitude === null || latitude === null
    ? 'null'
    : JSON.stringify({ type: 'Point', coordinates: [longitude, latitude] })

/** Gives the text once, then nothing. */
function takeOnce(text: string): () => string {
  let remaining = text
  return () => {
    const taken = remaining
    remaining = ''
    return taken
  }
}
