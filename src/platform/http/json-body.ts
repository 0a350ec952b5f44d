// Reads bodies in JSON, in the scope of the routes that have some, and checks them against a schema: a member that is unknown,
// missing or invalid is named.
import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { findRepeatedKey } from '../json/repeated-key.ts'
import { Problem } from '../problem.ts'
import type { HttpServer } from './http-server.ts'
import { askIfMeant } from './query-string.ts'

const NO_OBJECT = 'Send a JSON object with Content-Type: application/json.'

/** The body of a request of the scope is an object, or there is none. The limit of the server holds. */
export function acceptJson(scope: HttpServer): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      const body: unknown = text === '' ? undefined : JSON.parse(String(text))
      if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body)))
        return done(new Problem('invalid_request', NO_OBJECT))
      const repeated = body === undefined ? null : findRepeatedKey(String(text))
      if (repeated !== null) return done(repeatedMember(repeated.slice(0, 40)))
      done(null, body)
    } catch (cause) {
      done(new Problem('invalid_request', `The body is not valid JSON. ${NO_OBJECT}`, { cause }))
    }
  })
  scope.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(new Problem('unsupported_media_type', NO_OBJECT))
  })
}

const repeatedMember = (name: string) =>
  new Problem('repeated_parameter', `The body has ${JSON.stringify(name)} twice. Send each member once.`, {
    parameter: name,
  })

/** Returns what checks a body and throws a Problem. Members are strings, numbers, booleans or null. */
export function compileBody<Schema extends TObject>(schema: Schema): (body: unknown) => Static<Schema> {
  const properties = Object.entries(schema.properties as Record<string, TSchema & { description?: string }>)
  const members = new Map(
    properties.map(([name, member]) => [name, { ...member, validator: Compile(member) }] as const),
  )
  const names = [...members.keys()]
  return (body) => {
    if (typeof body !== 'object' || body === null) throw new Problem('invalid_request', NO_OBJECT)
    for (const [name, value] of Object.entries(body)) {
      const member = members.get(name)
      if (member === undefined)
        throw new Problem(
          'unknown_parameter',
          `${JSON.stringify(name.slice(0, 40))} is not a member of this body.${askIfMeant(name, names)} Its members are ${names.join(', ')}.`,
          { parameter: name.slice(0, 40) },
        )
      if (!member.validator.Check(value))
        throw new Problem('invalid_parameter', `${name} is not valid. ${member.description ?? ''}`.trim(), {
          parameter: name,
        })
    }
    const missing = (schema.required ?? []).find((name) => !Object.hasOwn(body, name))
    if (missing !== undefined)
      throw new Problem(
        'invalid_parameter',
        `Add the member ${missing}. ${members.get(missing)?.description ?? ''}`.trim(),
        { parameter: missing },
      )
    return body as Static<Schema>
  }
}
