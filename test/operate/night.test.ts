// What an operator meets at three in the morning: each fault is one sentence with its original error, and not a stack; commands
// that leave something to do exit with 1; scripts of deploy/ say how they went.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, outbreakctl, prepareDatabase } from '../../dev/service.ts'
import { createTestDatabase } from '../database.ts'
import { createDirectory, waitUntil } from '../fixtures/operate/program.ts'

const root = path.resolve(import.meta.dirname, '../..')
const sample = (release: number) => path.join(root, 'sample/releases', String(release))
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, sample(1))

function run(args: readonly string[], variables: Record<string, string> = {}, input = '') {
  const env = {
    ...process.env,
    DATABASE_URL: settings.databaseUrl,
    OUTBREAKS_SECRET: settings.secret,
    OUTBREAKS_BASE_URL: 'http://127.0.0.1:1',
    OUTBREAKS_PORT: '1',
    ...variables,
  }
  return spawnSync(process.execPath, [path.join(root, 'src/cli.ts'), ...args], { env, encoding: 'utf8', input })
}

/** One sentence of ours, with the original error in it, and no stack. */
function assertSentence({ status, stderr }: ReturnType<typeof run>, sentence: RegExp): void {
  assert.match(stderr, sentence)
  assert.doesNotMatch(stderr, /\n\s+at /)
  assert.equal(status, 1)
}

describe('one sentence for', () => {
  const TMPDIR = path.join(createDirectory(), 'none')
  for (const args of [
    ['release', 'publish', sample(2)],
    ['release', 'preview', sample(2)],
    ['release', 'reindex'],
  ])
    test(`a missing TMPDIR in ${args.slice(0, 2).join(' ')}`, () =>
      assertSentence(
        run(args, { TMPDIR }),
        /^outbreakctl: No temporary file can be written to .*none \(ENOENT.*\)\. Create the directory, free some space, or set TMPDIR to another directory\.\n$/,
      ))
  test('a release that nobody confirmed to prune', async () => {
    await outbreakctl(settings, 'release', 'publish', sample(2))
    assertSentence(
      run(['release', 'prune', '--before', '2']),
      /This would permanently delete 1 release \(1\) .* Nothing was deleted\. If that is right, add --confirm-pruned 1\.\n$/,
    )
  })
})

test('the doctor runs without anything that it needs, and exits with 1', () => {
  const nothing = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    TMPDIR: '/nowhere',
    OUTBREAKS_FILES: '/nowhere',
  }
  for (const variables of [nothing, { ...nothing, OUTBREAKS_FILES: '' }, { ...nothing, OUTBREAKS_REDIS_URL: 'x' }]) {
    const { status, stdout, stderr } = run(['doctor'], variables)
    assert.equal(status, 1)
    assert.ok((JSON.parse(stdout) as object[]).length > 0)
    assert.match(stderr, /^\d+ errors?, \d+ warnings?\. Do this first: .+\n$/)
  }
})

test('key reseal exits with 1 if no secret reads a key, and says what to do', () => {
  const { status, stdout } = run(['key', 'reseal'], { OUTBREAKS_SECRET: randomBytes(32).toString('base64url') })
  assert.equal(status, 1)
  const { unreadable, next } = JSON.parse(stdout) as { unreadable: string[]; next: string }
  assert.equal(unreadable.length, 1)
  assert.ok(next.endsWith(`outbreakctl key disable ${unreadable[0]}`))
  assert.equal(run(['key', 'reseal']).status, 0)
})

test('usage names the clients if there is a database, and works without one', () => {
  const line = JSON.stringify({ time: '2026-11-16T10:00:00Z', client_id: credentials.client_id, status: 200, ms: 1 })
  const read = (variables = {}) => run(['usage'], variables, line)
  assert.equal((JSON.parse(read().stdout) as { name?: string }[])[0]?.name, 'Local client')
  assert.equal((JSON.parse(read({ DATABASE_URL: '' }).stdout) as { name?: string }[])[0]?.name, undefined)
  assert.match(run(['usage'], {}, 'no log line').stderr, /OUTBREAKS_LOG_LEVEL=info/)
  const lost = read({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  assert.deepEqual([lost.status, (JSON.parse(lost.stdout) as object[]).length], [0, 1])
  assert.match(lost.stderr, /^The clients' names could not be read/)
})

test('with the wrong secret a node says "keys", in one line', async () => {
  const env = {
    ...process.env,
    DATABASE_URL: settings.databaseUrl,
    OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
    OUTBREAKS_BASE_URL: 'http://127.0.0.1:1',
    OUTBREAKS_PORT: '0',
  }
  const node = spawn(process.execPath, [path.join(root, 'src/main.ts')], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  after(() => node.kill('SIGKILL'))
  let output = ''
  node.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await waitUntil('it says why it is not ready', async () => output.includes('not ready: keys'))
  // The watcher tries twice a second.
  await wait(1500)
  assert.equal(output.split('a signing key could not be decrypted').length - 1, 1)
  // The index may be another reason at first.
  assert.ok(output.split('not ready').length - 1 <= 2)
})

test('a task records when it last succeeded, and whether it failed', () => {
  const METRICS_DIRECTORY = createDirectory()
  const record = (...command: string[]) =>
    spawnSync(path.join(root, 'deploy/record-job'), ['backup', ...command], {
      env: { ...process.env, METRICS_DIRECTORY },
    }).status
  const metrics = () => readFileSync(path.join(METRICS_DIRECTORY, 'outbreaks-backup.prom'), 'utf8')
  assert.equal(record('sh', '-c', 'exit 3'), 3)
  assert.match(metrics(), /_timestamp_seconds\{task="backup"\} 0\n/)
  assert.equal(record('true'), 0)
  const [succeeded = ''] = /_timestamp_seconds\{task="backup"\} \d{10}\n/.exec(metrics()) ?? []
  assert.notEqual(succeeded, '')
  assert.match(metrics(), /outbreaks_task_failed\{task="backup"\} 0\n/)
  assert.equal(record('false'), 1)
  assert.ok(metrics().includes(succeeded), 'a failed run does not change when it last succeeded')
  assert.match(metrics(), /outbreaks_task_failed\{task="backup"\} 1\n/)
})
