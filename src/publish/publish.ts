// Publishing: one transaction in which an input becomes the next release, or nothing at all.
// Versions of records that changed are closed and added; what did not change is not touched.
import pg, { type PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import type { Progress } from '../platform/cli/progress.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Reasons } from '../storage/change-reasons.ts'
import { chunkOf } from '../storage/chunk.ts'
import { describeChanges } from './change-report.ts'
import { collectFindings, errorAt, type Findings, type RowError } from './findings/findings.ts'
import { describeRow, writeRejectedRows } from './findings/rejected-rows.ts'
import { openRelease, type ReleaseInput } from './input/read-release.ts'
import type { RecordFile } from './input/record-file.ts'
import { checkRows, countSkipped, findDuplicates, findSuspects, type PlacedRow } from './validate/check-release.ts'
import { readIdentity } from './validate/check-row.ts'
import { createNewEventWarnings } from './validate/new-event-warnings.ts'
import { addCheckpoints, digestChunks, findChunks, rewriteChunks } from './write/chunks.ts'
import { createComparison, type NamedRow } from './write/compare.ts'
import { countFacets } from './write/count-facets.ts'
import { type LatestRelease, lockLatestRelease, nextContract } from './write/latest-release.ts'
import { markBreaks } from './write/mark-breaks.ts'
import { closeVersions, createVersionWriter } from './write/versions.ts'

export interface PublishedSummary {
  dataset: string
  release: number
  records: number
  added: number
  corrected: number
  withdrawn: number
  /** True where the newest release already held exactly these records: nothing was published. */
  unchanged: boolean
}

interface PublishOptions {
  /** How many records the operator knows to be withdrawn. */
  confirmed?: number
  /** How many rows the operator knows to be rejected; the others are published. */
  rejected?: number
  progress?: Progress
}

/** More than this share of the records gone is far more often a truncated file than an intention. */
const MASS_WITHDRAWAL = 0.05
const FINDINGS_SHOWN = 20

/** The next release, from a directory. */
export async function publishRelease(
  database: Database,
  dataset: Dataset,
  directory: string,
  { confirmed = 0, rejected = 0, progress = () => {} }: PublishOptions = {},
) {
  const input = await openRelease(directory)
  return database.transaction(async (client) => {
    const { summary, last } = await publishInput(database, client, dataset, input, { rejected, progress })
    requireConfirmedWithdrawal(summary, last, confirmed)
    return summary
  })
}

/** `confirmed` is how many records the operator knows to be withdrawn. */
export function requireConfirmedWithdrawal(
  { withdrawn }: PublishedSummary,
  last: LatestRelease,
  confirmed: number,
): void {
  if (withdrawn > last.records * MASS_WITHDRAWAL && withdrawn !== confirmed)
    throw new OperatorError(
      `this would withdraw ${withdrawn} of ${last.records} records; if that is meant, say --confirm-withdrawn ${withdrawn}`,
    )
}

/** What publishing the directory would do. It is done, reported and rolled back: nothing else could be as true. */
export async function previewRelease(
  database: Database,
  dataset: Dataset,
  directory: string,
  { rejected = 0, progress = () => {} }: PublishOptions = {},
) {
  const input = await openRelease(directory)
  return database.dryRun(async (client) => {
    const { summary, last, findings } = await publishInput(database, client, dataset, input, { rejected, progress })
    const changes = await describeChanges(client, dataset, last.number + 1)
    return {
      ...summary,
      ...changes,
      findings: [...findings.errors, ...findings.warnings].slice(0, FINDINGS_SHOWN).map((finding) => ({ ...finding })),
    }
  })
}

async function publishInput(
  database: Database,
  client: PoolClient,
  dataset: Dataset,
  { manifest, files, withdrawals }: ReleaseInput,
  { rejected, progress }: { rejected: number; progress: Progress },
) {
  const { base, reasons = {}, note = null, title, licence } = manifest
  const last = await lockLatestRelease(client, dataset)
  if (base !== undefined && base !== last.number)
    throw new OperatorError(`these are changes to release ${base}, but the newest is ${last.number}`)
  const findings = collectFindings(undefined, rejected > 0, rejected)
  // A key that is new and stands twice is seen by the database only when it is too late to reject one row.
  const suspects = rejected > 0 ? await findSuspects(dataset, files) : undefined
  const edition: ReleaseDraft = {
    rows: checkRows(dataset, files, findings, suspects),
    withdrawn: base === undefined ? 'absent' : readWithdrawals(withdrawals, findings),
    about: { title, licence, note, reasons, restores: null },
  }
  const summary = await publishDraft(database, client, dataset, last, edition, findings, progress).catch(
    async (error: unknown) => {
      if (isKeyTwice(error)) await findDuplicates(dataset, files)
      throw error
    },
  )
  // An empty input would withdraw every record there is: far more often an accident than an intention.
  if (base === undefined && summary.records === 0) throw new OperatorError('the input holds no records')
  if (!summary.unchanged) await writeRejectedRows(client, dataset, summary.release, findings.rejections)
  const { warnings, rejected: left } = findings.counts
  return { summary: { ...summary, warnings, rejected: left, skipped: countSkipped(files) }, findings, last }
}

/** Two new rows with one key: the database sees it first, and the input then tells where. */
const isKeyTwice = (error: unknown) => error instanceof pg.DatabaseError && error.code === '23505'

async function* readWithdrawals(file: RecordFile | null, findings: Findings): AsyncGenerator<NamedRow[]> {
  if (file === null) return
  for await (const batch of file.batches(['id', 'key'])) {
    yield batch.flatMap(({ line, cells: [id, key] }) => {
      const faults: RowError[] = []
      const identity = readIdentity(id, key, file.format, (column, rule, message) => {
        findings.add(errorAt(file.name, line)(column, rule, message))
        faults.push({ column, rule, message })
      })
      if (identity !== null) return [{ file: file.name, line, identity }]
      findings.reject({ file: file.name, line, identity, faults, row: describeRow(['id', 'key'], [id, key]) })
      return []
    })
  }
}

/** What the next release is made of. */
export interface ReleaseDraft {
  rows: AsyncIterable<PlacedRow[]>
  /** Which records of the last release go: all that the rows do not name, or these. */
  withdrawn: 'absent' | AsyncIterable<NamedRow[]>
  about: { title: string; licence: string; note: string | null; reasons: Reasons; restores: number | null }
}

export async function publishDraft(
  database: Database,
  client: PoolClient,
  dataset: Dataset,
  last: LatestRelease,
  { rows, withdrawn, about }: ReleaseDraft,
  findings: Findings,
  progress: Progress,
): Promise<PublishedSummary> {
  const release = last.number + 1
  if (last.number === 0) await client.query(sql`select suspend_indexes(${dataset.name})`)
  const comparison = createComparison(database, dataset, last, findings)
  const writer = createVersionWriter(client, dataset, release)
  const noteEvent = createNewEventWarnings(last.events, findings)
  const eventPlace = dataset.content.findIndex((field) => field.name === 'event')
  const touched = new Set<number>()
  const counts = { added: 0, corrected: 0, withdrawn: 0 }
  let read = 0

  try {
    for await (const batch of rows) {
      for (const { file, line, cells } of batch) noteEvent({ file, line, event: cells[eventPlace]?.value as string })
      const versions = await comparison.compare(batch)
      for (const { id, replaces } of versions) {
        touched.add(chunkOf(id))
        counts[replaces ? 'corrected' : 'added'] += 1
      }
      await writer.add(versions)
      read += batch.length
      progress('comparing', read, last.records || null)
    }
    await writer.end()
  } finally {
    await writer.stop()
  }

  await comparison.hold(findings.rejections.flatMap(({ identity }) => identity ?? []))
  const goes = withdrawn === 'absent' ? comparison.findMissing() : mapBatches(withdrawn, comparison.findWithdrawn)
  for await (const ids of goes) {
    await closeVersions(client, dataset, release, ids)
    for (const id of ids) touched.add(chunkOf(id))
    counts.withdrawn += ids.length
  }
  findings.throwIfErrors()
  progress('comparing series', 0, null)
  for (const id of await markBreaks(client, dataset, release, findings)) {
    touched.add(chunkOf(id))
    counts.corrected += 1
  }

  const records = last.records + counts.added - counts.withdrawn
  if (touched.size === 0 && last.number > 0)
    return { dataset: dataset.name, release: last.number, records, ...counts, unchanged: true }
  const { contract, isNew } = nextContract(dataset, last)
  // Records have other keys from this release on, so that every chunk has another text.
  if (contract.keysSince === release) for (const number of await findChunks(client, dataset)) touched.add(number)
  await rewriteChunks(
    client,
    dataset,
    { release, contract },
    [...touched].sort((a, b) => a - b),
    (done) => progress('compressing', done, touched.size),
  )
  progress('counting', 0, null)
  await addCheckpoints(client, dataset, release)
  await countFacets(client, dataset, release)
  const signed = await digestChunks(client, dataset)
  if (signed.records !== records) throw new Error(`chunks hold ${signed.records} records, the release ${records}`)
  await client.query(sql`
    insert into release (dataset, number, title, licence, note, restores, reasons, warnings,
      added, corrected, withdrawn, records, last_id, digest)
    values (${dataset.name}, ${release}, ${about.title}, ${about.licence}, ${about.note}, ${about.restores},
      ${JSON.stringify(about.reasons)}, ${JSON.stringify(findings.warned)},
      ${counts.added}, ${counts.corrected}, ${counts.withdrawn}, ${records}, ${comparison.lastId()}, ${signed.digest})`)
  if (isNew)
    await client.query(sql`
      insert into contract (dataset, first_release, fields)
      values (${dataset.name}, ${release}, ${JSON.stringify(contract.fields)})`)
  return { dataset: dataset.name, release, records, ...counts, unchanged: false }
}

async function* mapBatches<From, To>(batches: AsyncIterable<From>, map: (batch: From) => Promise<To>) {
  for await (const batch of batches) yield await map(batch)
}
