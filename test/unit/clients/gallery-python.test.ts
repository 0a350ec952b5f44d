// The gallery uses the Python package of this checkout, or says how to install it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'

const languages = path.resolve(import.meta.dirname, '../../../clients/gallery/languages.ts')
const program = `const { languages } = await import(${JSON.stringify(languages)}); await languages.python.prepare('')`
const temporary = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-python-'))
after(() => rmSync(temporary, { recursive: true, force: true }))
const prepare = () =>
  promisify(execFile)(process.execPath, ['-e', program], { env: { ...process.env, TMPDIR: temporary } })

test('without the Python package of this checkout the gallery names the command that installs it', async () => {
  await assert.rejects(prepare(), /run clients\/python\/check\.sh/)
  mkdirSync(path.join(temporary, 'outbreaks-python-client'))
  const stamp = path.join(temporary, 'outbreaks-python-client/stamp')
  writeFileSync(stamp, '/another/checkout/clients/python 1\n')
  await assert.rejects(prepare(), /run clients\/python\/check\.sh/)
  writeFileSync(stamp, `${path.resolve(languages, '../../python')} 1\n`)
  await prepare()
})
