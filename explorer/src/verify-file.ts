// Downloads a file of a release, compares its SHA-256 with the published one, and saves it only if they agree.
import type { ReleaseFile } from '../../clients/typescript/src/client.ts'
import { api } from './ask.ts'
import { saveBlob } from './save-picture.ts'

export async function downloadFile(
  file: ReleaseFile,
  release: number,
  onProgress: (percent: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const download = await api.download(file.name.split('.').slice(-1)[0] ?? '', { release, signal })
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
