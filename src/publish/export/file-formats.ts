// The formats of the files of a release. A file consists of blocks: the records of ten thousand ids each, as bytes that depend on
// nothing else. So the file of a later release can copy the blocks in which nothing changed.
import { parquetMetadataAsync } from 'hyparquet'
import { formatLine } from '../../formats/csv-line.ts'
import type { EncodableRecord } from '../../formats/file-encoder.ts'
import { createParquetEncoder, ROW_GROUP_SIZE } from '../../formats/parquet-encoder.ts'
import { CHUNK_IDS, type DeflatedText, deflateText } from '../../storage/chunk.ts'
import type { Fields } from '../../storage/contract.ts'
import { combineCrc32 } from '../../storage/crc-combine.ts'
import { endGzip, GZIP_HEADER } from '../../storage/gzip-splice.ts'

/** A block is a row group of Parquet. */
export const BLOCK_SLOTS = ROW_GROUP_SIZE / CHUNK_IDS

/** Where a block is in a file. */
export interface Block {
  /** Block 0 has the ids 1 to 10,000. */
  readonly number: number
  readonly start: number
  readonly bytes: number
  /** Of a compressed file: what the end of the file needs to know about the text. */
  readonly text?: Omit<DeflatedText, 'deflated'>
}

type EncodedBlock = Pick<Block, 'text'> & { bytes: Uint8Array }

/** The file of an earlier release. */
export interface SourceFile {
  readonly blocks: ReadonlyMap<number, Block>
  readonly byteLength: number
  /** The bytes from `start` to `end` (exclusive). */
  read(start: number, end?: number): AsyncIterable<Buffer>
}

/** Blocks are encoded or copied in ascending order. */
export interface BlockWriter {
  /** The bytes before the first block. */
  begin(): Promise<Uint8Array>
  encode(records: readonly EncodableRecord[]): Promise<EncodedBlock>
  /** The bytes of a block of the source come next. */
  copy(block: Block): void
  end(): Uint8Array
}

interface FileFormat {
  readonly extension: string
  readonly mediaType: string
  createWriter(fields: Fields, name: string, source: SourceFile | undefined): Promise<BlockWriter>
}

const formatLines = (records: readonly EncodableRecord[]) => records.map(({ body }) => `${body}\n`).join('')
const formatRows = (records: readonly EncodableRecord[]) => records.map(({ values }) => formatLine(values)).join('')

export const fileFormats: readonly FileFormat[] = [
  {
    extension: 'csv.gz',
    mediaType: 'application/gzip',
    createWriter: async (fields) => createGzipWriter(formatLine(fields.map(({ name }) => name)), formatRows),
  },
  {
    extension: 'ndjson.gz',
    mediaType: 'application/gzip',
    createWriter: async () => createGzipWriter('', formatLines),
  },
  {
    extension: 'parquet',
    mediaType: 'application/vnd.apache.parquet',
    createWriter: createParquetWriter,
  },
]

/** The usual level of gzip. Measured: the next ones take longer and save less than 2%. */
const LEVEL = 6

/** One member, because browsers read only the first one of a file. */
function createGzipWriter(header: string, format: (records: readonly EncodableRecord[]) => string): BlockWriter {
  let crc = 0
  let length = 0
  async function encodeText(text: string): Promise<Required<EncodedBlock>> {
    const { deflated, ...encoded } = await deflateText(text, LEVEL)
    count(encoded)
    return { bytes: deflated, text: encoded }
  }
  function count({ bytes, crc32 }: NonNullable<Block['text']>): void {
    crc = combineCrc32(crc, crc32, bytes)
    length += bytes
  }
  return {
    begin: async () => Buffer.concat([GZIP_HEADER, (await encodeText(header)).bytes]),
    encode: (records) => encodeText(format(records)),
    copy({ number, text }) {
      if (text === undefined) throw new Error(`block ${number} of a compressed file has no checksum`)
      count(text)
    },
    end: () => endGzip(crc, length),
  }
}

async function createParquetWriter(fields: Fields, name: string, source?: SourceFile): Promise<BlockWriter> {
  const encoder = createParquetEncoder(fields, name)
  const groups = source === undefined ? new Map() : await readRowGroups(source)
  return {
    begin: () => Promise.resolve(encoder.add([])),
    encode: (records) => Promise.resolve({ bytes: Buffer.concat([encoder.add(records), encoder.endGroup()]) }),
    copy: ({ number, start, bytes }) => encoder.copyGroup(groups.get(number), start, bytes),
    end: () => encoder.end(),
  }
}

/** The row groups of a file by the number of their block. */
async function readRowGroups({ blocks, byteLength, read }: SourceFile) {
  async function slice(start: number, end?: number): Promise<ArrayBuffer> {
    const bytes = Buffer.concat(await Array.fromAsync(read(start, end)))
    return new Uint8Array(bytes).buffer
  }
  const { row_groups } = await parquetMetadataAsync({ byteLength, slice })
  if (row_groups.length !== blocks.size) throw new Error(`${row_groups.length} row groups instead of ${blocks.size}`)
  return new Map([...blocks.keys()].map((number, i) => [number, row_groups[i]]))
}
