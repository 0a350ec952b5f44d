// The variables of delivering notices: what they accept, and that no password is shown.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ConfigError, readServiceConfig, redactConfig, secretValues } from '../../../src/config.ts'

const valid = {
  DATABASE_URL: 'postgres://db.test/outbreaks',
  OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
  OUTBREAKS_BASE_URL: 'https://api.test',
}
const assertRejected = (variables: Record<string, string>, name: string) =>
  assert.throws(
    () => readServiceConfig({ ...valid, ...variables }),
    (error) =>
      error instanceof ConfigError && error.message.split('\n').length === 2 && error.message.includes(`  ${name} `),
    `${name}=${variables[name]} was accepted`,
  )

test('how notices are delivered', () => {
  assert.deepEqual(readServiceConfig(valid).delivery, { trustedOrigins: [], proxyUrl: null, mail: null })
  const variables = {
    OUTBREAKS_WEBHOOK_ORIGINS: 'https://hooks.example.org, https://10.0.0.5:8443',
    OUTBREAKS_EGRESS_PROXY: 'http://user:proxy-password@proxy.test:3128',
    OUTBREAKS_SMTP_URL: 'smtps://user:mail-password@mail.test',
    OUTBREAKS_MAIL_FROM: 'outbreaks@example.org',
  }
  const config = readServiceConfig({ ...valid, ...variables })
  assert.deepEqual(config.delivery, {
    trustedOrigins: ['https://hooks.example.org', 'https://10.0.0.5:8443'],
    proxyUrl: variables.OUTBREAKS_EGRESS_PROXY,
    mail: { smtpUrl: variables.OUTBREAKS_SMTP_URL, from: variables.OUTBREAKS_MAIL_FROM },
  })
  assert.doesNotMatch(JSON.stringify(redactConfig(config)), /password/)
  for (const secret of ['proxy-password', 'mail-password']) assert.ok(secretValues(variables).includes(secret))
  const wrong = {
    OUTBREAKS_WEBHOOK_ORIGINS: ['http://10.0.0.5', 'https://10.0.0.5/path', 'https://*.example.org', 'example.org'],
    OUTBREAKS_EGRESS_PROXY: ['proxy.test:3128', 'socks5://proxy.test', 'http://proxy.test/path'],
    OUTBREAKS_SMTP_URL: ['mail.test', 'https://mail.test', 'smtp:'],
    OUTBREAKS_MAIL_FROM: ['nobody', 'a@b.test, c@d.test', 'A <a@b.test>'],
  }
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) assertRejected({ ...variables, [name]: value }, name)
})
