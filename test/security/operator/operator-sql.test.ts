// SQL by the role of operators, past outbreakctl: a published release cannot be changed, and a change of access or a new release
// leaves a row in the audit log.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { type AuditRow, readAudit, verifyAudit } from '../../../src/operate/audit-log.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { verifyReleases } from '../../../src/publish/verify.ts'
import { createTestDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const url = await createTestDatabase()
const database = openDatabase({ url, role: 'outbreaks_operator' })
const client = new pg.Client(url)
await client.connect()
await client.query('set role outbreaks_operator')
after(() => Promise.all([database.close(), client.end()]))

/** The records 11 to 100 never change. */
const eventOf = (i: number) => (i < 10 ? 'E0' : i < 100 ? 'E1' : 'E2')
const publish = async (count: number, cases: number) => {
  const rows = Array.from({ length: count }, (_, i) => ({ key: `k${i}`, cases: i < 10 ? cases : i, event: eventOf(i) }))
  return publishRelease(database, hedOutbreaks, await writeNdjson(rows), { confirmedWithdrawn: 1 })
}
await publish(120, 1)
await publish(120, 2)
await publish(119, 3)

const OPEN = 'to_release = 2147483647'
const FIRST = `from_release = 1 and ${OPEN}`
const copyOf = (table: string, columns: string, release: number) =>
  `insert into ${table} (from_release, to_release, ${columns}) select ${release}, ${release} + 9, ${columns} from ${table} where ${FIRST}`
const attacks: Record<string, string> = {
  'records are removed from published releases': `update hed_outbreak_version set to_release = 3 where ${FIRST}`,
  'chunks are removed from published releases': `update hed_outbreak_chunk set to_release = 3 where ${FIRST}`,
  'events are removed from published releases': `update hed_outbreak_event set to_release = 3 where ${FIRST}`,
  'a withdrawn record returns':
    'update hed_outbreak_version set to_release = 2147483647 where id = 120 and to_release = 3',
  'a replaced chunk returns': 'update hed_outbreak_chunk set to_release = 4 where to_release = 3',
  'a release far ahead is prepared': `update hed_outbreak_chunk set to_release = 5 where ${OPEN}`,
  'a record is added to a published release': copyOf(
    'hed_outbreak_version',
    'id, revision, first_release, content_hash',
    2,
  ),
  'a chunk is added to a published release': copyOf('hed_outbreak_chunk', 'slot, records, bytes, crc32, deflated', 2),
  'an event is added to a published release': copyOf('hed_outbreak_event', 'event, body', 2),
  'a release is added out of turn': `insert into release
    select dataset, 9, title, licence, note, published_at, as_of, records, added, corrected, withdrawn, last_id, restores, digest, reasons, warnings
    from release where number = 3`,
  'a published release gets other fields': `insert into contract select dataset, 2, fields from contract`,
  'a published release gets rejected rows': `insert into release_rejection values ('hed-outbreaks', 2, 1, 'f', 1, null, 'r', 'm', '{}')`,
  'nodes are kept from seeing a change': `update watched_topic set version = 1`,
  'a row is added to the log': `select add_audit_row(null)`,
}
for (const [name, statement] of Object.entries(attacks))
  test(`refused: ${name}`, async () => {
    await assert.rejects(client.query(statement), { code: '42501' })
  })

test('refused in a snapshot from before a release, which would not show it', async () => {
  await client.query('begin isolation level repeatable read')
  await assert.rejects(client.query(copyOf('hed_outbreak_event', 'event, body', 4)), { code: '42501' })
  await client.query('rollback')
})

test('a transaction that has written keeps others from publishing until it ends', async () => {
  await client.query('begin')
  await client.query(`update hed_outbreak_version set to_release = 4 where id = 11 and ${OPEN}`)
  await assert.rejects(publish(119, 4), /Another command is publishing/)
  await client.query('rollback')
})

test('every release is as it was published', async () => {
  const verified = await verifyReleases(database, { store: undefined, indexDirectory: null }, hedOutbreaks, () => {})
  assert.deepEqual(
    verified.map(({ release, differences }) => [release, differences]),
    [
      [3, []],
      [2, []],
      [1, []],
    ],
  )
})

test('clients, secrets, keys and releases leave their rows, without values', async () => {
  const before = (await Array.fromAsync(readAudit(database))).length
  const digest = '5ec2e7'.padEnd(64, '0')
  await client.query(`
    insert into client (client_id, name, scopes) values ('intruder', 'x', '{}');
    insert into client_secret (secret_sha256, client_id) values ('\\x${digest}', 'intruder');
    update client set scopes = '{data:read}', generation = 2 where client_id = 'intruder';
    insert into signing_key (kid, algorithm, public_jwk, sealed_private_key, signs_from)
      values ('mine', 'ES256', '{}', '\\x5ec2e7', now());
    update signing_key set verifies_until = now() where kid = 'mine'`)
  await publish(119, 5)
  const added: AuditRow[] = (await Array.fromAsync(readAudit(database))).slice(before)
  assert.deepEqual(
    added.map((row) => [row.outcome, row.command, ...row.arguments]),
    [
      ['changed', 'insert client', 'intruder'],
      ['changed', 'insert client_secret', 'intruder'],
      ['changed', 'update client', 'intruder', 'generation', 'scopes'],
      ['changed', 'insert signing_key', 'mine'],
      ['changed', 'update signing_key', 'mine', 'verifies_until'],
      ['changed', 'insert release', '4'],
    ],
  )
  assert.equal(added[0]?.login, new URL(url).username)
  assert.doesNotMatch(JSON.stringify(added.map(({ digest: _digest, ...row }) => row)), /5ec2e7/)
  const { valid, unfinished } = await verifyAudit(readAudit(database))
  assert.deepEqual([valid, unfinished], [true, 0])
})
