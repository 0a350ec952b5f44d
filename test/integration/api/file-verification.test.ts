// Never a file that is not what was published: it is read through before it is sent, once, by all who wait for it.
import assert from 'node:assert/strict'
import { readFile, rename, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { FileStore } from '../../../src/storage/file-store.ts'
import { assertAllClosed, assertProblem, CSV, openDownloads } from '../../fixtures/downloads.ts'

describe('a damaged file is never sent', async () => {
  const here = await openDownloads()
  before(() => here.export())
  const damages: [what: string, plant: (file: string) => Promise<void>, reason: RegExp][] = [
    ['a changed byte', async (file) => writeFile(file, (await readFile(file)).fill(0x20, 100, 101)), /has the SHA-256/],
    ['a truncated file', (file) => truncate(file, 100), /has 100 bytes instead of/],
    ['a file that is gone', unlink, /is not in the store/],
  ]
  for (const [what, plant, reason] of damages) {
    test(`500 for ${what}, the log says which; once it is written again it is sent`, async () => {
      assert.equal((await here.get(CSV)).status, 200)
      await plant(here.pathOf(CSV))
      for (const method of ['GET', 'GET', 'HEAD']) {
        const response = await here.get(CSV, {}, method)
        if (method === 'GET')
          assert.match(await assertProblem(response, 500, 'file_damaged'), /^hed-outbreaks-1\.csv is not/)
        else assert.equal(response.status, 500)
      }
      assert.match(here.logged(), new RegExp(`hed-outbreaks-1\\.csv ${reason.source}`))
      assert.equal((await here.get('hed-outbreaks-1.ndjson')).status, 200)
      await here.export()
      assert.equal((await here.get(CSV)).status, 200)
      await assertAllClosed(here)
    })
  }

  test('500 for an empty store', async () => {
    await rename(here.directory, `${here.directory}-away`)
    await assertProblem(await here.get(CSV), 500, 'file_damaged')
    await rename(`${here.directory}-away`, here.directory)
    assert.equal((await here.get(CSV)).status, 200)
  })
})

describe('a file is read through once', async () => {
  let readings = 0
  let gate = Promise.resolve()
  /** Counts the readings of the whole, and holds them up. */
  const slow = (store: FileStore): FileStore => ({
    ...store,
    async open(name) {
      const file = await store.open(name)
      return (
        file && {
          ...file,
          read(start, end) {
            readings++
            const stream = file.read(start, end)
            const push = stream._read.bind(stream)
            stream._read = (size) => void gate.then(() => push(size))
            return stream
          },
        }
      )
    },
  })
  const here = await openDownloads({ wrapStore: slow, checkTimeoutMs: 300 })
  const heads = (count: number) => Promise.all(Array.from({ length: count }, () => here.get(CSV, {}, 'HEAD')))
  const statuses = async (count: number) => (await heads(count)).map(({ status }) => status)
  before(() => here.export())

  test('by all who ask together, and never again while it is the same', async () => {
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const asked = statuses(20)
    await wait(100)
    open()
    assert.deepEqual(new Set(await asked), new Set([200]))
    assert.deepEqual(await statuses(3), [200, 200, 200])
    assert.equal(readings, 1)
  })

  test('and once more when its time has changed', async () => {
    await utimes(here.pathOf(CSV), new Date(), new Date(1000))
    assert.deepEqual(await statuses(3), [200, 200, 200])
    assert.equal(readings, 2)
  })

  test('a damaged one is not read again either', async () => {
    const good = await readFile(here.pathOf(CSV))
    await writeFile(here.pathOf(CSV), Buffer.from(good).fill(0x20, 100, 101))
    assert.deepEqual(await statuses(3), [500, 500, 500])
    assert.deepEqual(await statuses(1), [500])
    assert.equal(readings, 3)
    await writeFile(here.pathOf(CSV), good)
    assert.deepEqual(await statuses(1), [200])
    assert.equal(readings, 4)
  })

  test('503 for who waited too long; the reading goes on without them', async () => {
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    await utimes(here.pathOf(CSV), new Date(), new Date(2000))
    const response = await here.get(CSV)
    assert.equal(response.headers.get('retry-after'), '1')
    assert.match(await assertProblem(response, 503, 'unavailable'), /still being checked/)
    open()
    await wait(50)
    assert.deepEqual(await statuses(1), [200])
    assert.equal(readings, 5)
    await assertAllClosed(here)
  })
})

test('503 for a file that is replaced or vanishes between two looks at it; the next request finds what is there then', async () => {
  const moves: ((file: string) => Promise<void>)[] = [
    (file) => utimes(file, new Date(), new Date(1000)),
    (file) => rename(file, `${file}.away`),
  ]
  let looks = 0
  let move: () => Promise<void> = async () => {}
  const restless = (store: FileStore): FileStore => ({
    ...store,
    async open(name) {
      if (++looks === 2) await move()
      return store.open(name)
    },
  })
  const here = await openDownloads({ wrapStore: restless })
  await here.export()
  for (const next of moves) {
    looks = 0
    move = () => next(here.pathOf(CSV))
    await utimes(here.pathOf(CSV), new Date(), new Date(3000))
    assert.match(await assertProblem(await here.get(CSV), 503, 'unavailable'), /is being replaced/)
    await rename(`${here.pathOf(CSV)}.away`, here.pathOf(CSV)).catch(() => {})
    assert.equal((await here.get(CSV)).status, 200)
  }
  await assertAllClosed(here)
})
