// A spread of a literal, which only keeps lines short, fails the linter in src.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')
const copy = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-lint-'))
after(() => rmSync(copy, { recursive: true, force: true }))
// Rules that need types would need a project.
const configuration = JSON.parse(readFileSync(path.join(root, '.oxlintrc.json'), 'utf8')) as object
writeFileSync(path.join(copy, '.oxlintrc.json'), JSON.stringify({ ...configuration, options: { typeAware: false } }))
mkdirSync(path.join(copy, 'src'))

function lint(text: string) {
  writeFileSync(path.join(copy, 'src/planted.ts'), `${text}\n`)
  return spawnSync(path.join(root, 'node_modules/.bin/oxlint'), { cwd: copy, encoding: 'utf8' })
}

for (const literal of ['{ ...{ a: 1, b: 2 }, c: 3 }', "[...['a', 'b'], 'c']"])
  test(`${literal} fails`, () => {
    const { status, stdout } = lint(`export const planted = ${literal}`)
    assert.equal(status, 1)
    assert.match(stdout, /no-useless-spread/)
  })

test('a spread of a variable passes', () => {
  const { status, stdout } = lint('const a = { b: 1 }\nexport const planted = { ...a, c: 3 }')
  assert.equal(status, 0, stdout)
})
