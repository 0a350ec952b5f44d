// outbreakctl config: every setting with its value and where it comes from, and no secret.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { explainConfig } from '../../src/config.ts'

const CANARY = 'canary0value'
const valid = {
  DATABASE_URL: `postgres://user:${CANARY}@db.test:5432/outbreaks?password=${CANARY}`,
  OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
  OUTBREAKS_BASE_URL: 'https://api.test',
}

test('every setting is explained with its source, without a secret; mistakes and unknown variables are named', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-config-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  const file = path.join(directory, 'explained')
  writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`)
  const { OUTBREAKS_SECRET: _, ...rest } = valid
  const environment = {
    ...rest,
    OUTBREAKS_SECRET_FILE: file,
    OUTBREAKS_PORT: 'http',
    OUTBREAKS_REDIS_URL: `redis://:${CANARY}@cache.test:6379`,
    OUTBREAKS_OIDC_CLIENT_SECRET: CANARY,
    OUTBREAKS_TYPO: CANARY,
  }
  const explained = explainConfig(environment)
  const find = (name: string) => explained.find((one) => one.name === name) ?? assert.fail(`${name} is not listed`)
  assert.ok(!JSON.stringify(explained).includes(CANARY))
  assert.deepEqual(find('DATABASE_URL'), {
    name: 'DATABASE_URL',
    value: 'postgres://user:[redacted]@db.test:5432/outbreaks',
    from: 'environment',
    problem: '',
  })
  assert.deepEqual([find('OUTBREAKS_SECRET').value, find('OUTBREAKS_SECRET').from], ['[redacted]', `file ${file}`])
  assert.deepEqual([find('OUTBREAKS_RATE_LIMIT').value, find('OUTBREAKS_RATE_LIMIT').from], ['6000', 'default'])
  assert.deepEqual([find('OUTBREAKS_AUTH_URL').value, find('OUTBREAKS_AUTH_URL').from], ['https://api.test', 'default'])
  assert.match(find('OUTBREAKS_PORT').problem, /whole number/)
  assert.equal(find('OUTBREAKS_OIDC_ISSUER').problem, 'is not set')
  assert.equal(find('OUTBREAKS_TYPO').problem, 'no variable has this name')
  assert.deepEqual(
    explainConfig(valid).filter(({ problem }) => problem !== ''),
    [],
  )
})
