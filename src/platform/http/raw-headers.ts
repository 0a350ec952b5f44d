// All values of a repeated header. Node exposes one of them, but a request with two is often invalid.
import type { IncomingMessage } from 'node:http'

/** `name` is in lower case. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    if (header.length === name.length && header.toLowerCase() === name) values.push(value)
  }
  return values
}
