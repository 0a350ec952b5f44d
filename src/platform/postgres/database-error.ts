// Explains connection, permission and schema errors of the database to the operator, in one sentence that says what
// to do. The sentence names users, hosts and databases, but never a password.

/** What to do, by SQLSTATE. The message of the server says what is wrong. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'check the user and the password in DATABASE_URL',
  '28000': 'check the user in DATABASE_URL and the rules in pg_hba.conf on the server',
  '3D000': 'create it, or correct its name in DATABASE_URL',
  '42P01': 'run outbreakctl migrate',
  '53100': 'free some space on the disk of the database server',
  '42P07': 'run outbreakctl migrate on an empty database',
}
const INSUFFICIENT_PRIVILEGE = '42501'

const TLS_CODES =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

/** Undefined for other errors. */
export function describeDatabaseError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  const message = readMessage(error)
  const explain = (sentence: string, remedy: string) => `${sentence} (${message}): ${remedy}.`

  const remedy = REMEDIES[code]
  if (remedy !== undefined) return explain('The database reports an error', remedy)
  if (code === INSUFFICIENT_PRIVILEGE) return explain('The database reports an error', remedyForPrivilege(message))

  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return explain('The certificate of the database server is for another host', 'correct the host in DATABASE_URL')
  }
  if (TLS_CODES.test(code)) {
    const add = 'name a file with the certificate of its issuer in DATABASE_URL, as sslrootcert=FILE'
    return explain('The certificate of the database server is not trusted', add)
  }
  if (message.includes('does not support SSL')) {
    return 'The database server does not offer TLS. Turn on ssl on the server, or remove sslmode from DATABASE_URL.'
  }
  if (message.startsWith('SASL:') && message.includes('password')) {
    return 'The database needs a password. Add it to DATABASE_URL.'
  }

  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return explain('The host of the database cannot be found', 'check its name in DATABASE_URL')
  }
  if (code === 'ECONNREFUSED') {
    return explain(
      'The database cannot be reached, because no server listens at its address',
      'check the host and the port in DATABASE_URL, and that PostgreSQL runs',
    )
  }
  // Sentences of the driver, for a server that went away during the command.
  if (/not queryable|Connection terminated/.test(message))
    return explain('The connection to the database was lost', 'run the command again')
  const syscall = 'syscall' in error ? error.syscall : undefined
  if (syscall === 'open' && (code === 'ENOENT' || code === 'EACCES')) {
    return explain('A file cannot be read', 'correct its path, in the command or in DATABASE_URL')
  }
  if (error instanceof URIError) {
    return 'DATABASE_URL cannot be parsed. Write a percent sign in a user name or password as %25.'
  }
  return undefined
}

function remedyForPrivilege(message: string): string {
  const role = /role "(outbreaks_\w+)"/.exec(message)?.[1]
  if (role !== undefined) return `as a superuser, grant ${role} to the user in DATABASE_URL`
  return 'for migrate, use the migration login, which owns the database and, if the group roles do not exist, has CREATEROLE; for anything else, a member of outbreaks_operator'
}

/** A host with several addresses fails with an AggregateError, which has one error for each address and no message. */
function readMessage(error: Error): string {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : []
  const messages = errors.filter((inner) => inner instanceof Error).map((one) => one.message)
  return (error.message || messages.join(', ')).split('\n', 1)[0] ?? ''
}
