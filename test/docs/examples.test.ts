// Every block of the documentation runs against a service with the sample, one test for each block.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { prepareCommands } from '../../clients/gallery/languages.ts'
import { listExamplePages, type PageResult, runPages } from '../../clients/gallery/run-pages.ts'
import { publishSample, python, withService } from '../../clients/service.ts'

const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-docs-examples-'))

if (!existsSync(python)) test('examples', { skip: 'clients/python/check.sh makes the environment of Python' }, () => {})
else {
  const published = await publishSample()
  const { databaseUrl, secret } = published.settings
  const operator = { DATABASE_URL: databaseUrl, OUTBREAKS_SECRET: secret, OUTBREAKS_FILES: published.files }
  const results: PageResult[] = await withService(published, async (environment) => {
    const commands = await prepareCommands(scratch)
    return runPages(listExamplePages(), scratch, {
      ...{ environment: { ...environment, ...operator }, commands, accept: false },
    })
  }).finally(() => rm(scratch, { recursive: true, force: true }))
  for (const { where, language, fault, isSkipped } of results)
    test(`${where}: ${language}`, { skip: isSkipped ? `${language} is not installed` : false }, () => {
      assert.equal(fault, null)
    })
}
