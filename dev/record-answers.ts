// Writes clients/vectors/answers.json: what the service answers to the requests of a client, recorded from a real service
// with four small releases. The scripted server of the client tests plays these answers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { createCluster, findFreePort } from './postgres.ts'
import { type Credentials, dropExports, outbreakctl, prepareDatabase, startNotifier, startService } from './service.ts'
import { publishVectorReleases } from './vector-releases.ts'

interface Answer {
  status: number
  headers: Record<string, string>
  body: string
  trailers?: Record<string, string>
}

const target = path.resolve(import.meta.dirname, '../clients/vectors/answers.json')
const DATASET = '/v2/hed-outbreaks'
const NDJSON = 'application/x-ndjson'
/** Instead of the id of the watch, which is random. */
const WATCH = '00000000-0000-4000-8000-000000000001'

/** Name, path and headers of each request that is recorded after release 1 was pruned. */
const REQUESTS: [name: string, path: string, headers?: Record<string, string>][] = [
  ['records-warning', '/outbreaks?num=2&release=4&disease=Colera'],
  ['records-ndjson', '/outbreaks?release=4&count=exact', { accept: NDJSON }],
  ['records-csv', '/outbreaks?release=4&count=exact', { accept: 'text/csv' }],
  ['records-pruned', '/outbreaks?release=1'],
  ['records-unknown-parameter', '/outbreaks?evnt=Cholera_Testland_2020'],
  ['records-invalid-parameter', '/outbreaks?case_status=sure'],
  ['record', '/outbreaks/2'],
  ['record-not-found', '/outbreaks/999'],
  ['history', '/outbreaks/2/history'],
  ['history-not-found', '/outbreaks/999/history'],
  ['releases', '/releases'],
  ['release-3', '/releases/3'],
  ['release-4', '/releases/4'],
  ['release-latest', '/releases/latest'],
  ['changes', '/changes?from=3&to=4'],
  ['changes-ndjson', '/changes?from=3&to=4', { accept: NDJSON }],
  ['series', '/series?event=Measles_Testland_2024&release=4&interval=isoweek&detail=full'],
  ['series-not-comparable', '/series?event=Cholera_Testland_2020&release=4&interval=isoweek&strict=true&detail=full'],
  ['sums', '/sums?event=Measles_Testland_2024&release=4&group_by=country_code&detail=full'],
  ['vintages', '/vintages?event=Measles_Testland_2024&interval=isoweek&count=cases&detail=full'],
  ['events', '/events?release=4'],
  ['search', '/search?q=mesles&release=4'],
  ['facets', '/facets?release=4&event=Measles_Testland_2024'],
  ['coverage', '/coverage?release=4&event=Measles_Testland_2024&by=country_code&interval=month'],
  ['coverage-by-missing', '/coverage?release=4&interval=month'],
  ['coverage-invalid-by', '/coverage?release=4&by=colour&interval=month'],
  ['citation', '/citation?release=4&event=Measles_Testland_2024'],
  ['citation-bibtex', '/citation?release=4&event=Measles_Testland_2024&format=bibtex'],
  ['records-ndjson-3', '/outbreaks?release=3', { accept: NDJSON }],
  ['file-ndjson', '/releases/4/files/hed-outbreaks-4.ndjson.gz'],
  ['file-csv', '/releases/4/files/hed-outbreaks-4.csv.gz'],
  ['file-range', '/releases/4/files/hed-outbreaks-4.csv.gz', { range: 'bytes=100-' }],
  ['file-range-after-end', '/releases/4/files/hed-outbreaks-4.csv.gz', { range: 'bytes=1000000-' }],
]

interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string
}

function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, timeout: 20_000 }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      incoming.on('end', () => {
        const trailers = incoming.trailers as Record<string, string>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: pickHeaders(incoming.headers),
          ...encodeBody(Buffer.concat(chunks), incoming.headers['content-type']),
          ...(Object.keys(trailers).length === 0 ? {} : { trailers }),
        })
      })
    })
    outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error('no response')))
    outgoing.end(body)
  })
}

const encodeBody = (bytes: Buffer, type: string | undefined) =>
  type === 'application/gzip' ? { body: bytes.toString('base64'), base64: true } : { body: bytes.toString('utf8') }

/** Headers that depend on the connection or on the time of the recording say nothing about the interface. */
const OMITTED =
  /^(date|connection|keep-alive|transfer-encoding|content-length|trailer|ratelimit.*|x-content-.*|content-security-.*|referrer-.*|cross-origin-.*)$/
const pickHeaders = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !OMITTED.test(name))
      .map(([name, value]) => [name, String(value)]),
  )

const requestToken = (baseUrl: string, { client_id, client_secret }: Credentials) =>
  send(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience: baseUrl, grant_type: 'client_credentials' }),
  })

/** Replaces what differs in each recording, so that two recordings of the same program are equal. */
function normalise(answers: Map<string, Answer>, baseUrls: readonly string[]): Record<string, Answer> {
  let text = JSON.stringify(Object.fromEntries(answers))
  for (const baseUrl of baseUrls) text = text.replaceAll(baseUrl, 'https://data.example.org')
  text = text
    .replaceAll(/(request_id\\":\\")[^"\\]+/g, '$1req-1')
    .replaceAll(/"x-request-id":"[^"]+"/g, '"x-request-id":"req-1"')
    .replaceAll(/(access_token\\":\\")[^"\\]+/g, '$1token-1')
    .replaceAll(/(watches\/|\{\\"id\\":\\")[0-9a-f]{8}-[0-9a-f-]{27}/g, `$1${WATCH}`)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-01-02T03:04:05.000Z')
  const today = new Date().toISOString().slice(0, 10)
  const [year, month, day] = today.split('-').map(Number)
  text = text
    // Tags of files are their SHA-256. The others depend on the time of publication.
    .replaceAll(/"etag":"\\"(?![0-9a-f]{64})[^"]+"/g, '"etag":"\\"tag\\"')
    .replaceAll(today, '2026-01-02')
    .replaceAll(`[[${year},${month},${day}]]`, '[[2026,1,2]]')
    .replaceAll(/year = \{\d+\},(\D+)month = \{\d+\},(\D+)day = \{\d+\}/g, 'year = {2026},$1month = {1},$2day = {2}')
  return JSON.parse(text) as Record<string, Answer>
}

export async function recordAnswers(
  databaseUrl: string,
  stopDatabase: () => Promise<void>,
): Promise<Record<string, Answer>> {
  dropExports()
  const answers = new Map<string, Answer>()
  // Always the same, because cursors depend on it: two recordings are equal.
  const settings = { databaseUrl, secret: Buffer.alloc(32).toString('base64url') }
  const files = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
  process.env['OUTBREAKS_FILES'] = files
  const credentials = await prepareDatabase(settings)
  const notifierPort = String(await findFreePort())
  const service = await startService(settings, { OUTBREAKS_NOTIFIER_URL: `http://127.0.0.1:${notifierPort}` })
  const baseUrls = [service.baseUrl]
  try {
    const token = await requestToken(service.baseUrl, credentials)
    answers.set('token', token)
    answers.set('token-invalid-client', await requestToken(service.baseUrl, { ...credentials, client_secret: 'wrong' }))
    const authorization = `Bearer ${(JSON.parse(token.body) as { access_token: string }).access_token}`
    const get = (address: string, headers: Record<string, string> = {}) =>
      send(`${service.baseUrl}${DATASET}${address}`, { headers: { authorization, ...headers } })
    const change = (method: string, address: string, body?: object) =>
      send(`${service.baseUrl}${DATASET}${address}`, {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })

    answers.set('nothing-published', await get('/outbreaks'))
    await publishVectorReleases(settings)
    await outbreakctl(settings, 'release', 'prune', '--before', '2', '--confirm-pruned', '1')
    // The service reads the list of releases twice a second.
    await waitFor(async () => !(await get('/releases/1')).body.includes('"pruned_at":null'))
    for (const [name, address, headers] of REQUESTS) answers.set(name, await get(address, headers))
    await recordPages(answers, get)
    const notifier = await startNotifier(settings, {
      OUTBREAKS_PORT: notifierPort,
      OUTBREAKS_BASE_URL: service.baseUrl,
    })
    await recordWatches(answers, change).finally(notifier.stop)
    answers.set('not-authenticated', await send(`${service.baseUrl}${DATASET}/outbreaks`))
    answers.set('invalid-token', await get('/outbreaks', { authorization: 'Bearer revoked' }))

    const limited = await startService(settings, { OUTBREAKS_RATE_LIMIT: '1' })
    baseUrls.push(limited.baseUrl)
    const limitedToken = JSON.parse((await requestToken(limited.baseUrl, credentials)).body) as { access_token: string }
    const limitedGet = (address: string) =>
      send(`${limited.baseUrl}${DATASET}${address}`, {
        headers: { authorization: `Bearer ${limitedToken.access_token}` },
      })
    // This service has no notifier.
    answers.set('watches-unavailable', await limitedGet('/watches'))
    const exceeded = await limitedGet('/outbreaks')
    answers.set('quota-exceeded', { ...exceeded, headers: { ...exceeded.headers, 'retry-after': '1' } })
    await limited.stop()

    await stopDatabase()
    answers.set('unavailable', await get('/outbreaks?release=4&num=3'))
  } finally {
    await service.stop()
    await rm(files, { recursive: true, force: true })
  }
  return normalise(answers, baseUrls)
}

/** The pages of release 4, two records each. */
async function recordPages(answers: Map<string, Answer>, get: (address: string) => Promise<Answer>): Promise<void> {
  let next: string | null = null
  let number = 0
  do {
    const page: Answer = await get(
      `/outbreaks?num=2&${next === null ? 'release=4' : `page=${encodeURIComponent(next)}`}`,
    )
    number += 1
    answers.set(`records-page-${number}`, page)
    next = (JSON.parse(page.body) as { next_page: string | null }).next_page
  } while (next !== null)
}

/** A watch from its creation to its end, and a preview of it. */
async function recordWatches(
  answers: Map<string, Answer>,
  change: (method: string, address: string, body?: object) => Promise<Answer>,
): Promise<void> {
  const watch = { question: 'event=Measles_Testland_2024&counts=cases', when: 'crosses:cases:12' }
  answers.set('notices', await change('GET', '/notices?after=0'))
  answers.set('watch-preview', withoutPages(await change('POST', '/watches/preview', watch)))
  const created = await change('POST', '/watches', { ...watch, name: 'Measles' })
  const { id } = JSON.parse(created.body) as { id: string }
  answers.set('watch-created', created)
  answers.set('watches', await change('GET', '/watches'))
  answers.set('watch-paused', await change('PATCH', `/watches/${id}`, { state: 'paused' }))
  answers.set('watch-notices', await change('GET', `/watches/${id}/notices?after=0`))
  answers.set('watch-deleted', await change('DELETE', `/watches/${id}`))
  answers.set('watch-not-found', await change('DELETE', `/watches/${id}`))
}

/** The page of a notice is one of the explorer if that was built, otherwise the numbers. It is the last line of the text, too. */
function withoutPages(preview: Answer): Answer {
  const body = JSON.parse(preview.body) as { data: { data: { text: string; links: { page: string | null } } }[] }
  for (const { data } of body.data) {
    if (data.links.page !== null) data.text = data.text.slice(0, data.text.lastIndexOf('\n'))
    data.links.page = null
  }
  return { ...preview, body: JSON.stringify(body) }
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the service does not see the last release')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const cluster = await createCluster()
  try {
    const text = `${JSON.stringify(await recordAnswers(cluster.url, cluster.stopServer), null, 2)}\n`
    await writeFile(target, text)
    console.error(`${target} written`)
  } finally {
    await cluster.stop()
  }
}
