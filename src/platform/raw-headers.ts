// Headers as they came: Node shows one where several were sent, and a request with two must often be refused.
import type { IncomingMessage } from 'node:http'

export const headerValues = ({ rawHeaders }: IncomingMessage, name: string): string[] =>
  rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
