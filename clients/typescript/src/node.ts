// Files on the disk of a Node program: downloads and copies that get their name only when they are complete and verified.
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Outbreaks, ReleaseReference } from './client.ts'
import { type ChangeCounts, readLines } from './copy.ts'
import type { DownloadOptions } from './download.ts'
import { Damaged } from './errors.ts'

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )

/** So that the name never points to bytes that a power failure loses. */
async function renameDurably(from: string, to: string): Promise<void> {
  const file = await open(from, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(from, to)
}

/**
 * Downloads a file of a release to `target`. Goes on with what an interrupted download left in `target.part`; if that is of
 * another file, the download starts again. CSV and NDJSON are published compressed: they are decompressed unless `target` ends
 * with `.gz`. Returns the SHA-256 of the published file.
 */
export async function saveFile(
  client: Outbreaks,
  format: string,
  target: string,
  options: DownloadOptions & { release?: ReleaseReference } = {},
): Promise<string> {
  const part = `${target}.part`
  const download = await client.download(format, options)
  await mkdir(path.dirname(path.resolve(target)), { recursive: true })
  const isResumed = (await sizeOf(part)) > 0
  const appendTo = (have: AsyncIterable<Uint8Array> | Uint8Array[]) =>
    pipeline(download.after(have), createWriteStream(part, { flags: 'a' }))
  const removeDamaged = async (error: unknown) => {
    if (error instanceof Damaged) await rm(part, { force: true })
    throw error
  }
  try {
    await appendTo(isResumed ? createReadStream(part) : []).catch(removeDamaged)
  } catch (error) {
    if (!isResumed || !(error instanceof Damaged)) throw error
    await appendTo([]).catch(removeDamaged)
  }
  if (!download.name.endsWith('.gz') || target.endsWith('.gz')) await renameDurably(part, target)
  else await decompress(part, target)
  return download.sha256
}

async function decompress(part: string, target: string): Promise<void> {
  const decompressed = `${target}.new`
  await pipeline(createReadStream(part), createGunzip(), createWriteStream(decompressed))
  await renameDurably(decompressed, target)
  await rm(part)
}

/**
 * Brings a copy (the NDJSON file of release `from`, decompressed) up to date with release `to`, the latest by default. The file is replaced
 * only if its digest is the published one.
 */
export async function updateCopy(
  client: Outbreaks,
  file: string,
  { from, to, signal }: { from: number; to?: ReleaseReference; signal?: AbortSignal },
): Promise<ChangeCounts> {
  const counts = { added: 0, corrected: 0, withdrawn: 0 }
  const updated = `${file}.new`
  const lines = client.update(readLines(createReadStream(file)), {
    from,
    counts,
    signal,
    ...(to === undefined ? {} : { to }),
  })
  try {
    await pipeline(withLineEnds(lines), createWriteStream(updated))
  } catch (error) {
    await rm(updated, { force: true })
    throw error
  }
  await renameDurably(updated, file)
  return counts
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}
