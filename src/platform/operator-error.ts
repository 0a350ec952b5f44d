// An error of an operator's command with a message for the operator. Any other thrown error is a bug.
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}
