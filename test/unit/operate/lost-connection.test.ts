// What the operator reads if the server goes away during a command. The other sentences are tested with real servers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainDatabaseError } from '../../../src/platform/postgres/database-error.ts'

for (const message of [
  'Client has encountered a connection error and is not queryable',
  'Connection terminated unexpectedly',
])
  test(`"${message}" is a lost connection`, () => {
    assert.equal(
      explainDatabaseError(new Error(message))?.message,
      `The connection to the database was lost (${message}). Run the command again.`,
    )
  })
