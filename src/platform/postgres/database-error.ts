// Why the database did not let a program in, or did not know what it asked for, in one sentence that says what to do.
// For an operator's command: it names users, hosts and databases, but never repeats a password.

/** By SQLSTATE: what to do. The server's own message says what is wrong. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'check the user and the password in DATABASE_URL',
  '28000': 'check the user in DATABASE_URL and the rules in pg_hba.conf on the server',
  '3D000': 'create it, or correct its name in DATABASE_URL',
  '42P01': 'run outbreakctl migrate',
  '42P07': 'run outbreakctl migrate on an empty database',
}
const NO_PRIVILEGE = '42501'

const TLS_CODES =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

/** Undefined where the failure is of another kind. */
export function describeDatabaseError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  const message = readMessage(error)
  const what = (sentence: string, remedy: string) => `${sentence} (${message}): ${remedy}.`

  const remedy = REMEDIES[code]
  if (remedy !== undefined) return what('The database refuses', remedy)
  if (code === NO_PRIVILEGE) return what('The database refuses', remedyForPrivilege(message))

  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return what('The certificate of the database server is for another host', 'correct the host in DATABASE_URL')
  }
  if (TLS_CODES.test(code)) {
    const add = 'name a file with the certificate of its issuer in DATABASE_URL, as sslrootcert=FILE'
    return what('The certificate of the database server is not trusted', add)
  }
  if (message.includes('does not support SSL')) {
    return 'The database server does not offer TLS: turn ssl on there, or take sslmode out of DATABASE_URL.'
  }
  if (message.startsWith('SASL:') && message.includes('password')) {
    return 'The database asks for a password and finds none: add it to DATABASE_URL.'
  }

  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return what('The host of the database cannot be found', 'check its name in DATABASE_URL')
  }
  if (code === 'ECONNREFUSED') {
    return what(
      'The database cannot be reached, nothing listens there',
      'check the host and the port in DATABASE_URL, and that PostgreSQL runs',
    )
  }
  const call = 'syscall' in error ? error.syscall : undefined
  if (call === 'open' && (code === 'ENOENT' || code === 'EACCES')) {
    return what('A file cannot be read', 'correct its path, in the command or in DATABASE_URL')
  }
  if (error instanceof URIError) {
    return 'DATABASE_URL cannot be read: write a percent sign in a user name or a password as %25.'
  }
  return undefined
}

function remedyForPrivilege(message: string): string {
  const role = /role "(outbreaks_\w+)"/.exec(message)?.[1]
  if (role !== undefined) return `as a superuser, grant ${role} to the user in DATABASE_URL`
  return 'for migrate, log in as the owner of the database, with CREATEROLE; for anything else, as a member of outbreaks_operator'
}

/** A host with several addresses fails with one error for each, and none of its own. */
function readMessage(error: Error): string {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : []
  const messages = errors.filter((one) => one instanceof Error).map((one) => one.message)
  return (error.message || messages.join(', ')).split('\n', 1)[0] ?? ''
}
