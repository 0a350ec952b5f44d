// Headers as they came: Node shows one where several were sent, and a request with two must often be refused.
import type { IncomingMessage } from 'node:http'

/** `name` is in lower case. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [given = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]]
    if (given.length === name.length && given.toLowerCase() === name) values.push(value)
  }
  return values
}
