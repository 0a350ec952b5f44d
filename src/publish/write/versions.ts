// Writes versions and keys to the database in blocks, with COPY, while the caller prepares the next block.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { escapeCopy } from '../../storage/serialise-record.ts'
import { NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import type { NewVersion } from './compare.ts'

/** About a thousand versions. */
const BLOCK_BYTES = 1 << 16
/** The maximum number of UTF-8 bytes for one unit of a JavaScript string. */
const MAX_UTF8_BYTES = 3

export function createVersionWriter(client: PoolClient, dataset: Dataset, release: number) {
  const { version, key } = tablesOf(dataset)
  const versions = createLineBuffer()
  const keys = createLineBuffer()
  let replaced: number[] = []
  let pendingWrite: Promise<void> = Promise.resolve()

  async function writeBlock(closing: number[], newVersions: Buffer, newKeys: Buffer): Promise<void> {
    await closeVersions(client, dataset, release, closing)
    await copyIn(
      client,
      sql`copy ${version} (id, from_release, revision, first_release, content_hash) from stdin`,
      newVersions,
    )
    if (newKeys.length > 0) await copyIn(client, sql`copy ${key} (key, id) from stdin`, newKeys)
  }

  /** Waits for the previous block and starts to write the current one. */
  async function flush(): Promise<void> {
    await pendingWrite
    if (versions.bytes() === 0) return
    pendingWrite = writeBlock(replaced, versions.take(), keys.take())
    // The next flush awaits it and throws; until then this prevents an unhandled rejection.
    pendingWrite.catch(() => {})
    replaced = []
  }

  return {
    async add(added: readonly NewVersion[]): Promise<void> {
      for (const newVersion of added) {
        const { id, newKey, replaces } = newVersion
        if (replaces) replaced.push(id)
        if (newKey !== null) keys.add(`${escapeCopy(newKey)}\t${id}\n`)
        versions.add(copyLine(newVersion, release))
      }
      if (versions.bytes() >= BLOCK_BYTES) await flush()
    },
    async end(): Promise<void> {
      await flush()
      await pendingWrite
    },
    /** Waits for the block that is being written and ignores its error. */
    async stop(): Promise<void> {
      await pendingWrite.catch(() => {})
    },
  }
}

/** Closes the current versions of these records. */
export async function closeVersions(client: PoolClient, dataset: Dataset, release: number, ids: readonly number[]) {
  if (ids.length === 0) return
  await client.query(sql`
    update ${tablesOf(dataset).version} set to_release = ${release}
    where id = any(${ids}::bigint[]) and to_release = ${NO_END_RELEASE}`)
}

/** Closes the current versions of these records and begins new ones of the same content. */
export async function renewVersions(client: PoolClient, dataset: Dataset, release: number, ids: readonly number[]) {
  const { version } = tablesOf(dataset)
  await client.query(sql`
    with closed as (
      update ${version} set to_release = ${release}
      where id = any(${ids}::bigint[]) and to_release = ${NO_END_RELEASE}
      returning id, revision, first_release, content_hash
    )
    insert into ${version} (id, from_release, revision, first_release, content_hash)
    select id, ${release}, revision + 1, first_release, content_hash from closed`)
}

export async function copyIn(client: PoolClient, statement: Sql, lines: Buffer): Promise<void> {
  await pipeline(Readable.from([lines], { objectMode: false }), client.query(copyFrom(statement.text)))
}

const copyLine = ({ id, revision, firstRelease, contentHash }: NewVersion, release: number): string =>
  `${id}\t${release}\t${revision}\t${firstRelease}\t\\\\x${contentHash}\n`

/** Collects lines as bytes. Measured: joining them as text first takes twice the time. */
function createLineBuffer() {
  let block = Buffer.allocUnsafe(1 << 16)
  let used = 0
  return {
    bytes: () => used,
    add(line: string) {
      const needed = line.length * MAX_UTF8_BYTES
      if (needed > block.length - used) {
        const larger = Buffer.allocUnsafe(Math.max(block.length * 2, used + needed))
        block.copy(larger, 0, 0, used)
        block = larger
      }
      used += block.write(line, used)
    },
    take(): Buffer {
      const taken = block.subarray(0, used)
      block = Buffer.allocUnsafe(block.length)
      used = 0
      return taken
    },
  }
}
