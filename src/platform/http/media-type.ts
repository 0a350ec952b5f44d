// The media type of a response (RFC 9110, 12.5.1). Only a type that the client names selects another format than JSON.
import Negotiator from 'negotiator'

/**
 * The first of the client's types, by its preference, that is `available`. Null is JSON: the client sends no Accept, prefers
 * JSON, accepts anything, or accepts nothing that is available. A range such as text/* does not select a format, because
 * clients send ranges without choosing.
 */
export function chooseMediaType<Type extends string>(
  accept: string | undefined,
  available: readonly Type[],
): Type | null {
  if (accept === undefined) return null
  for (const range of new Negotiator({ headers: { accept } }).mediaTypes()) {
    const type = range.toLowerCase()
    if (['application/json', 'application/*', '*/*'].includes(type)) return null
    const chosen = available.find((candidate) => candidate === type)
    if (chosen !== undefined) return chosen
  }
  return null
}
