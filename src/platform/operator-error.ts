// Errors for the operator: what happened and what to do, in sentences. Any other thrown error is a bug.

interface OperatorErrorOptions extends ErrorOptions {
  /** What the operator can do, as a sentence. */
  readonly remedy?: string
}

export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  readonly sentence: string
  readonly remedy: string

  /** The message is the sentence and, if there is one, the remedy. */
  constructor(sentence: string, { remedy = '', ...options }: OperatorErrorOptions = {}) {
    super(remedy === '' ? sentence : `${sentence} ${remedy}`, options)
    this.sentence = sentence
    this.remedy = remedy
  }
}

/** A full disk, a missing directory, a lack of permission. Undefined for other errors. */
export function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, syscall, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT' || message.includes('No space left on device'))
    return `A disk is full (${message}). Free some space and run the command again.`
  if (code === undefined || syscall === undefined) return undefined
  return `The operating system reports an error (${message}). Check the path and its permissions.`
}
