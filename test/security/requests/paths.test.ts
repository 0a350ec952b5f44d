// Paths that should lead out of a directory: dot segments, encoded and double encoded separators, NUL, overlong UTF-8, other
// separators. No response contains a file that is not published, and no such path is an error of the service.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { requireFileName } from '../../../src/storage/files/file-store.ts'
import { createDirectory } from '../../fixtures/operate/program.ts'
import { startNodeWithFiles } from '../../fixtures/security/node-under-attack.ts'

const CANARY = 'canary: this file is not published'
const LANES = 8

const { service, token, files } = await startNodeWithFiles(50, { OUTBREAKS_LOG_LEVEL: 'error' })
writeFileSync(path.join(files, '../canary.txt'), CANARY)
for (const name of ['canary.txt', '.canary.csv', 'hed-outbreaks-9.csv.gz'])
  writeFileSync(path.join(files, name), CANARY)
symlinkSync('../canary.txt', path.join(files, 'link.csv'))
mkdirSync(path.join(files, 'folder'))

const DOTS = [
  '..',
  '.',
  '...',
  '%2e%2e',
  '%2E.',
  '%252e%252e',
  '..;',
  '..%00',
  '%c0%ae%c0%ae',
  '%e0%80%ae%e0%80%ae',
  '%uff0e%uff0e',
]
const SEPARATORS = ['/', '%2f', '%252f', '%5c', '\\', '%c0%af', '%e0%80%af', '//', '/./', '%2f/']
const GOALS = ['canary.txt', 'etc/passwd', 'package.json']
const climb = (dots: string, separator: string, depth: number, goal: string) =>
  (dots + separator).repeat(depth) + goal.replaceAll('/', separator)
const TRICKS = [
  ...DOTS.flatMap((dots) =>
    SEPARATORS.flatMap((separator) => GOALS.map((goal, i) => climb(dots, separator, [1, 9, 3][i] ?? 1, goal))),
  ),
  ...[
    '%00',
    '%00.csv',
    'canary.txt%00.csv',
    '%2fetc%2fpasswd',
    '//etc/passwd',
    'file:///etc/passwd',
    '%0d%0a',
    '%ff%fe',
    '%',
    '%2',
    '%zz',
  ],
  ...[
    'canary.txt',
    '.canary.csv',
    'link.csv',
    'folder',
    'folder/',
    '.',
    '..',
    '%2e',
    'a'.repeat(201),
    'a'.repeat(5000),
    '~root/.ssh/id_rsa',
  ],
]
const BASES = [
  '/v2/hed-outbreaks/releases/1/files/',
  '/v2/hed-outbreaks/releases/',
  '/explore/assets/',
  '/explore/',
  '/reference/static/',
  '/reference/',
  '/problems/',
  '/',
]
/** Text of files that no response may have. */
const SECRETS = [CANARY, 'root:x:0:', '"devDependencies"']

interface Answer {
  readonly target: string
  readonly status: number
  readonly body: string
}

/** fetch would normalise the paths. */
function send(baseUrl: string, agent: Agent, target: string): Promise<Answer> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const outgoing = request({ hostname, port, agent, headers, path: target, timeout: 10_000 }, (incoming) => {
      let body = ''
      incoming.setEncoding('latin1').on('data', (chunk: string) => {
        body += chunk
      })
      incoming.on('end', () => resolve({ target, status: incoming.statusCode ?? 0, body }))
    })
    outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error('no response')))
    outgoing.end()
  })
}

async function sendAll(baseUrl: string, targets: readonly string[]): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: LANES })
  try {
    return await Promise.all(targets.map((target) => send(baseUrl, agent, target)))
  } finally {
    agent.destroy()
  }
}

const findEscapes = (answers: readonly Answer[]) =>
  answers.filter(({ body }) => SECRETS.some((text) => body.includes(text))).map(({ target }) => target)

for (const base of BASES)
  test(`${base}: ${TRICKS.length} paths, 0 escapes`, async (t) => {
    const answers = await sendAll(
      service.baseUrl,
      TRICKS.map((trick) => base + trick),
    )
    assert.deepEqual(findEscapes(answers), [])
    assert.deepEqual(
      answers.filter(({ status }) => status >= 500),
      [],
    )
    const found = answers.filter(({ status }) => status === 200).map(({ target }) => target)
    t.diagnostic(`${found.length} of ${answers.length} are pages: ${found.join(' ')}`)
    // A single dot after the base may be the page of the base itself, and nothing more.
    assert.ok(
      found.every((target) => !/canary|etc|package|%00|%2f|%5c/i.test(target)),
      found.join(' '),
    )
  })

const NAMES = [
  ...[
    'HED-OUTBREAKS-1.CSV',
    'hed-outbreaks-1.csv.gz%00',
    'hed-outbreaks-1.csv.gz/',
    './hed-outbreaks-1.csv.gz',
    'hed-outbreaks-1.csv.gz.',
  ],
  ...[
    'hed-outbreaks-1.csv.gz::$DATA',
    'hed-outbreaks-1.csv.gz%20',
    '%20hed-outbreaks-1.csv.gz',
    'hed-outbreaks-1.csv.gz%2f',
    'hed-outbreaks-9.csv.gz',
  ],
  ...[
    'hed-outbreaks-1.csv.gz;x',
    'hed-outbreaks-1.csv.gz%3fx',
    'hed-outbreaks-1',
    '.hed-outbreaks-1.csv.gz',
    'hed-outbreaks-1.%63sv%00',
    '%68ed-outbreaks-9.csv',
  ],
]
test(`${NAMES.length} names that are almost the name of a file are not found`, async () => {
  const answers = await sendAll(
    service.baseUrl,
    NAMES.map((name) => `/v2/hed-outbreaks/releases/1/files/${name}`),
  )
  assert.deepEqual(
    answers.filter(({ status }) => ![400, 404, 405].includes(status)).map(({ target, status }) => [target, status]),
    [],
  )
})

test('the name of a file itself gives the file, also percent-encoded, but only that of its release', async () => {
  const base = '/v2/hed-outbreaks/releases'
  const answers = await sendAll(service.baseUrl, [
    `${base}/1/files/hed-outbreaks-1.csv.gz`,
    `${base}/1/files/%68ed-outbreaks-1.csv.gz`,
    `${base}/2/files/hed-outbreaks-1.csv.gz`,
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 404],
  )
  assert.equal(answers[0]?.body, answers[1]?.body)
})

test('the store refuses a name with a separator, a dot in front, NUL or nothing', () => {
  for (const name of [
    '../canary.txt',
    '..',
    '.',
    '',
    '.canary.csv',
    'a/b',
    'a\\b',
    'a\0b',
    '/etc/passwd',
    'a b',
    'ä.csv',
    '-rf',
  ])
    assert.throws(() => requireFileName(name), Error, JSON.stringify(name))
  requireFileName('hed-outbreaks-1.csv.gz')
})

test('control: the same paths escape from a server that joins paths', async (t) => {
  const directory = createDirectory()
  mkdirSync(path.join(directory, 'public'))
  writeFileSync(path.join(directory, 'canary.txt'), CANARY)
  const naive = createServer(({ url = '/' }, response) => {
    try {
      response.end(readFileSync(path.join(directory, 'public', decodeURIComponent(url.replaceAll('\\', '/')))))
    } catch {
      response.writeHead(404).end()
    }
  }).listen(0, '127.0.0.1')
  after(() => naive.close())
  await once(naive, 'listening')
  const { port } = naive.address() as AddressInfo
  const escapes = findEscapes(
    await sendAll(
      `http://127.0.0.1:${port}`,
      TRICKS.map((trick) => `/${trick}`),
    ),
  )
  t.diagnostic(`${escapes.length} of ${TRICKS.length}`)
  assert.ok(escapes.length >= 10, escapes.join(' '))
})
