// New versions on their way into the database: closed, added and given their keys by the block, while the next is made.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { escapeCopy, escapeJsonCopy, serialiseBody } from '../../storage/serialise-record.ts'
import { contentColumns, OPEN, tablesOf } from '../../storage/tables.ts'
import type { NewVersion } from './compare.ts'

const BLOCK_BYTES = 1 << 22
/** Bytes that one unit of a JavaScript string takes at the most. */
const LONGEST_UTF8 = 3

export function createVersionWriter(client: PoolClient, dataset: Dataset, release: number) {
  const { version, key } = tablesOf(dataset)
  const columns = join(contentColumns(dataset))
  const versions = createLines()
  const keys = createLines()
  let replaced: number[] = []
  let written: Promise<void> = Promise.resolve()

  async function writeBlock(closing: number[], newVersions: Buffer, newKeys: Buffer): Promise<void> {
    await closeVersions(client, dataset, release, closing)
    await copyIn(
      client,
      sql`copy ${version} (id, from_release, ${columns}, revision, first_release, last_release, content_sha256, body) from stdin`,
      newVersions,
    )
    if (newKeys.length > 0) await copyIn(client, sql`copy ${key} (key, id) from stdin`, newKeys)
  }

  /** Waits for the block before; the one handed over is written while the caller goes on. */
  async function flush(): Promise<void> {
    await written
    if (versions.bytes() === 0) return
    written = writeBlock(replaced, versions.take(), keys.take())
    // Awaited by the next flush: until then a failure is not an unhandled one.
    written.catch(() => {})
    replaced = []
  }

  return {
    async add(added: readonly NewVersion[]): Promise<void> {
      for (const made of added) {
        if (made.replaces) replaced.push(made.id)
        if (made.newKey !== null) keys.add(`${escapeCopy(made.newKey)}\t${made.id}\n`)
        versions.add(copyLine(made, release))
      }
      if (versions.bytes() >= BLOCK_BYTES) await flush()
    },
    async end(): Promise<void> {
      await flush()
      await written
    },
    /** Waits until nothing is being written any more, whatever became of it. */
    async stop(): Promise<void> {
      await written.catch(() => {})
    },
  }
}

/** Ends the open versions of these records. */
export async function closeVersions(client: PoolClient, dataset: Dataset, release: number, ids: readonly number[]) {
  if (ids.length === 0) return
  await client.query(sql`
    update ${tablesOf(dataset).version} set to_release = ${release}
    where id = any(${ids}::bigint[]) and to_release = ${OPEN}`)
}

export async function copyIn(client: PoolClient, statement: Sql, lines: Buffer): Promise<void> {
  await pipeline(Readable.from([lines], { objectMode: false }), client.query(copyFrom(statement.text)))
}

function copyLine({ row, content, contentSha256, id, revision, firstRelease }: NewVersion, release: number): string {
  const body = serialiseBody(content, { id, revision, firstRelease, lastRelease: release })
  let line = `${id}\t${release}`
  for (const cell of row.cells) line += `\t${cell.copy}`
  return `${line}\t${revision}\t${firstRelease}\t${release}\t\\\\x${contentSha256}\t${escapeJsonCopy(body)}\n`
}

/** Lines as bytes. Written one by one: joining them as text first costs twice the time. */
function createLines() {
  let block = Buffer.allocUnsafe(1 << 16)
  let used = 0
  return {
    bytes: () => used,
    add(line: string) {
      const room = line.length * LONGEST_UTF8
      if (room > block.length - used) {
        const larger = Buffer.allocUnsafe(Math.max(block.length * 2, used + room))
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
