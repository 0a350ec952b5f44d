// The commands `outbreakctl client`, `outbreakctl link` and `outbreakctl key`, the only way to create and revoke credentials.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { DAY_MS, isCalendarDate } from '../../platform/calendar-date.ts'
import type { CommandOutput } from '../../platform/cli/terminal.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Algorithm, algorithms } from '../key-ring.ts'
import { MAX_LINK_DAYS } from '../links/link-key.ts'
import { DEFAULT_LINK_DAYS } from '../links/make-link.ts'
import {
  createClient,
  createKeyClient,
  listClients,
  rotateSecret,
  setClientDisabled,
  setPublicKeys,
} from './clients.ts'
import { readKeyFile } from './key-files.ts'
import { disableKey, listKeys, resealKeys, rotateKey, type SealingKeys } from './keys.ts'
import { type LinkedDataset, linkForClient } from './links.ts'

interface CredentialCommands {
  datasets: readonly LinkedDataset[]
  /** Runs the work on the operator's database and prints its result. */
  runAndPrint: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
  /** The keys for private keys: the first one encrypts. */
  sealingKeys: () => SealingKeys
  /** The keys that sign links. */
  linkKeys: () => SealingKeys
}

export function registerCredentialCommands(
  program: Command,
  { datasets, runAndPrint, sealingKeys, linkKeys }: CredentialCommands,
): void {
  const scopes = datasets.map((dataset) => dataset.scope)
  const client = program.command('client').description('create, rotate and disable API clients')
  client
    .command('create')
    .description('create a client and show its secret, once')
    .requiredOption('--name <name>', 'who the client is for, such as an organisation', parseName)
    .addOption(new Option('--scope <scope...>', 'datasets the client can read').choices(scopes).default([...scopes]))
    .addOption(new Option('--expires <when>', EXPIRES).argParser(parseExpiry))
    .addOption(new Option('--jwks <file>', JWKS).conflicts('expires'))
    .action(({ name, scope, expires, jwks }: { name: string; scope: string[]; expires?: Date; jwks?: string }) =>
      runAndPrint(async (database) =>
        jwks === undefined
          ? createClient(database, name, scope, expires)
          : createKeyClient(database, name, scope, await readKeyFile(jwks)),
      ),
    )
  client
    .command('list')
    .description('list all clients')
    .action(() => runAndPrint(listClients))
  client
    .command('rotate')
    .argument('<client-id>')
    .description('give a client a new secret, and keep the old one valid for a while')
    .option(
      '--overlap <hours>',
      'hours that the old secret stays valid; 0 revokes it and all tokens immediately',
      parseHours,
      24,
    )
    .option('--expires <when>', EXPIRES, parseExpiry)
    .action((id: string, options: { overlap: number; expires?: Date }) =>
      runAndPrint((database) => rotateSecret(database, id, options.overlap * 3600, options.expires ?? null)),
    )
  client
    .command('set-key')
    .argument('<client-id>')
    .description('let a client authenticate with its own keys (private_key_jwt)')
    .requiredOption('--jwks <file>', JWKS)
    .option(
      '--overlap <hours>',
      'hours that its secrets stay valid; 0 revokes them and all tokens immediately',
      parseHours,
      24,
    )
    .action((id: string, options: { jwks: string; overlap: number }) =>
      runAndPrint(async (database) =>
        setPublicKeys(database, id, await readKeyFile(options.jwks), options.overlap * 3600),
      ),
    )
  client
    .command('disable')
    .argument('<client-id>')
    .description('block a client and its tokens, on every node within 2 seconds')
    .action((id: string) => runAndPrint((database) => setClientDisabled(database, id, true)))
  client
    .command('enable')
    .argument('<client-id>')
    .description('unblock a client; it needs a new token')
    .action((id: string) => runAndPrint((database) => setClientDisabled(database, id, false)))

  program
    .command('link')
    .argument('<client-id>')
    .argument(
      '<address>',
      'the URL that the link opens, such as https://data.example.org/v2/…/sums?q=ebola&format=csv',
      parseAddress,
    )
    .description('make a URL that opens one query of a client without a token, such as for a spreadsheet')
    .option('--days <days>', `days that the link works, up to ${MAX_LINK_DAYS}`, parseDays, DEFAULT_LINK_DAYS)
    .action((id: string, address: string, { days }: { days: number }) =>
      runAndPrint((database) =>
        linkForClient(database, id, address, { datasets, linkKeys: linkKeys(), sealingKeys: sealingKeys(), days }),
      ),
    )

  const key = program.command('key').description('manage the keys that sign access tokens')
  key
    .command('rotate')
    .description('add a signing key; the first one signs immediately, later ones after --notice')
    .addOption(new Option('--algorithm <name>', 'signature algorithm').choices(algorithms).default('ES256'))
    .option('--notice <seconds>', 'seconds to publish the key before it signs', parseSeconds, 600)
    .option('--force', 'continue although OUTBREAKS_SECRET decrypts none of the keys; only if the old secret is lost')
    .action(({ algorithm, notice, force }: { algorithm: Algorithm; notice: number; force?: true }) =>
      runAndPrint((database) => rotateKey(database, sealingKeys(), algorithm, notice, { force: force ?? false })),
    )
  key
    .command('reseal')
    .description('re-encrypt all keys with OUTBREAKS_SECRET; set OUTBREAKS_SECRET_PREVIOUS to the old secret')
    .action(() =>
      runAndPrint(async (database) => {
        const result = await resealKeys(database, sealingKeys())
        if (result.unreadable.length === 0) return result
        process.exitCode = 1
        return {
          ...result,
          next: `set OUTBREAKS_SECRET_PREVIOUS to the secret that encrypted them and run this again, or run outbreakctl key disable ${result.unreadable[0]}`,
        }
      }),
    )
  key
    .command('list')
    .description('list all keys')
    .action(() => runAndPrint(listKeys))
  key
    .command('disable')
    .argument('<kid>')
    .description('stop trusting a key, and reject every token it signed')
    .action((kid: string) => runAndPrint((database) => disableKey(database, kid)))
}

const EXPIRES = 'days until the secret expires, or a date (00:00 UTC); default: never'
const JWKS = 'use the public keys in this file (a JWK or JWK Set) instead of a secret'
const MAX_EXPIRY_DAYS = 3650

/** Exported for its test. */
export function parseExpiry(text: string, _previous?: unknown, now = Date.now()): Date {
  const time = isCalendarDate(text)
    ? Date.parse(`${text}T00:00:00Z`)
    : /^\d{1,4}$/.test(text)
      ? now + Number(text) * DAY_MS
      : Number.NaN
  if (!(time > now && time <= now + MAX_EXPIRY_DAYS * DAY_MS))
    throw new InvalidArgumentError(
      `It must be a number of days from 1 to ${MAX_EXPIRY_DAYS}, or a future date such as 2027-01-31.`,
    )
  return new Date(time)
}

function parseName(text: string): string {
  if (!/^\P{Cc}{1,200}$/u.test(text) || text.trim() === '')
    throw new InvalidArgumentError('It must be one line of 1 to 200 characters.')
  return text
}

/** Before the command is recorded: the audit log must not have a key. */
function parseAddress(text: string): string {
  if (/[?&]key=/.test(text)) throw new InvalidArgumentError('It already contains a key. Leave out key=….')
  return text
}

function parseDays(text: string): number {
  const days = Number(text)
  if (!/^[1-9]\d{0,2}$/.test(text) || days > MAX_LINK_DAYS)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LINK_DAYS}.`)
  return days
}

const parseUpTo = (maximum: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value > maximum)
    throw new InvalidArgumentError(`It must be a number from 0 to ${maximum}.`)
  return value
}
const parseHours = parseUpTo(24 * 90)
const parseSeconds = parseUpTo(86_400 * 30)
