// Explains connection, permission and schema errors of the database to the operator: what happened, and what to do. The
// sentences name users, hosts and databases, but never a password.
import { OperatorError } from '../operator-error.ts'

interface Explanation {
  /** What happened. The message of the server or the driver follows in parentheses. */
  readonly sentence: string
  readonly remedy: string
}

/** By SQLSTATE. */
const BY_STATE: Readonly<Record<string, Explanation>> = {
  '28P01': {
    sentence: 'The database rejected the login',
    remedy: 'Check the user and the password in DATABASE_URL.',
  },
  '28000': {
    sentence: 'The database rejected the connection',
    remedy: 'Check the user in DATABASE_URL and the rules in pg_hba.conf on the server.',
  },
  '3D000': { sentence: 'The database does not exist', remedy: 'Create it, or correct its name in DATABASE_URL.' },
  '42P01': { sentence: 'A table is missing', remedy: 'Run outbreakctl migrate.' },
  '42P07': { sentence: 'A table already exists', remedy: 'Run outbreakctl migrate on an empty database.' },
  '53100': { sentence: 'The disk is full', remedy: 'Free some space on the disk of the database server.' },
}
const INSUFFICIENT_PRIVILEGE = '42501'

const TLS_CODES =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

/** Undefined for other errors. */
export function explainDatabaseError(error: unknown): OperatorError | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  const message = readMessage(error)
  const explain = (sentence: string, remedy: string) =>
    new OperatorError(`${sentence} (${message}).`, { remedy, cause: error })

  const known = BY_STATE[code]
  if (known !== undefined) return explain(known.sentence, known.remedy)
  if (code === INSUFFICIENT_PRIVILEGE) return explain(...explainPrivilege(message))

  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return explain("The database server's certificate is for another host", 'Correct the host in DATABASE_URL.')
  if (TLS_CODES.test(code))
    return explain(
      "The database server's certificate is not trusted",
      "Add its issuer's certificate to DATABASE_URL: sslrootcert=FILE.",
    )
  if (message.includes('does not support SSL'))
    return new OperatorError('The database server does not offer TLS.', {
      remedy: 'Turn on ssl on the server, or remove sslmode from DATABASE_URL.',
    })
  if (message.startsWith('SASL:') && message.includes('password'))
    return new OperatorError('The database needs a password.', { remedy: 'Add it to DATABASE_URL.' })

  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return explain('The database host cannot be found', 'Check its name in DATABASE_URL.')
  if (code === 'ECONNREFUSED')
    return explain(
      "Nothing listens at the database's address",
      'Check the host and port in DATABASE_URL, and that PostgreSQL is running.',
    )
  // Sentences of the driver, for a server that went away during the command.
  if (/not queryable|Connection terminated/.test(message))
    return explain('The connection to the database was lost', 'Run the command again.')
  const syscall = 'syscall' in error ? error.syscall : undefined
  if (syscall === 'open' && (code === 'ENOENT' || code === 'EACCES'))
    return explain('A file cannot be read', 'Correct its path in the command or in DATABASE_URL.')
  if (error instanceof URIError)
    return new OperatorError('DATABASE_URL cannot be parsed.', {
      remedy: 'Write a percent sign in a user name or password as %25.',
    })
  return undefined
}

function explainPrivilege(message: string): [sentence: string, remedy: string] {
  const role = /role "(outbreaks_\w+)"/.exec(message)?.[1]
  if (role !== undefined) return ['The login lacks a role', `As superuser, grant ${role} to the user in DATABASE_URL.`]
  return [
    'The login lacks a privilege',
    'For migrate, use the migration login, which owns the database and, if the group roles do not exist, has CREATEROLE. For everything else, use a member of outbreaks_operator.',
  ]
}

/** A host with several addresses fails with an AggregateError, which has one error for each address and no message. */
function readMessage(error: Error): string {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : []
  const messages = errors.filter((inner) => inner instanceof Error).map((one) => one.message)
  return (error.message || messages.join(', ')).split('\n', 1)[0] ?? ''
}
