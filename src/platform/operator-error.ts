// What an operator's command cannot do, in a sentence for the operator. Anything else that is thrown is our fault.
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}
