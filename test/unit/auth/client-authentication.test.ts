// Client authentication at the token endpoint: every accepted form, and the error of every other form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { readCredentials, readParameters } from '../../../src/auth/client-authentication.ts'
import { TokenError, type TokenErrorCode } from '../../../src/auth/token-error.ts'

interface RequestParts {
  type?: string
  body?: string | undefined
  authorization?: string
  url?: string
}
type ClientAndSecret = readonly [clientId: string, clientSecret: string]
type Case = readonly [parts: RequestParts, expected: ClientAndSecret | TokenErrorCode]

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const json = (body: unknown): RequestParts => ({
  type: JSON_TYPE,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const form = (body: string, authorization?: string): RequestParts => ({
  type: FORM_TYPE,
  body,
  ...(authorization === undefined ? {} : { authorization }),
})
const base64 = (text: string) => Buffer.from(text).toString('base64')
const basic = (text: string, body = ''): RequestParts => form(body, `Basic ${base64(text)}`)
const both = { client_id: 'a', client_secret: 'b' }
const text = JSON.stringify(both)

const cases: Record<string, Case> = {
  JSON: [json(both), ['a', 'b']],
  'JSON with a charset': [{ ...json(both), type: 'application/json; charset=utf-8' }, ['a', 'b']],
  'JSON with its type in capitals': [{ ...json(both), type: 'Application/JSON' }, ['a', 'b']],
  'JSON with an unknown member': [json({ ...both, unknown: '' }), ['a', 'b']],
  'JSON with white space around': [json(`\n ${text} \n`), ['a', 'b']],
  'JSON with escapes': [json('{"client_id":"\\u0061","client_secret":"b\\n"}'), ['a', 'b\n']],
  'JSON with a member called __proto__': [json('{"client_id":"a","client_secret":"b","__proto__":"c"}'), ['a', 'b']],
  'JSON with credentials in __proto__': [json(`{"__proto__":${text}}`), 'invalid_request'],
  'JSON with credentials in a text __proto__': [json('{"__proto__":"a","constructor":"b"}'), 'invalid_request'],
  'JSON without an id': [json({ client_secret: 'b' }), 'invalid_request'],
  'JSON without a secret': [json({ client_id: 'a' }), 'invalid_request'],
  'JSON with an empty id': [json({ ...both, client_id: '' }), 'invalid_request'],
  'JSON with an empty secret': [json({ ...both, client_secret: '' }), 'invalid_request'],
  'JSON with a null secret': [json({ ...both, client_secret: null }), 'invalid_request'],
  'JSON with a numeric secret': [json({ ...both, client_secret: 1 }), 'invalid_request'],
  'JSON with a boolean secret': [json({ ...both, client_secret: true }), 'invalid_request'],
  'JSON with a list of secrets': [json({ ...both, client_secret: ['b'] }), 'invalid_request'],
  'JSON with an object as secret': [json({ ...both, client_secret: { $ne: '' } }), 'invalid_request'],
  'JSON with a number as an unknown member': [json({ ...both, unknown: 1 }), 'invalid_request'],
  'JSON with the secret twice': [json('{"client_id":"a","client_secret":"b","client_secret":"b"}'), 'invalid_request'],
  'JSON with the id twice, once escaped': [
    json('{"client_id":"c","client\\u005fid":"a","client_secret":"b"}'),
    'invalid_request',
  ],
  'JSON with an object before the secret': [
    json('{"client_secret":{"x":"y"},"client_id":"a","client_secret":"b"}'),
    'invalid_request',
  ],
  'JSON with a key inside a value': [
    json({ client_id: 'a":"', client_secret: '\\","client_id":"c' }),
    ['a":"', '\\","client_id":"c'],
  ],
  'deeply nested JSON': [json(`${'['.repeat(4000)}${']'.repeat(4000)}`), 'invalid_request'],
  'a JSON list': [json([both]), 'invalid_request'],
  'a JSON text': [json(JSON.stringify(text)), 'invalid_request'],
  'a JSON null': [json('null'), 'invalid_request'],
  'truncated JSON': [json(text.slice(0, -1)), 'invalid_request'],
  'the same JSON object twice': [json(text + text), 'invalid_request'],
  'JSON with a comment': [json(`${text} // me`), 'invalid_request'],
  'JSON after a byte order mark': [json(`\ufeff${text}`), 'invalid_request'],
  'an empty JSON body': [json(''), 'invalid_request'],
  'no body': [{ type: JSON_TYPE, body: undefined }, 'invalid_request'],
  'a form': [form('client_id=a&client_secret=b'), ['a', 'b']],
  'a form with a charset': [{ ...form('client_id=a&client_secret=b'), type: `${FORM_TYPE};charset=UTF-8` }, ['a', 'b']],
  'a form with encoded values': [form('client_id=%61&client_secret=b%2B+%C3%BC'), ['a', 'b+ ü']],
  'a form with the secret twice': [form('client_id=a&client_secret=b&client_secret=b'), 'invalid_request'],
  'a form with the id twice': [form('client_id=a&client_id=c&client_secret=b'), 'invalid_request'],
  'a form with an unknown parameter twice': [form('client_id=a&client_secret=b&x=1&x=1'), 'invalid_request'],
  'a form with a name twice, once encoded': [form('client_id=a&client%5Fid=c&client_secret=b'), 'invalid_request'],
  'a form with brackets': [form('client_id[]=a&client_secret[]=b'), 'invalid_request'],
  'a form without a secret': [form('client_id=a'), 'invalid_request'],
  'a form with an empty secret': [form('client_id=a&client_secret='), 'invalid_request'],
  'a form with an empty id': [form('client_id=&client_secret=b'), 'invalid_request'],
  'an empty form': [form(''), 'invalid_request'],
  'a form that is JSON': [{ ...json(both), type: FORM_TYPE }, 'invalid_request'],
  'JSON that is a form': [{ ...form('client_id=a&client_secret=b'), type: JSON_TYPE }, 'invalid_request'],
  'HTTP Basic': [basic('a:b'), ['a', 'b']],
  'HTTP Basic with a JSON body': [{ ...json({}), authorization: `Basic ${base64('a:b')}` }, ['a', 'b']],
  'HTTP Basic in small letters, after two spaces': [form('', `basic  ${base64('a:b')}`), ['a', 'b']],
  'HTTP Basic with colons in the secret': [basic('a:b:c:'), ['a', 'b:c:']],
  'HTTP Basic with form-encoded parts': [basic('a%3A1:b%25+%2B'), ['a:1', 'b% +']],
  'HTTP Basic with the same id in the body': [basic('a:b', 'client_id=a'), ['a', 'b']],
  'HTTP Basic with an empty secret': [basic('a:'), ['a', '']],
  'HTTP Basic with only a colon': [basic(':'), ['', '']],
  'HTTP Basic with another id in the body': [basic('a:b', 'client_id=c'), 'invalid_request'],
  'HTTP Basic and the same secret in the body': [basic('a:b', 'client_id=a&client_secret=b'), 'invalid_request'],
  'HTTP Basic and an empty secret in the body': [basic('a:b', 'client_secret='), 'invalid_request'],
  'HTTP Basic without a colon': [basic('ab'), 'invalid_client'],
  'HTTP Basic with broken percent-encoding': [basic('a:b%'), 'invalid_client'],
  'HTTP Basic with percent-encoding that is not UTF-8': [basic('a:%FF'), 'invalid_client'],
  'HTTP Basic without padding': [form('', `Basic ${base64('a:bc').replace(/=+$/, '')}`), 'invalid_client'],
  'HTTP Basic with too much padding': [form('', `Basic ${base64('a:b')}=`), 'invalid_client'],
  'HTTP Basic with unused bits set': [form('', 'Basic YTpiYx=='), 'invalid_client'],
  'HTTP Basic in base64url': [form('', 'Basic YTo-Pj4_'), 'invalid_client'],
  'HTTP Basic with a space inside': [form('', 'Basic YTp iYw=='), 'invalid_client'],
  'HTTP Basic with a second scheme after it': [form('', `Basic ${base64('a:b')}, Bearer x`), 'invalid_client'],
  'HTTP Basic without credentials': [form('', 'Basic '), 'invalid_client'],
  'the word Basic alone': [form('', 'Basic'), 'invalid_client'],
  'HTTP Basic without base64': [form('', 'Basic a:b'), 'invalid_client'],
  'a bearer token': [form('client_id=a&client_secret=b', 'Bearer token'), 'invalid_client'],
  'an empty Authorization header': [form('client_id=a&client_secret=b', ''), 'invalid_client'],
  'no content type': [{ body: text }, 'invalid_request'],
  'plain text': [{ type: 'text/plain', body: text }, 'invalid_request'],
  multipart: [{ type: 'multipart/form-data; boundary=x', body: '--x--' }, 'invalid_request'],
  'a type that ends in json': [{ type: 'application/problem+json', body: text }, 'invalid_request'],
  'two content types': [{ type: `${JSON_TYPE}, ${FORM_TYPE}`, body: text }, 'invalid_request'],
  'credentials in the URL': [{ ...form(''), url: '/oauth/token?client_id=a&client_secret=b' }, 'invalid_request'],
  'an empty query in the URL': [{ ...json(both), url: '/oauth/token?' }, 'invalid_request'],
}

function readClient({ type, body, authorization, url = '/oauth/token' }: RequestParts) {
  const rawHeaders = authorization === undefined ? [] : ['Authorization', authorization]
  const request = { url, headers: { 'content-type': type }, raw: { rawHeaders }, body } as unknown as FastifyRequest
  return readCredentials(request, readParameters(request))
}

for (const [title, [parts, expected]] of Object.entries(cases)) {
  const outcome = typeof expected === 'string' ? `gives ${expected}` : 'gives the client id and secret'
  test(`${title} ${outcome}`, () => {
    const challenged = parts.authorization !== undefined
    if (typeof expected !== 'string') {
      const { clientId, clientSecret, challenge } = readClient(parts)
      assert.deepEqual([clientId, clientSecret], expected)
      assert.equal('www-authenticate' in challenge, challenged)
      return
    }
    assert.throws(
      () => readClient(parts),
      (error) => {
        assert.ok(error instanceof TokenError, String(error))
        assert.equal(error.code, expected)
        // RFC 6749 section 5.2: a client that used the header gets a challenge.
        assert.equal('www-authenticate' in error.headers, expected === 'invalid_client')
        return true
      },
    )
  })
}

test('there are at least 40 cases', () => assert.ok(Object.keys(cases).length >= 40))
