// outbreakctl client … and key …: credentials are handed out and taken back from the command line only.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CommandOutput } from '../../platform/cli/terminal.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Algorithm, algorithms } from '../key-ring.ts'
import { createClient, listClients, rotateSecret, setClientDisabled } from './clients.ts'
import { disableKey, listKeys, rotateKey } from './keys.ts'

interface CredentialCommands {
  scopes: readonly string[]
  /** Runs the work on the operator's database and prints its answer. */
  answer: (work: (database: Database) => Promise<CommandOutput | readonly CommandOutput[]>) => Promise<void>
  /** The key that seals private keys. */
  sealingKey: () => Buffer
}

export function registerCredentialCommands(program: Command, { scopes, answer, sealingKey }: CredentialCommands): void {
  const client = program.command('client').description('who may read')
  client
    .command('create')
    .description('create a client; its secret is shown once')
    .requiredOption('--name <name>', 'whose it is', parseName)
    .addOption(new Option('--scope <scope...>', 'what it may read').choices(scopes).default([...scopes]))
    .action((options: { name: string; scope: string[] }) =>
      answer((database) => createClient(database, options.name, options.scope)),
    )
  client
    .command('list')
    .description('all clients')
    .action(() => answer(listClients))
  client
    .command('rotate')
    .argument('<client-id>')
    .description('give a client a new secret; the old one goes on for a while')
    .option('--overlap <hours>', 'how long; 0 ends the old secret and all tokens at once', parseHours, 24)
    .action((id: string, options: { overlap: number }) =>
      answer((database) => rotateSecret(database, id, options.overlap * 3600)),
    )
  client
    .command('disable')
    .argument('<client-id>')
    .description('refuse a client and its tokens, on every node within 2 seconds')
    .action((id: string) => answer((database) => setClientDisabled(database, id, true)))
  client
    .command('enable')
    .argument('<client-id>')
    .description('let a disabled client in again, with new tokens')
    .action((id: string) => answer((database) => setClientDisabled(database, id, false)))

  const key = program.command('key').description('what signs access tokens')
  key
    .command('rotate')
    .description('add a key; the first signs at once, a later one after its notice, and the older ones fade out')
    .addOption(new Option('--algorithm <name>', 'signature algorithm').choices(algorithms).default('ES256'))
    .option('--notice <seconds>', 'how long the key is published before it signs', parseSeconds, 600)
    .action((options: { algorithm: Algorithm; notice: number }) =>
      answer((database) => rotateKey(database, sealingKey(), options.algorithm, options.notice)),
    )
  key
    .command('list')
    .description('all keys')
    .action(() => answer(listKeys))
  key
    .command('disable')
    .argument('<kid>')
    .description('stop trusting a key and every token it signed')
    .action((kid: string) => answer((database) => disableKey(database, kid)))
}

function parseName(text: string): string {
  if (!/^\P{Cc}{1,200}$/u.test(text) || text.trim() === '') throw new InvalidArgumentError('a name in one line')
  return text
}

const parseUpTo = (maximum: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value > maximum) throw new InvalidArgumentError(`a number from 0 to ${maximum}`)
  return value
}
const parseHours = parseUpTo(24 * 90)
const parseSeconds = parseUpTo(86_400 * 30)
