// Every package and example has the version of the service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVersions } from '../../../dev/build/version.ts'
import manifest from '../../../package.json' with { type: 'json' }

test('every package and example has the version of the service', () => {
  for (const [file, version] of Object.entries(readVersions())) assert.equal(version, manifest.version, file)
})
