// Stores the files of releases in a bucket of S3, or of a store with the same API. S3 shows an object only when it is
// complete. Large files are uploaded in parts; S3 compares the SHA-256 of each part.
import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type CompletedPart, GetObjectCommand, NotFound, S3 } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { Problem } from '../../platform/problem.ts'
import { type FileDraft, type FileStore, requireFileName, withOperatorError } from './file-store.ts'

/** S3 allows 10,000 parts, so a file has at most 160 GB. */
const PART_BYTES = 1 << 24
/** S3 allows so many names in a request. */
const MOST_REMOVED = 1000
const LINK_SECONDS = 300
const CONNECT_TIMEOUT_MS = 3000
/** Without a byte of the response. */
const IDLE_TIMEOUT_MS = 20_000
const ATTEMPTS = 3

interface BucketOptions {
  readonly bucket: string
  /** The beginning of all names. */
  readonly folder: string | undefined
  /** Whether downloads are redirected to the bucket. */
  readonly hasLinks: boolean
}

/** Credentials, region and endpoint are those of the environment, as for all programs that use the SDK. */
export function openBucketStore({ bucket: Bucket, folder, hasLinks }: BucketOptions): FileStore {
  const s3 = new S3({
    // Stores other than that of AWS rarely have a host name for each bucket.
    forcePathStyle: Boolean(process.env['AWS_ENDPOINT_URL_S3'] ?? process.env['AWS_ENDPOINT_URL']),
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
  })

  function locate(name: string) {
    requireFileName(name)
    return { Bucket, Key: folder === undefined ? name : `${folder}/${name}` }
  }

  /** The parts that a killed writer has left take space until they are removed. */
  async function removeUnfinished(target: { Bucket: string; Key: string }): Promise<void> {
    const { Uploads = [] } = await s3.listMultipartUploads({ Bucket, Prefix: target.Key })
    for (const { Key, UploadId } of Uploads)
      if (Key === target.Key) await s3.abortMultipartUpload({ ...target, UploadId })
  }

  const findObject = (target: { Bucket: string; Key: string }) =>
    s3.headObject(target).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined
      throw new Problem('unavailable', 'The file storage does not respond. Try again in 1 s.', { cause: error })
    })

  async function* readRange(target: { Bucket: string; Key: string; IfMatch: string }, start: number, end: number) {
    if (start === end) return
    const { Body } = await s3.getObject({ ...target, Range: `bytes=${start}-${end - 1}` })
    let rest = end - start
    for await (const chunk of Body as Readable) {
      rest -= (chunk as Buffer).length
      yield chunk as Buffer
    }
    if (rest !== 0) throw new Error(`${target.Key} ends ${rest} bytes before byte ${end}`)
  }

  return {
    async create(name) {
      const target = locate(name)
      await withOperatorError(name, () => removeUnfinished(target))
      return createDraft(s3, name, target)
    },

    async open(name) {
      const target = locate(name)
      const found = await findObject(target)
      if (found === undefined) return undefined
      const { ContentLength: bytes = 0, ETag = '' } = found
      return {
        bytes,
        stamp: `${bytes} ${ETag}`,
        read: (start, end) => Readable.from(readRange({ ...target, IfMatch: ETag }, start, end), { objectMode: false }),
        close: () => Promise.resolve(),
      }
    },

    async remove(names) {
      let removed = 0
      for (let first = 0; first < names.length; first += MOST_REMOVED) {
        const Objects: { Key: string }[] = []
        // S3 reports an object that does not exist as deleted.
        for (const name of names.slice(first, first + MOST_REMOVED))
          if ((await findObject(locate(name))) !== undefined) Objects.push({ Key: locate(name).Key })
        if (Objects.length === 0) continue
        const { Errors = [] } = await s3.deleteObjects({ Bucket, Delete: { Objects, Quiet: true } })
        if (Errors[0] !== undefined) throw new Error(`${Errors[0].Key} could not be removed: ${Errors[0].Message}`)
        removed += Objects.length
      }
      return removed
    },

    async createLink(name, mediaType) {
      if (!hasLinks) return null
      const command = new GetObjectCommand({
        ...locate(name),
        ResponseContentType: mediaType,
        ResponseContentDisposition: `attachment; filename="${name}"`,
      })
      return getSignedUrl(s3, command, { expiresIn: LINK_SECONDS })
    },
  }
}

function createDraft(s3: S3, name: string, target: { Bucket: string; Key: string }): FileDraft {
  const digest = createHash('sha256')
  let bytes = 0
  const buffer = Buffer.allocUnsafe(PART_BYTES)
  let filled = 0
  let UploadId: string | undefined
  const Parts: CompletedPart[] = []

  async function uploadPart(): Promise<void> {
    UploadId ??= (await s3.createMultipartUpload({ ...target, ChecksumAlgorithm: 'SHA256' })).UploadId
    const Body = buffer.subarray(0, filled)
    const part = { PartNumber: Parts.length + 1, ChecksumSHA256: hash('sha256', Body, 'base64') }
    const { ETag } = await s3.uploadPart({ ...target, ...part, UploadId, Body })
    Parts.push({ ...part, ETag })
    filled = 0
  }

  return {
    write: (chunk) =>
      withOperatorError(name, async () => {
        digest.update(chunk)
        bytes += chunk.length
        for (let start = 0; start < chunk.length; ) {
          if (filled === PART_BYTES) await uploadPart()
          const taken = chunk.subarray(start, start + PART_BYTES - filled)
          buffer.set(taken, filled)
          filled += taken.length
          start += taken.length
        }
      }),
    finish: () =>
      withOperatorError(name, async () => {
        if (UploadId !== undefined) await uploadPart()
        return { bytes, sha256: digest.digest('hex') }
      }),
    commit: () =>
      withOperatorError(name, async () => {
        if (UploadId !== undefined) {
          await s3.completeMultipartUpload({ ...target, UploadId, MultipartUpload: { Parts } })
        } else {
          const Body = buffer.subarray(0, filled)
          await s3.putObject({ ...target, Body, ChecksumSHA256: hash('sha256', Body, 'base64') })
        }
      }),
    async discard() {
      if (UploadId !== undefined) await s3.abortMultipartUpload({ ...target, UploadId }).catch(() => {})
    },
  }
}
