// outbreakctl release verify: reads every kept release from the database and compares it with the digest and the number of records
// that were published; the same for its files and the parts of its column index. It changes nothing.
import { createHash } from 'node:crypto'
import { type CheckedFile, checkIndexFiles } from '../columns/index-file.ts'
import { checkParts } from '../columns/parts.ts'
import type { Dataset } from '../datasets/define.ts'
import type { Progress } from '../platform/cli/progress.ts'
import type { Database } from '../platform/postgres/database.ts'
import { groupOf } from '../storage/chunk.ts'
import { type FileStore, readFingerprint } from '../storage/files/file-store.ts'
import { loadPublishedReleases, type PublishedRelease } from '../storage/published-releases.ts'
import { copySourceOf, idOf, readAllRecords } from '../storage/read-records.ts'

export type VerifiedRelease = {
  release: number
  records: number
  digest: string
  /** Empty if the release is as it was published. */
  differences: string[]
}

/** What belongs to the releases outside the database. What is not configured is left out. */
interface Places {
  readonly store: FileStore | undefined
  readonly indexDirectory: string | null
}

/** Latest first. */
export async function verifyReleases(
  database: Database,
  { store, indexDirectory }: Places,
  dataset: Dataset,
  progress: Progress,
): Promise<VerifiedRelease[]> {
  const releases = (await loadPublishedReleases(database)).get(dataset.name) ?? []
  const verified: VerifiedRelease[] = []
  const faults = await checkParts(database, dataset)
  const indexFiles = indexDirectory === null ? [] : await checkIndexFiles(indexDirectory, dataset)
  for (const release of releases.filter(({ prunedAt }) => prunedAt === null).toReversed()) {
    progress(`verifying release ${release.number}`, verified.length, releases.length)
    const found = await digestRelease(database, dataset, release.number)
    const differences = [
      ...(found.records === release.records ? [] : [`${found.records} records instead of ${release.records}`]),
      ...(found.digest === release.digest ? [] : [`digest ${found.digest} instead of ${release.digest}`]),
      ...(store === undefined ? [] : await compareFiles(store, release)),
      ...(faults.get(release.number) ?? []),
      // An index file has all releases. It is reported with the latest.
      ...(verified.length > 0 ? [] : describeFaults(indexFiles)),
    ]
    verified.push({ release: release.number, records: found.records, digest: release.digest, differences })
  }
  return verified
}

/** The digest of a release is over the digests of its groups of a hundred ids (docs/verify-a-download.md). */
async function digestRelease(database: Database, dataset: Dataset, release: number) {
  return database.transaction(async (client) => {
    const digest = createHash('sha256')
    let records = 0
    let group = 0
    let lines = createHash('sha256')
    for await (const bodies of readAllRecords(copySourceOf(client), dataset, release)) {
      for (const body of bodies) {
        const next = groupOf(idOf(body))
        if (next !== group && records > 0) {
          digest.update(lines.digest())
          lines = createHash('sha256')
        }
        group = next
        lines.update(`${body}\n`)
        records += 1
      }
    }
    if (records > 0) digest.update(lines.digest())
    return { records, digest: digest.digest('hex') }
  })
}

async function compareFiles(store: FileStore, { files }: PublishedRelease): Promise<string[]> {
  const differences: string[] = []
  for (const { name, sha256 } of files) {
    const file = await store.open(name)
    if (file === undefined) {
      differences.push(`${name} is missing`)
      continue
    }
    try {
      if ((await readFingerprint(file)).sha256 !== sha256)
        differences.push(`${name} does not match its published SHA-256`)
    } finally {
      await file.close()
    }
  }
  return differences
}

const describeFaults = (files: readonly CheckedFile[]): string[] =>
  files.flatMap(({ file, damage, unchecked }) => [
    ...(damage === undefined ? [] : [`${file} cannot be read: ${damage}`]),
    ...(unchecked === undefined ? [] : [`${file} could not be checked: ${unchecked}`]),
  ])
