// Opens the store that the configuration names: a directory or a bucket.
import { openDirectoryStore } from './directory-store.ts'
import type { FileStore } from './file-store.ts'

/** A bucket and, optionally, the beginning of all names. */
const BUCKET_URL = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]+[a-z0-9])(?:\/(?<folder>[\w.-]+(?:\/[\w.-]+)*))?$/

export const isBucketUrl = (location: string): boolean => BUCKET_URL.test(location)

/** `location` is the absolute path of a directory, or `s3://bucket/folder`. Only a bucket has links. */
export async function openFileStore(location: string, hasLinks = false): Promise<FileStore> {
  const { bucket, folder } = BUCKET_URL.exec(location)?.groups ?? {}
  if (bucket === undefined) return openDirectoryStore(location)
  // The SDK takes long to load.
  const { openBucketStore } = await import('./bucket-store.ts')
  return openBucketStore({ bucket, folder, hasLinks })
}
