// The commands `outbreakctl client` and `outbreakctl key`, the only way to create and revoke credentials.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CommandOutput } from '../../platform/cli/terminal.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Algorithm, algorithms } from '../key-ring.ts'
import { createClient, listClients, rotateSecret, setClientDisabled } from './clients.ts'
import { disableKey, listKeys, resealKeys, rotateKey, type SealingKeys } from './keys.ts'

interface CredentialCommands {
  scopes: readonly string[]
  /** Runs the work on the operator's database and prints its result. */
  runAndPrint: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
  /** The keys for private keys: the first one encrypts. */
  sealingKeys: () => SealingKeys
}

export function registerCredentialCommands(
  program: Command,
  { scopes, runAndPrint, sealingKeys }: CredentialCommands,
): void {
  const client = program.command('client').description('manage the clients of the API')
  client
    .command('create')
    .description('create a client; its secret is shown once')
    .requiredOption('--name <name>', 'name of the client, for instance its organisation', parseName)
    .addOption(new Option('--scope <scope...>', 'datasets that it may read').choices(scopes).default([...scopes]))
    .action((options: { name: string; scope: string[] }) =>
      runAndPrint((database) => createClient(database, options.name, options.scope)),
    )
  client
    .command('list')
    .description('list all clients')
    .action(() => runAndPrint(listClients))
  client
    .command('rotate')
    .argument('<client-id>')
    .description('give a client a new secret; the old one stays valid for the overlap')
    .option(
      '--overlap <hours>',
      'how long the old secret stays valid; 0 revokes it and all tokens at once',
      parseHours,
      24,
    )
    .action((id: string, options: { overlap: number }) =>
      runAndPrint((database) => rotateSecret(database, id, options.overlap * 3600)),
    )
  client
    .command('disable')
    .argument('<client-id>')
    .description('reject a client and its tokens, on every node within 2 seconds')
    .action((id: string) => runAndPrint((database) => setClientDisabled(database, id, true)))
  client
    .command('enable')
    .argument('<client-id>')
    .description('accept a disabled client again; it needs a new token')
    .action((id: string) => runAndPrint((database) => setClientDisabled(database, id, false)))

  const key = program.command('key').description('manage the keys that sign access tokens')
  key
    .command('rotate')
    .description(
      'add a key; the first one signs at once, a later one after its notice; older keys then verify until their tokens expire',
    )
    .addOption(new Option('--algorithm <name>', 'signature algorithm').choices(algorithms).default('ES256'))
    .option('--notice <seconds>', 'how long the key is published before it signs', parseSeconds, 600)
    .option('--force', 'although this secret reads none of the keys, because it replaces one that is lost')
    .action(({ algorithm, notice, force }: { algorithm: Algorithm; notice: number; force?: true }) =>
      runAndPrint((database) => rotateKey(database, sealingKeys(), algorithm, notice, { force: force ?? false })),
    )
  key
    .command('reseal')
    .description('encrypt all keys with OUTBREAKS_SECRET; OUTBREAKS_SECRET_BEFORE reads those that another one encrypted')
    .action(() => runAndPrint((database) => resealKeys(database, sealingKeys())))
  key
    .command('list')
    .description('list all keys')
    .action(() => runAndPrint(listKeys))
  key
    .command('disable')
    .argument('<kid>')
    .description('reject a key and every token that it signed')
    .action((kid: string) => runAndPrint((database) => disableKey(database, kid)))
}

function parseName(text: string): string {
  if (!/^\P{Cc}{1,200}$/u.test(text) || text.trim() === '')
    throw new InvalidArgumentError('It must be one line of 1 to 200 characters.')
  return text
}

const parseUpTo = (maximum: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value > maximum)
    throw new InvalidArgumentError(`It must be a number from 0 to ${maximum}.`)
  return value
}
const parseHours = parseUpTo(24 * 90)
const parseSeconds = parseUpTo(86_400 * 30)
