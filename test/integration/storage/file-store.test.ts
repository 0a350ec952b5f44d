// The file store: a file is complete or absent, even if the writer is killed, the disk is full or the file changes while read.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readlink, rm, stat, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { openDirectoryStore } from '../../../src/storage/files/directory-store.ts'
import { type FileStore, readFingerprint } from '../../../src/storage/files/file-store.ts'
import { drawBytes } from '../../seed.ts'

const NAME = 'hed-outbreaks-1.csv'
const MODULE = new URL('../../../src/storage/files/directory-store.ts', import.meta.url).href

async function openEmpty(): Promise<{ directory: string; store: FileStore }> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-store-'))
  after(() => rm(directory, { recursive: true, force: true }))
  return { directory, store: openDirectoryStore(directory) }
}

async function write(store: FileStore, bytes: Uint8Array, name = NAME) {
  const draft = await store.create(name)
  await draft.write(bytes)
  const fingerprint = await draft.finish()
  await draft.commit()
  return fingerprint
}

async function read(store: FileStore, start: number, end: number): Promise<Buffer> {
  const file = await store.open(NAME)
  assert.ok(file)
  return Buffer.concat(await file.read(start, end).toArray())
}

const find = async (store: FileStore) => (await store.open(NAME)) ?? assert.fail('there is no file')

test('a file is as readable as its directory, regardless of the umask, and removed files are counted', async () => {
  const { directory, store } = await openEmpty()
  const before = process.umask(0o077)
  try {
    for (const [ofDirectory, ofFile] of [
      [0o755, 0o644],
      [0o750, 0o640],
      [0o700, 0o600],
    ] as const) {
      await chmod(directory, ofDirectory)
      await write(store, drawBytes(10))
      assert.equal((await stat(path.join(directory, NAME))).mode & 0o777, ofFile)
    }
  } finally {
    process.umask(before)
  }
  assert.equal(await store.remove([NAME, 'hed-outbreaks-9.csv']), 1)
  assert.equal(await store.remove([NAME]), 0)
})

test('a file has its name only after commit, with all of its bytes and their digest', async () => {
  const { directory, store } = await openEmpty()
  const bytes = drawBytes(1_000_000)
  const draft = await store.create(NAME)
  await draft.write(bytes.subarray(0, 400_000))
  await draft.write(bytes.subarray(400_000))
  assert.equal(await store.open(NAME), undefined)
  const fingerprint = await draft.finish()
  assert.equal(await store.open(NAME), undefined)
  await draft.commit()
  assert.deepEqual(fingerprint, { bytes: bytes.length, sha256: hash('sha256', bytes) })
  assert.deepEqual(await readFingerprint(await find(store)), fingerprint)
  assert.deepEqual(await readdir(directory), [NAME])
})

test('any range is read exactly', async () => {
  const { store } = await openEmpty()
  const bytes = drawBytes(600_000)
  await write(store, bytes)
  for (const [start, end] of [
    [0, 600_000],
    [0, 0],
    [0, 1],
    [262_143, 262_145],
    [599_999, 600_000],
  ] as const)
    assert.deepEqual(await read(store, start, end), bytes.subarray(start, end))
})

test('an empty file can be written and read', async () => {
  const { store } = await openEmpty()
  assert.equal((await write(store, Buffer.alloc(0))).bytes, 0)
  assert.deepEqual(await read(store, 0, 0), Buffer.alloc(0))
})

const invalidNames = [
  ...['', '.', '..', 'a', '.csv', 'a.', '-a.csv', 'a-.csv', 'a--b.csv', 'a.b.csv', 'a..csv', 'A.csv', 'a b.csv'],
  ...['../a.csv', '/a.csv', 'a/b.csv', 'a\\b.csv', 'a.csv/', 'a.csv\n', 'a.csv\0', '%2e%2e/a.csv', 'ä.csv', '~.csv'],
]
for (const name of invalidNames) {
  test(`${JSON.stringify(name)} is rejected as a file name`, async () => {
    const { store } = await openEmpty()
    await assert.rejects(store.create(name), /is not a valid name for a file/)
    await assert.rejects(store.open(name), /is not a valid name for a file/)
  })
}

test('a discarded draft leaves nothing, and the earlier file stays', async () => {
  const { directory, store } = await openEmpty()
  await write(store, Buffer.from('old'))
  for (const finish of [false, true]) {
    const draft = await store.create(NAME)
    await draft.write(Buffer.from('new'))
    if (finish) await draft.finish()
    await draft.discard()
  }
  assert.deepEqual(await readdir(directory), [NAME])
  assert.equal(String(await read(store, 0, 3)), 'old')
})

test('if two processes write one name at once, the first fails and the file of the second is complete', async () => {
  const { directory, store } = await openEmpty()
  const first = await store.create(NAME)
  await first.write(Buffer.from('first'))
  const second = await store.create(NAME)
  await second.write(Buffer.from('sec'))
  await first.finish()
  await assert.rejects(first.commit(), OperatorError)
  await second.write(Buffer.from('ond'))
  await second.finish()
  await second.commit()
  assert.equal(String(await read(store, 0, 6)), 'second')
  assert.deepEqual(await readdir(directory), [NAME])
})

test('the remains of a writer killed with SIGKILL are not the file, and the next writer removes them', async () => {
  const { directory, store } = await openEmpty()
  await write(store, Buffer.from('old'))
  await write(store, Buffer.from('other'), 'hed-outbreaks-11.csv')
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(directory, 'for (;;)')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal((await readdir(directory)).length, 3)
  assert.equal(String(await read(store, 0, 3)), 'old')
  await write(store, Buffer.from('new'))
  assert.deepEqual((await readdir(directory)).sort(), [NAME, 'hed-outbreaks-11.csv'])
  assert.equal(String(await read(store, 0, 3)), 'new')
})

/** A process that writes 64 KiB at a time. It prints `writing` after each write, and the error at the end. */
const program = (directory: string, loop: string) => `
  import { readdirSync } from 'node:fs'
  const { openDirectoryStore } = await import(${JSON.stringify(MODULE)})
  const draft = await openDirectoryStore(${JSON.stringify(directory)}).create('${NAME}')
  try {
    ${loop} { await draft.write(Buffer.alloc(65536)); process.stdout.write('writing\\n') }
    await draft.finish()
    await draft.commit()
  } catch (error) {
    await draft.discard()
    console.log(error.name, error.message)
  }
  console.log(JSON.stringify(readdirSync(${JSON.stringify(directory)})))`

function runIn(shell: string, wrapper: string[], directory: string) {
  const [command, ...args] = [...wrapper, 'bash', '-c', shell, directory, process.execPath]
  const { stdout, stderr } = spawnSync(
    command,
    [...args, '--input-type=module', '-e', program(directory, 'for (let i = 0; i < 100; i++)')],
    { encoding: 'utf8', timeout: 20_000 },
  )
  return { stdout, lines: stdout.trim().split('\n').slice(-2), stderr }
}

test('a file larger than the system allows gives an operator error and leaves nothing', async () => {
  const { directory } = await openEmpty()
  const { lines, stderr } = runIn(`trap '' XFSZ; ulimit -f 1024; exec "$@"`, [], directory)
  assert.match(lines[0] ?? stderr, /^OperatorError hed-outbreaks-1\.csv could not be written: EFBIG/)
  assert.equal(lines[1], '[]')
})

test('a full disk gives an operator error and leaves nothing', async (t) => {
  const { directory } = await openEmpty()
  const shell = 'mount -t tmpfs -o size=1m tmpfs "$0" || { echo no mount; exit; }; exec "$@"'
  const { stdout, lines, stderr } = runIn(shell, ['unshare', '--map-root-user', '--mount'], directory)
  if (!stdout.includes('writing')) return t.skip(`this system does not allow to mount a small disk: ${stdout}${stderr}`)
  assert.match(lines[0] ?? stderr, /^OperatorError hed-outbreaks-1\.csv could not be written: ENOSPC/)
  assert.equal(lines[1], '[]')
})

test('a missing directory is an operator error for a writer and has no files for a reader', async () => {
  const { directory } = await openEmpty()
  const store = openDirectoryStore(path.join(directory, 'nowhere'))
  await assert.rejects(store.create(NAME), OperatorError)
  assert.equal(await store.open(NAME), undefined)
})

test('reading a file that became shorter fails and never ends without an error', async () => {
  const { directory, store } = await openEmpty()
  await write(store, drawBytes(2_000_000))
  const stream = (await find(store)).read(0, 2_000_000)
  stream.read(1)
  await truncate(path.join(directory, NAME), 700_000)
  await assert.rejects(stream.toArray(), /hed-outbreaks-1\.csv ends at byte \d+, before 2000000/)
})

test('a file that is removed or replaced while it is open is read to its end unchanged', async () => {
  const { directory, store } = await openEmpty()
  const bytes = drawBytes(2_000_000)
  await write(store, bytes)
  const before = (await find(store)).read(0, bytes.length)
  before.read(1)
  await write(store, drawBytes(2_000_000))
  const between = (await find(store)).read(0, 10)
  await unlink(path.join(directory, NAME))
  assert.deepEqual(Buffer.concat(await before.toArray()), bytes)
  assert.notDeepEqual(Buffer.concat(await between.toArray()), bytes.subarray(0, 10))
  assert.equal(await store.open(NAME), undefined)
})

test('the stamp changes with the size and the modification time, and not otherwise', async () => {
  const { directory, store } = await openEmpty()
  await write(store, Buffer.from('abc'))
  const stamp = async () => {
    const file = await find(store)
    await file.close()
    return file.stamp
  }
  const first = await stamp()
  assert.equal(await stamp(), first)
  await utimes(path.join(directory, NAME), new Date(), new Date(1000))
  const second = await stamp()
  assert.notEqual(second, first)
  await writeFile(path.join(directory, NAME), 'abcd')
  await utimes(path.join(directory, NAME), new Date(), new Date(1000))
  assert.notEqual(await stamp(), second)
})

test('the file is closed after reading to the end, after destroying the stream, and after close', async () => {
  const { directory, store } = await openEmpty()
  const isOpen = async () => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((number) => readlink(`/proc/self/fd/${number}`).catch(() => '')),
    )
    return links.some((link) => link.startsWith(directory))
  }
  await write(store, drawBytes(2_000_000))
  const destroyed = (await find(store)).read(0, 2_000_000)
  assert.ok(await isOpen())
  destroyed.destroy()
  await once(destroyed, 'close')
  await readFingerprint(await find(store))
  await (await find(store)).close()
  assert.ok(!(await isOpen()))
})
