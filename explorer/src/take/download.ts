// Downloads a file, checks that it is complete, and only then saves it: a file of a release by its SHA-256, a file of a question
// by the number of its records.
import type { ReleaseFile } from '../../../clients/typescript/src/client.ts'
import { toError } from '../../../clients/typescript/src/errors.ts'
import { api } from '../ask.ts'
import { formatNumber } from '../format.ts'
import { type Parameters, toKey } from '../requests.ts'
import { countRecords, FORMATS, type Format } from './count-records.ts'
import { saveBlob } from './save-blob.ts'

/** Long enough for a whole release through a slow connection. */
const TIMEOUT_MS = 3_600_000

/** Resolves with the SHA-256. */
export async function downloadFile(
  file: ReleaseFile,
  release: number,
  onProgress: (percent: number) => void,
): Promise<string> {
  const format = file.name.slice(file.name.indexOf('.') + 1)
  const download = await api.download(format, { release, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const parts: BlobPart[] = []
  let bytes = 0
  // The iteration fails if the SHA-256 is another one.
  for await (const part of download) {
    parts.push(part as BlobPart)
    bytes += part.length
    onProgress(Math.floor((100 * bytes) / file.bytes))
  }
  saveBlob(new Blob(parts, { type: file.media_type }), file.name)
  return download.sha256
}

/** The file has not as many records as the service announced. */
export class Incomplete extends Error {}

/** Resolves with the number of records. */
export async function downloadRecords(format: Format, filters: Parameters, release: number): Promise<number> {
  const parameters = [...filters, ['release', String(release)], ['count', 'exact']] as const
  const response = await fetch(`/v2/hed-outbreaks/outbreaks?${toKey(parameters)}`, {
    headers: { accept: FORMATS[format] },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw toError({ status: response.status, body: await response.text() })
  const announced = Number(response.headers.get('outbreaks-count') ?? Number.NaN)
  const file = await response.blob()
  const records = await countRecords(format, file).catch(() => null)
  if (records !== announced)
    throw new Incomplete(
      `${records === null ? 'an unknown number of' : formatNumber(records)} records instead of ${formatNumber(announced)}`,
    )
  saveBlob(file, `outbreaks-${release}.${format.toLowerCase()}`)
  return records
}

/** The answer to a question as CSV, as the service writes it. */
export async function downloadCsv(path: string, name: string): Promise<void> {
  const response = await fetch(`/v2/hed-outbreaks/${path}`, {
    headers: { accept: FORMATS.CSV },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw toError({ status: response.status, body: await response.text() })
  saveBlob(await response.blob(), name)
}
