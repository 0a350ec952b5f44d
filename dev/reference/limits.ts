// The page of limits, from the constants that the program uses.

import { MAX_VALUES } from '../../src/api/filters/filters.ts'
import { DEFAULT_NUM, MAX_HITS, MAX_NUM } from '../../src/api/requests/parameters.ts'
import { MAX_CELLS } from '../../src/api/resources/coverage.ts'
import { DOWNLOAD_TIMEOUT_MS } from '../../src/api/resources/files.ts'
import { MAX_RELEASES } from '../../src/api/resources/vintages.ts'
import { RENDER_TIMEOUT_MS } from '../../src/api/response/responder.ts'
import { STREAM_TIMEOUT_MS } from '../../src/api/response/stream-file.ts'
import { MAX_WORDS } from '../../src/api/search/require-words.ts'
import { MAX_TOKEN_LENGTH } from '../../src/auth/access-tokens.ts'
import { TOKEN_SECONDS } from '../../src/auth/key-ring.ts'
import { MAX_TEXT_LENGTH } from '../../src/datasets/define.ts'
import { MAX_PIPELINED } from '../../src/platform/http/bounded-server.ts'
import { BODY_LIMIT, DEFAULT_LIMITS, SERVER_OPTIONS } from '../../src/platform/http/http-server.ts'
import { QUOTA_SECONDS } from '../../src/platform/http/quota.ts'
import * as input from '../../src/publish/input/limits.ts'
import { MAX_UNCONFIRMED_SHARE } from '../../src/publish/publish.ts'
import { VARIABLES } from '../../src/variables.ts'
import { GENERATED } from './operations.ts'

type Row = readonly [limit: string, value: string, beyond: string]

const number = (value: number) => value.toLocaleString('en')
const seconds = (ms: number) => `${number(ms / 1000)} s`
const hours = (ms: number) => `${number(ms / 3_600_000)} h`
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB']
function bytes(value: number): string {
  const step = Math.floor(Math.log2(value) / 10)
  return `${number(value / 1024 ** step)} ${UNITS[step] ?? ''}`
}
/** What the operator can change, with its default. */
const setting = (name: 'OUTBREAKS_RATE_LIMIT' | 'OUTBREAKS_CLIENT_CONCURRENCY' | 'OUTBREAKS_FAILED_ATTEMPTS') =>
  `${number(VARIABLES[name].fallback ?? 0)} (\`${name}\`)`

const REQUESTS: Row[] = [
  ['records of a page', `${MAX_NUM}, ${DEFAULT_NUM} by default`, 'status 400'],
  ['hits of a search', String(MAX_HITS), 'status 400'],
  ['words of a search', String(MAX_WORDS), 'status 400'],
  ['values of one filter', String(MAX_VALUES), 'status 400'],
  ['periods in an answer of `/coverage`', number(MAX_CELLS), 'status 400: filter more, or ask for longer periods'],
  ['releases in an answer of `/vintages`', String(MAX_RELEASES), 'status 400: ask for a shorter range'],
  ['the head of a request with its URL', bytes(SERVER_OPTIONS.maxHeaderSize), 'status 431'],
  ['the body of a token request', bytes(BODY_LIMIT), 'status 413'],
  ['time to answer a request', seconds(RENDER_TIMEOUT_MS), 'status 503; ask for fewer records, or for a file'],
  ['time to send a query as one file', hours(STREAM_TIMEOUT_MS), 'the response ends without its last chunk'],
  [
    'time to download a file',
    hours(DOWNLOAD_TIMEOUT_MS),
    'the connection is closed; the rest can be requested with `Range`',
  ],
]
const CLIENTS: Row[] = [
  ['a token is valid for', hours(TOKEN_SECONDS * 1000), 'status 401'],
  ['length of a token', `${number(MAX_TOKEN_LENGTH)} characters`, 'status 401'],
  [`units of a client in ${QUOTA_SECONDS} s`, setting('OUTBREAKS_RATE_LIMIT'), 'status 429 with `Retry-After`'],
  [
    'concurrent requests of a client on a node',
    setting('OUTBREAKS_CLIENT_CONCURRENCY'),
    'status 429 with `Retry-After`',
  ],
  [
    'failed attempts in a minute from one address',
    setting('OUTBREAKS_FAILED_ATTEMPTS'),
    'status 429 for more failed ones',
  ],
  [
    'connections of all clients on a node',
    number(DEFAULT_LIMITS.maxConnections),
    'the connection that has been idle longest is closed, or the new one if none is idle',
  ],
  [
    'requests on a connection before the first response',
    String(MAX_PIPELINED),
    'the connection is closed after these responses',
  ],
  ['time in which a client reads nothing', seconds(DEFAULT_LIMITS.unreadTimeoutMs), 'the connection is closed'],
]
const FILES: Row[] = [
  [
    'a line of NDJSON, a record of CSV',
    `${number(input.MAX_LINE_LENGTH)} characters`,
    'for an unclosed quote the message says so',
  ],
  ['columns of a table', number(input.MAX_COLUMNS), ''],
  ['a record as JSON', bytes(input.MAX_RECORD_BYTES), ''],
  ['a text without another limit in the [data dictionary](../data-dictionary.md)', `${MAX_TEXT_LENGTH} characters`, ''],
  ['levels in a line of NDJSON', String(input.MAX_LINE_DEPTH), ''],
  ['levels in `extra`', String(input.MAX_OBJECT_DEPTH), ''],
  ['`release.json`, a mapping file', bytes(input.MAX_SETTINGS_BYTES), ''],
  [
    'a row group of Parquet without compression',
    `${number(input.PARQUET_GROUP_CELLS)} cells, ${bytes(input.PARQUET_GROUP_BYTES)}`,
    'write smaller row groups',
  ],
  [
    'to decode a batch of rows of Parquet',
    `${bytes(input.PARQUET_MEMORY_BYTES)} more than before, ${seconds(input.PARQUET_TIMEOUT_MS)}`,
    'even if the file declares less than it contains',
  ],
  [
    'records that a release withdraws',
    `${MAX_UNCONFIRMED_SHARE * 100}%`,
    'confirm their number with `--confirm-withdrawn`',
  ],
]

const section = (title: string, about: string, rows: readonly Row[]): string[] => [
  ...[`## ${title}`, '', about, '', '| limit | value | beyond it |', '|---|---|---|'],
  ...rows.map((row) => `| ${row.join(' | ')} |`),
  '',
]

export function renderLimits(): string {
  return [
    ...[
      '# Limits',
      '',
      GENERATED,
      '',
      'The largest values that the service accepts, and what happens beyond them.',
      '',
    ],
    ...section(
      'Requests',
      'A status comes with a problem that names the parameter ([errors](../errors.md)).',
      REQUESTS,
    ),
    ...section('Clients', '[Fair use](../fair-use.md) says how they are counted.', CLIENTS),
    ...section(
      'Files to publish',
      '`check`, `preview` and `publish` reject an input beyond these limits with its file and line.',
      FILES,
    ),
  ].join('\n')
}
