// A file is verified once before it is sent, also for concurrent requests. A file that differs from the published one is never sent.
import assert from 'node:assert/strict'
import { readFile, rename, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { FileStore } from '../../../src/storage/files/file-store.ts'
import { assertAllClosed, assertProblem, CSV, openDownloads } from '../../fixtures/downloads.ts'
import { waitUntil } from '../../fixtures/operate/program.ts'

describe('a damaged file is never sent', async () => {
  const downloads = await openDownloads()
  before(() => downloads.export())
  const damages: [description: string, damage: (file: string) => Promise<void>, reason: RegExp][] = [
    ['a changed byte', async (file) => writeFile(file, (await readFile(file)).fill(0x20, 100, 101)), /has the SHA-256/],
    ['a truncated file', (file) => truncate(file, 100), /has 100 bytes instead of/],
    ['a deleted file', unlink, /is not in the store/],
  ]
  for (const [description, damage, reason] of damages) {
    test(`500 for ${description} with the reason in the log; after a new export it is 200`, async () => {
      assert.equal((await downloads.get(CSV)).status, 200)
      await damage(downloads.pathOf(CSV))
      for (const method of ['GET', 'GET', 'HEAD']) {
        const response = await downloads.get(CSV, {}, method)
        if (method === 'GET')
          assert.match(
            await assertProblem(response, 500, 'file_damaged'),
            /^The copy of hed-outbreaks-1\.csv\.gz on this node/,
          )
        else assert.equal(response.status, 500)
      }
      assert.match(downloads.logged(), new RegExp(`hed-outbreaks-1\\.csv\\.gz ${reason.source}`))
      assert.equal((await downloads.get('hed-outbreaks-1.ndjson.gz')).status, 200)
      await downloads.export()
      assert.equal((await downloads.get(CSV)).status, 200)
      await assertAllClosed(downloads)
    })
  }

  test('500 for an empty store', async () => {
    await rename(downloads.directory, `${downloads.directory}-away`)
    await assertProblem(await downloads.get(CSV), 500, 'file_damaged')
    await rename(`${downloads.directory}-away`, downloads.directory)
    assert.equal((await downloads.get(CSV)).status, 200)
  })
})

/** Counts the reads of files, and delays them while they are held. */
function createSlowStore() {
  let reads = 0
  let gate = Promise.resolve()
  const wrapStore = (store: FileStore): FileStore => ({
    ...store,
    async open(name) {
      const file = await store.open(name)
      return (
        file && {
          ...file,
          read(start, end) {
            reads++
            const stream = file.read(start, end)
            const push = stream._read.bind(stream)
            stream._read = (size) => void gate.then(() => push(size))
            return stream
          },
        }
      )
    },
  })
  /** Returns what ends the delay. */
  function hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }
  return { wrapStore, hold, reads: () => reads }
}

describe('a file is verified once', async () => {
  const { wrapStore, hold, reads } = createSlowStore()
  const downloads = await openDownloads({ wrapStore })
  const heads = (count: number) => Promise.all(Array.from({ length: count }, () => downloads.get(CSV, {}, 'HEAD')))
  const statuses = async (count: number) => (await heads(count)).map(({ status }) => status)
  before(() => downloads.export())

  test('for concurrent requests, and not again while it is unchanged', async () => {
    const release = hold()
    const pending = statuses(20)
    await wait(100)
    release()
    assert.deepEqual(new Set(await pending), new Set([200]))
    assert.deepEqual(await statuses(3), [200, 200, 200])
    assert.equal(reads(), 1)
  })

  test('and again after its modification time has changed', async () => {
    await utimes(downloads.pathOf(CSV), new Date(), new Date(1000))
    assert.deepEqual(await statuses(3), [200, 200, 200])
    assert.equal(reads(), 2)
  })

  test('also if it is damaged', async () => {
    const good = await readFile(downloads.pathOf(CSV))
    await writeFile(downloads.pathOf(CSV), Buffer.from(good).fill(0x20, 100, 101))
    assert.deepEqual(await statuses(3), [500, 500, 500])
    assert.deepEqual(await statuses(1), [500])
    assert.equal(reads(), 3)
    await writeFile(downloads.pathOf(CSV), good)
    assert.deepEqual(await statuses(1), [200])
    assert.equal(reads(), 4)
  })
})

test('503 for a request that waits too long for the verification, which continues', async () => {
  const { wrapStore, hold, reads } = createSlowStore()
  const downloads = await openDownloads({ wrapStore, checkTimeoutMs: 300 })
  await downloads.export()
  const release = hold()
  const response = await downloads.get(CSV)
  assert.equal(response.headers.get('retry-after'), '1')
  assert.match(await assertProblem(response, 503, 'unavailable'), /still being verified/)
  release()
  await waitUntil('the file is verified', async () => (await downloads.get(CSV, {}, 'HEAD')).status === 200)
  assert.equal(reads(), 1)
  await assertAllClosed(downloads)
})

test('503 for a file that is replaced or deleted between verification and sending; the next request is 200', async () => {
  const changes: ((file: string) => Promise<void>)[] = [
    (file) => utimes(file, new Date(), new Date(1000)),
    (file) => rename(file, `${file}.away`),
  ]
  let opened = 0
  let change: () => Promise<void> = async () => {}
  const changing = (store: FileStore): FileStore => ({
    ...store,
    async open(name) {
      if (++opened === 2) await change()
      return store.open(name)
    },
  })
  const downloads = await openDownloads({ wrapStore: changing })
  await downloads.export()
  for (const next of changes) {
    opened = 0
    change = () => next(downloads.pathOf(CSV))
    await utimes(downloads.pathOf(CSV), new Date(), new Date(3000))
    assert.match(await assertProblem(await downloads.get(CSV), 503, 'unavailable'), /is being replaced/)
    await rename(`${downloads.pathOf(CSV)}.away`, downloads.pathOf(CSV)).catch(() => {})
    assert.equal((await downloads.get(CSV)).status, 200)
  }
  await assertAllClosed(downloads)
})
