// npm run verify:failover: makes each fault some rounds long while consumers read and an operator writes, and prints what they
// noticed as a table. FAILOVER_ROUNDS and FAILOVER_FAULTS (F5,F6) choose less. Needs root, etcd, patroni and haproxy.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { listClients } from '../../src/auth/provisioning/clients.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { verifyReleases } from '../fixtures/api-client.ts'
import { FAULTS, type Fault } from './faults.ts'
import { type Measured, startLoad } from './load.ts'
import { type System, startSystem } from './system.ts'

const rounds = Number(process.env['FAILOVER_ROUNDS'] ?? 3)
const chosen = (process.env['FAILOVER_FAULTS'] ?? '').split(',').filter(Boolean)
const bin = process.env['POSTGRES_BIN'] || '/usr/lib/postgresql/15/bin'
if (!existsSync(`${bin}/postgres`)) throw new Error('set POSTGRES_BIN to the programs of PostgreSQL')

interface Row {
  readonly fault: Fault
  readonly reads: number
  readonly failed: number
  readonly torn: number
  readonly readGapS: number[]
  readonly writeGapS: number[]
  readonly acknowledged: number
  readonly lost: number
  readonly errors: string[]
}

const system = await startSystem(bin)
const table: Row[] = []
let passed = 0
let failed = 0
try {
  for (const fault of FAULTS.filter(({ id }) => chosen.length === 0 || chosen.includes(id))) {
    const row = await measure(system, fault).catch((error: Error) => failedRow(fault, error))
    table.push(row)
    const isGood = row.errors.length === 0
    if (isGood) passed += rounds
    else failed += 1
    console.log(`${isGood ? 'ok ' : 'NOT'} ${format(row)}${row.errors.map((error) => `\n      ${error}`).join('')}`)
  }
} finally {
  await system.close()
}

console.log(
  '\n| fault | what | reads | failed after a retry | torn walks | longest without a read, s | longest without a write, s | acknowledged writes | lost |',
)
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
for (const row of table)
  console.log(
    `| ${row.fault.id} | ${row.fault.title} | ${row.reads} | ${row.failed} | ${row.torn} | ${range(row.readGapS)} | ${range(row.writeGapS)} | ${row.acknowledged} | ${row.lost} |`,
  )
console.log(`failover: ${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)

/** A fault from which the system did not recover. */
function failedRow(fault: Fault, { message }: Error): Row {
  const nothing = { reads: 0, failed: 0, torn: 0, readGapS: [], writeGapS: [], acknowledged: 0, lost: 0 }
  return { fault, ...nothing, errors: [message] }
}

async function measure(of: System, fault: Fault): Promise<Row> {
  const rowOf = { reads: 0, failed: 0, torn: 0, acknowledged: 0, lost: 0 }
  const readGapS: number[] = []
  const writeGapS: number[] = []
  const errors: string[] = []
  for (let round = 1; round <= rounds; round++) {
    await of.cluster.waitUntilHealthy()
    const load = await startLoad(
      of.baseUrl,
      of.credentials,
      of.settings.databaseUrl,
      `${fault.id}-${round}-${Date.now()}`,
    )
    const failure = await fault.run(of).then(
      () => null,
      (error: Error) => error.message,
    )
    const measured = await load.stop()
    await of.cluster.waitUntilHealthy()
    const lost = await findLost(of, measured)
    rowOf.reads += measured.reads
    rowOf.failed += measured.failedReads.length
    rowOf.torn += measured.tornWalks.length
    rowOf.acknowledged += measured.acknowledged.length
    rowOf.lost += lost.length
    readGapS.push(measured.readGapMs / 1000)
    writeGapS.push(measured.writeGapMs / 1000)
    errors.push(...judge(fault, round, measured, lost, failure))
    await of.renewToken()
    await verifyReleases(of.baseUrl, of.token).catch((error: Error) =>
      errors.push(`round ${round}: afterwards ${error.message}`),
    )
  }
  return { fault, ...rowOf, readGapS, writeGapS, errors }
}

function judge(
  { limits, mayFailReads }: Fault,
  round: number,
  measured: Measured,
  lost: string[],
  failure: string | null,
) {
  const { failedReads, tornWalks, readGapMs, writeGapMs, reads, writes } = measured
  return [
    ...(failure === null ? [] : [failure]),
    ...(failedReads.length === 0 || mayFailReads ? [] : [`${failedReads.length} reads failed: ${failedReads[0]}`]),
    ...(tornWalks.length === 0 ? [] : [`torn walk: ${tornWalks[0]}`]),
    ...(readGapMs > limits.read * 1000 ? [`${(readGapMs / 1000).toFixed(1)} s without a read`] : []),
    ...(writeGapMs > limits.write * 1000 ? [`${(writeGapMs / 1000).toFixed(1)} s without a write`] : []),
    ...(lost.length === 0 ? [] : [`${lost.length} acknowledged writes are lost: ${lost[0]}`]),
    ...(reads === 0 || writes === 0 ? ['nothing was measured'] : []),
  ].map((error) => `round ${round}: ${error}`)
}

async function findLost({ settings }: System, { acknowledged }: Measured): Promise<string[]> {
  const database = openDatabase({
    url: settings.databaseUrl,
    role: 'outbreaks_operator',
    connections: 1,
  })
  try {
    const names = new Set((await listClients(database)).map(({ name }) => name))
    assert.ok(names.size > 0)
    return acknowledged.filter((name) => !names.has(name))
  } finally {
    await database.close()
  }
}

function range(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0
  return `${middle.toFixed(1)} [${sorted[0]?.toFixed(1)}..${sorted.at(-1)?.toFixed(1)}]`
}

function format({ fault, reads, failed: bad, readGapS, writeGapS, acknowledged, lost }: Row): string {
  return `${fault.id} ${fault.title}: ${reads} reads, ${bad} failed; without a read ${range(readGapS)} s, without a write ${range(writeGapS)} s; ${lost} of ${acknowledged} writes lost`
}
