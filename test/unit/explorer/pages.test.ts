// After signing in, a browser never leaves the explorer, whatever `to` says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseTarget } from '../../../src/explorer/pages.ts'

const inside: [to: string | null, target: string][] = [
  [null, '/explore'],
  ['', '/explore'],
  ['/explore', '/explore'],
  ['/explore?disease=Measles&country_code=FR', '/explore?disease=Measles&country_code=FR'],
  ['/explore/records/7', '/explore/records/7'],
  ['/explore/releases/3?to=//evil.example', '/explore/releases/3?to=//evil.example'],
  ['/explore/events#part', '/explore/events'],
  ['/explore/events/Lassa_Nigeria_2018/changes?compare=4', '/explore/events/Lassa_Nigeria_2018/changes?compare=4'],
  ['/explore/compare?event=A&event=B', '/explore/compare?event=A&event=B'],
  // Browsers read these as other paths of this origin.
  ['/explore/x/../events', '/explore/events'],
  ['/explore/%2e%2e/explore/events', '/explore/events'],
  ['\\explore\\events', '/explore/events'],
]
for (const [to, target] of inside) test(`${to} leads to ${target}`, () => assert.equal(chooseTarget(to), target))

const outside = [
  ...[
    '//evil.example',
    '///evil.example',
    '////evil.example/explore',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
  ],
  ...[
    'https://evil.example',
    'https:evil.example',
    'https:/evil.example/explore',
    'http://evil.example/explore',
    'HTTPS://evil.example',
  ],
  ...[
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    ' javascript:alert(1)',
    'blob:http://localhost/x',
  ],
  ...[
    '//evil.example/explore',
    '/explore//evil.example',
    '/explore/..//evil.example',
    '/explore/../..//evil.example/explore',
  ],
  ...[
    '/explore\\@evil.example',
    '/explore@evil.example',
    '/explore.evil.example',
    '/exploreevil',
    '//localhost@evil.example/explore',
  ],
  ...[
    '/%5cevil.example',
    '/%2fevil.example',
    '%2f%2fevil.example',
    '/explore/%2e%2e/',
    '/explore/..%2f..',
    '/explore/%5c%5cevil.example',
  ],
  ...['/', '/v2/whoami', '/explore/../v2/whoami', '/explore/%2e%2e/reference', 'explored', 'http://', 'http://['],
  // These would begin another sign-in.
  ...['/explore/sign-in', '/explore/oidc/start', '/explore/oidc/callback', '/explore/session', '/explore/assets/x'],
]
for (const to of outside)
  test(`${JSON.stringify(to)} leads to the first page`, () => assert.equal(chooseTarget(to), '/explore'))

test('line breaks, also encoded ones, never get into a header', () => {
  for (const end of ['\r\nSet-Cookie: a=b', '%0d%0aSet-Cookie:%20a=b', '\n', '\u2028', '\u0000', '%00'])
    for (const to of [`/explore${end}`, `/explore?a=${end}`, `/explore/records/${end}`])
      assert.match(chooseTarget(to), /^\/explore[\x21-\x7e]*$/)
})
