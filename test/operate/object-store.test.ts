// The files of releases in an object store: complete or absent, read exactly, redirected on request, removed with their release.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Credentials } from '../../dev/service.ts'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../dev/service.ts'
import { OperatorError } from '../../src/platform/operator-error.ts'
import { Problem } from '../../src/platform/problem.ts'
import { type FileStore, readFingerprint } from '../../src/storage/files/file-store.ts'
import { openFileStore } from '../../src/storage/files/open-store.ts'
import { createEmptyDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { type ObjectStore, startObjectStore, withoutObjectStore } from '../fixtures/operate/object-store.ts'
import { drawBytes } from '../seed.ts'

const run = promisify(execFile)
const NAME = 'hed-outbreaks-1.csv.gz'
const PART_BYTES = 1 << 24
const sample = path.resolve(import.meta.dirname, '../../sample/releases')

const started = withoutObjectStore === false ? await startObjectStore() : null

describe('an object store', { skip: withoutObjectStore }, () => {
  const objects = started as ObjectStore
  let store: FileStore
  const url = () => `s3://${objects.bucket}/files`
  before(async () => {
    Object.assign(process.env, objects.env)
    store = await openFileStore(url())
  })

  async function write(bytes: Uint8Array, name = NAME) {
    const draft = await store.create(name)
    for (let start = 0; start < bytes.length; start += 1_000_003)
      await draft.write(bytes.subarray(start, start + 1_000_003))
    const fingerprint = await draft.finish()
    await draft.commit()
    return fingerprint
  }
  const find = async () => (await store.open(NAME)) ?? assert.fail('there is no file')
  const listUploads = async () => (await objects.s3.listMultipartUploads({ Bucket: objects.bucket })).Uploads ?? []

  describe('as a store of files', () => {
    for (const [size, bytes] of [
      ['empty', 0],
      ['one byte', 1],
      ['exactly one part', PART_BYTES],
      ['one part and a byte', PART_BYTES + 1],
      ['three parts', 2 * PART_BYTES + 12_345],
    ] as const)
      test(`${size}: written, found only after commit, read exactly`, async () => {
        await store.remove([NAME])
        const content = drawBytes(bytes)
        const draft = await store.create(NAME)
        await draft.write(content)
        assert.equal(await store.open(NAME), undefined)
        const fingerprint = await draft.finish()
        assert.equal(await store.open(NAME), undefined)
        await draft.commit()
        assert.deepEqual(fingerprint, { bytes, sha256: hash('sha256', content) })
        assert.deepEqual(await readFingerprint(await find()), fingerprint)
        for (const [start, end] of [
          [0, Math.min(1, bytes)],
          [Math.floor(bytes / 3), Math.floor(bytes / 2)],
          [Math.max(0, bytes - 1), bytes],
          [0, 0],
        ] as const)
          assert.deepEqual(
            Buffer.concat(await (await find()).read(start, end).toArray()),
            Buffer.from(content.subarray(start, end)),
          )
      })

    test('a draft that is discarded leaves nothing', async () => {
      await store.remove([NAME])
      const draft = await store.create(NAME)
      await draft.write(drawBytes(PART_BYTES + 10))
      assert.equal((await listUploads()).length, 1)
      await draft.discard()
      assert.deepEqual(await listUploads(), [])
      assert.equal(await store.open(NAME), undefined)
    })

    test('the next writer removes what a killed one has left', async () => {
      const killed = await store.create(NAME)
      await killed.write(drawBytes(PART_BYTES + 10))
      assert.equal((await listUploads()).length, 1)
      await write(Buffer.from('whole'))
      assert.deepEqual(await listUploads(), [])
      assert.equal((await readFingerprint(await find())).bytes, 5)
    })

    test('a file that is replaced while it is open is not read as the new one', async () => {
      await write(Buffer.from('first'))
      const opened = await find()
      await write(Buffer.from('other'))
      await assert.rejects(opened.read(0, 5).toArray(), /PreconditionFailed|precondition/i)
    })

    test('removing what is not there is no error; other names stay', async () => {
      await write(Buffer.from('a'))
      await write(Buffer.from('b'), 'hed-outbreaks-2.csv.gz')
      await store.remove([NAME, 'hed-outbreaks-9.csv.gz'])
      assert.equal(await store.open(NAME), undefined)
      assert.ok(await store.open('hed-outbreaks-2.csv.gz'))
    })

    test('a name that is no file of a release is rejected', async () => {
      for (const name of ['../a.csv', 'a/b.csv', '', 'A.csv'])
        await assert.rejects(store.open(name), /not a valid name/)
    })

    test('with wrong credentials: an operator gets the reason, a client 503', async () => {
      const wrong = { ...objects.env, AWS_SECRET_ACCESS_KEY: 'wrong' }
      const program = `
        import { openFileStore } from ${JSON.stringify(new URL('../../src/storage/files/open-store.ts', import.meta.url).href)}
        const store = await openFileStore(${JSON.stringify(url())})
        const describe = (error) => error.constructor.name + ' ' + (error.code ?? '') + ' ' + error.message
        console.log(await store.open(${JSON.stringify(NAME)}).catch(describe))
        console.log(await store.create(${JSON.stringify(NAME)}).catch(describe))`
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
        env: { ...process.env, ...wrong },
      })
      const [opened = '', created = ''] = stdout.split('\n')
      assert.match(opened, /^Problem unavailable The file storage does not respond/)
      assert.match(created, /^OperatorError .*could not be written: .*signature/i)
    })

    test('a store that is gone: an error within ten seconds', async () => {
      await objects.stop()
      const startedAt = performance.now()
      await assert.rejects(store.open(NAME), (error) => error instanceof Problem && error.status === 503)
      await assert.rejects(store.create(NAME), OperatorError)
      assert.ok(performance.now() - startedAt < 10_000)
      await objects.start()
      await store.open(NAME)
    })
  })

  describe('behind the service', () => {
    let settings: ReturnType<typeof newSettings>
    let credentials: Credentials
    let node: Service
    let redirecting: Service
    const tokens = new Map<string, string>()
    before(async () => {
      process.env['OUTBREAKS_FILES'] = url()
      settings = newSettings(await createEmptyDatabase())
      credentials = await prepareDatabase(settings, path.join(sample, '1'))
      await outbreakctl(settings, 'release', 'publish', path.join(sample, '2'))
      node = await startService(settings)
      redirecting = await startService(settings, { OUTBREAKS_FILES_REDIRECT: 'true' })
      for (const { baseUrl } of [node, redirecting])
        tokens.set(baseUrl, await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl))
    })
    after(async () => {
      delete process.env['OUTBREAKS_FILES']
      await Promise.all([node.stop(), redirecting.stop()])
    })

    const ask = (service: Service, name: string, options: RequestInit = {}) =>
      fetch(`${service.baseUrl}/v2/hed-outbreaks/releases/${/-(\d+)\./.exec(name)?.[1]}/files/${name}`, {
        redirect: 'manual',
        ...options,
        headers: { authorization: `Bearer ${tokens.get(service.baseUrl)}`, ...options.headers },
      })
    /** Not with fetch: undici stops with an assertion when the store closes the connection. */
    async function readDirectly(location: string, headers: Record<string, string> = {}) {
      const outgoing = get(location, { headers, agent: false })
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
    }
    const digestOf = (response: Response) =>
      Buffer.from(/sha-256=:(.*):/.exec(response.headers.get('repr-digest') ?? '')?.[1] ?? '', 'base64').toString('hex')

    test('every file of both releases downloads with its digest, whole and in parts', async () => {
      for (const release of [1, 2])
        for (const extension of ['csv.gz', 'ndjson.gz', 'parquet']) {
          const response = await ask(node, `hed-outbreaks-${release}.${extension}`)
          const bytes = Buffer.from(await response.arrayBuffer())
          assert.equal(response.status, 200)
          assert.equal(hash('sha256', bytes), digestOf(response))
          const part = await ask(node, `hed-outbreaks-${release}.${extension}`, { headers: { range: 'bytes=100-299' } })
          assert.equal(part.status, 206)
          assert.deepEqual(Buffer.from(await part.arrayBuffer()), bytes.subarray(100, 300))
        }
    })

    test('with redirects the store sends the bytes, for a few minutes and without a token', async () => {
      const response = await ask(redirecting, 'hed-outbreaks-1.csv.gz')
      assert.equal(response.status, 307)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      const location = response.headers.get('location') ?? ''
      assert.ok(location.startsWith(objects.env['AWS_ENDPOINT_URL_S3'] ?? 'none'))
      assert.equal(new URL(location).searchParams.get('X-Amz-Expires'), '300')
      const direct = await readDirectly(location)
      assert.match(direct.headers['content-disposition'] ?? '', /hed-outbreaks-1\.csv\.gz/)
      assert.match(direct.headers['content-type'] ?? '', /^application\/gzip/)
      const sent = await ask(node, 'hed-outbreaks-1.csv.gz')
      await sent.arrayBuffer()
      assert.equal(hash('sha256', direct.body), digestOf(sent))
      assert.equal((await readDirectly(location, { range: 'bytes=0-9' })).body.byteLength, 10)
      for (const tampered of [
        location.replace('hed-outbreaks-1.csv.gz', 'hed-outbreaks-2.csv.gz'),
        location.replace(/X-Amz-Signature=..../, 'X-Amz-Signature=0000'),
      ])
        assert.equal((await readDirectly(tampered)).status, 403)
    })

    test('with redirects HEAD, 304 and errors are answered by the service', async () => {
      const head = await ask(redirecting, 'hed-outbreaks-1.csv.gz', { method: 'HEAD' })
      assert.equal(head.status, 200)
      const etag = head.headers.get('etag') ?? ''
      assert.equal(
        (await ask(redirecting, 'hed-outbreaks-1.csv.gz', { headers: { 'if-none-match': etag } })).status,
        304,
      )
      assert.equal((await ask(redirecting, 'hed-outbreaks-1.pdf')).status, 404)
      const anonymous = await ask(redirecting, 'hed-outbreaks-1.csv.gz', { headers: { authorization: '' } })
      assert.equal(anonymous.status, 401)
      assert.equal(anonymous.headers.get('location'), null)
    })

    test('an object that was changed is not sent; export writes it again', async () => {
      const Key = 'files/hed-outbreaks-2.csv.gz'
      await objects.s3.putObject({ Bucket: objects.bucket, Key, Body: 'something else' })
      for (const service of [node, redirecting]) {
        const response = await ask(service, 'hed-outbreaks-2.csv.gz')
        assert.equal(((await response.json()) as { code: string }).code, 'file_damaged')
      }
      await outbreakctl(settings, 'release', 'export', '--release', '2')
      const response = await ask(node, 'hed-outbreaks-2.csv.gz')
      assert.equal(hash('sha256', Buffer.from(await response.arrayBuffer())), digestOf(response))
    })

    test('while the store is gone, downloads give 503 with Retry-After, and records are served', async () => {
      await objects.stop()
      const response = await ask(node, 'hed-outbreaks-1.ndjson.gz')
      assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
      const records = await fetch(`${node.baseUrl}/v2/hed-outbreaks/outbreaks?num=1`, {
        headers: { authorization: `Bearer ${tokens.get(node.baseUrl)}` },
      })
      assert.equal(records.status, 200)
      await objects.start()
      assert.equal((await ask(node, 'hed-outbreaks-1.ndjson.gz')).status, 200)
    })

    test('prune removes the files of pruned releases and no others, also when it is run again', async () => {
      const list = async () =>
        ((await objects.s3.listObjectsV2({ Bucket: objects.bucket, Prefix: 'files/hed-outbreaks-' })).Contents ?? [])
          .map(({ Key = '' }) => path.basename(Key))
          .sort()
      assert.equal((await list()).length, 6)
      const pruned = await outbreakctl<{ files_removed: number }>(
        settings,
        'release',
        'prune',
        '--before',
        '2',
        '--confirm-pruned',
        '1',
      )
      assert.equal(pruned.files_removed, 3)
      assert.deepEqual(await list(), ['hed-outbreaks-2.csv.gz', 'hed-outbreaks-2.ndjson.gz', 'hed-outbreaks-2.parquet'])
      await objects.s3.putObject({ Bucket: objects.bucket, Key: 'files/hed-outbreaks-1.csv.gz', Body: 'left over' })
      await outbreakctl(settings, 'release', 'prune', '--before', '2', '--confirm-pruned', '1')
      assert.equal((await list()).length, 3)
      assert.equal((await ask(node, 'hed-outbreaks-1.csv.gz')).status, 410)
      assert.equal((await ask(node, 'hed-outbreaks-2.csv.gz')).status, 200)
    })
  })

  test('a file of 100 MB is written and read with bounded memory', async () => {
    const digest = createHash('sha256')
    const draft = await store.create(NAME)
    const chunk = drawBytes(1 << 20)
    for (let i = 0; i < 100; i++) {
      chunk[0] = i
      digest.update(chunk)
      await draft.write(chunk)
    }
    const expected = { bytes: 100 << 20, sha256: digest.digest('hex') }
    assert.deepEqual(await draft.finish(), expected)
    await draft.commit()
    assert.deepEqual(await readFingerprint(await find()), expected)
  })
})
