// The page at the root and security.txt, in process: the form that a client accepts, texts that are no markup, and dates.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { registerLandingPage, registerSecurityText } from '../../../../src/platform/pages/landing-page.ts'
import { BASE_URL, createObservedServer } from '../../../fixtures/observed-server.ts'

const HOSTILE = '</script><b a="'
const { app } = createObservedServer()
const page = {
  ...{
    title: `Title ${HOSTILE}`,
    headline: HOSTILE,
    description: `Description ${HOSTILE}`,
    structuredData: { name: HOSTILE },
  },
  sections: [
    { title: 'One', links: [{ name: 'a', href: '/a', title: 'A', description: 'First' }] },
    { title: 'Two', links: [{ name: 'b', href: '/b', title: 'B', description: 'Second' }] },
  ],
}
registerLandingPage(app, page, { styleSheet: '/s.css', links: [{ href: '/a', title: HOSTILE }] })
registerSecurityText(app, BASE_URL, 'mailto:security@api.test')
after(() => app.close())
const get = (url: string, accept = '*/*') => app.inject({ url, headers: { accept } })

test('JSON has the links of all sections by name', async () => {
  for (const accept of ['*/*', 'application/json', 'image/png']) {
    const { headers, body } = await get('/', accept)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.deepEqual([headers['vary'], headers['cache-control']], ['accept', 'public, max-age=300'])
    assert.deepEqual(JSON.parse(body), {
      ...{ title: `Title ${HOSTILE}`, description: `Description ${HOSTILE}`, links: { a: '/a', b: '/b' } },
    })
  }
})

test('HTML has every text as text, a data block that no text ends, and a style sheet', async () => {
  const { headers, body } = await get('/', 'text/html')
  assert.deepEqual([headers['content-type'], headers['vary']], ['text/html; charset=utf-8', 'accept'])
  assert.deepEqual([body.split('</script>').length, body.includes('<b a="')], [2, false])
  const [, block = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body) ?? []
  assert.deepEqual(JSON.parse(block), { name: HOSTILE })
  assert.match(
    String(headers['content-security-policy']),
    /^default-src 'none'; style-src 'self'; .* frame-ancestors 'none'$/,
  )
  assert.ok(body.includes('<link rel="stylesheet" href="/s.css">') && !body.includes('<style'))
  for (const part of ['<h2>One</h2>', '<a href="/b">B</a>', '<dd>Second</dd>']) assert.ok(body.includes(part), part)
})

test('security.txt expires at a midnight within half a year, as RFC 9116 recommends', async () => {
  const { headers, body } = await get('/.well-known/security.txt')
  assert.deepEqual(
    [headers['content-type'], headers['cache-control']],
    ['text/plain; charset=utf-8', 'public, max-age=86400'],
  )
  const lines = Object.fromEntries(
    body
      .trim()
      .split('\n')
      .map((line) => line.split(/: (.*)/).slice(0, 2)),
  )
  assert.equal(lines['Contact'], 'mailto:security@api.test')
  assert.equal(lines['Canonical'], `${BASE_URL}/.well-known/security.txt`)
  assert.match(String(lines['Expires']), /^\d{4}-\d{2}-\d{2}T00:00:00Z$/)
  const days = (Date.parse(String(lines['Expires'])) - Date.now()) / 86_400_000
  assert.ok(days > 178 && days <= 180, `${days} days`)
})
