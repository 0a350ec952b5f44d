// Publishes an input as the next release in one transaction. Closes and adds the versions of changed records and leaves the
// other records as they are.
import { isDeepStrictEqual } from 'node:util'
import pg, { type PoolClient } from 'pg'
import sql from 'sql-template-tag'
import { type IndexWriter, openIndexWriter } from '../columns/index-writer.ts'
import { type Dataset, SOURCE_FIELD } from '../datasets/define.ts'
import type { PreferredSets } from '../methods/recommended-set.ts'
import { hasSeries, type SeriesDataset, toSeries } from '../methods/record-series.ts'
import type { Progress } from '../platform/cli/progress.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Reasons } from '../storage/change-reasons.ts'
import { serialiseBody } from '../storage/serialise-record.ts'
import { describeChanges } from './change-report.ts'
import { collectFindings, type Findings } from './findings/findings.ts'
import { writeRejectedRows } from './findings/rejected-rows.ts'
import { openRelease, type ReleaseInput } from './input/read-release.ts'
import { renewIndex } from './rebuild-index.ts'
import { createIdSet } from './validate/id-set.ts'
import { createNewEventWarnings } from './validate/new-event-warnings.ts'
import { findDifferent, requirePreferable } from './validate/preferred-sets.ts'
import {
  countSkipped,
  findPossibleDuplicates,
  type LocatedRow,
  readWithdrawals,
  throwIfDuplicates,
  validateRows,
} from './validate/validate-release.ts'
import { createChunkWriter, digestChunks } from './write/chunks.ts'
import { createComparison, type NamedRow, type ReplacedSource } from './write/compare.ts'
import { type LatestRelease, lockLatestRelease, nextContract, requireLaterDay } from './write/latest-release.ts'
import { type BreakChanges, createBreakMarker } from './write/mark-breaks.ts'
import { createEventSummaries } from './write/summarise-events.ts'
import { closeVersions, createVersionWriter } from './write/versions.ts'

export interface PublishedSummary {
  dataset: string
  release: number
  records: number
  added: number
  corrected: number
  withdrawn: number
  /** True if the latest release already has exactly these records: nothing was published. */
  unchanged: boolean
}

interface PublishOptions {
  /** The number of withdrawn records that the operator confirmed. */
  confirmedWithdrawn?: number
  /** The number of rejected rows that the operator confirmed; the other rows are published. */
  confirmedRejected?: number
  /** Replaces only the records of this source. Without it the directory replaces all records. */
  replacedSource?: string | undefined
  progress?: Progress
}

/** An input that withdraws a larger share of the records is usually a truncated file. */
export const MAX_UNCONFIRMED_SHARE = 0.05
const MAX_FINDINGS_SHOWN = 20

/** What all steps of publishing a release work with. */
export interface Publication {
  database: Database
  /** The transaction, which has locked the latest release. */
  client: PoolClient
  dataset: Dataset
  latest: LatestRelease
  findings: Findings
  progress: Progress
}

export async function startPublication(
  { database, client, dataset }: Pick<Publication, 'database' | 'client' | 'dataset'>,
  { confirmedRejected = 0, progress = () => {} }: PublishOptions = {},
): Promise<Publication> {
  const latest = await lockLatestRelease(client, dataset)
  const findings = collectFindings({ readToEnd: confirmedRejected > 0, confirmedRejected })
  return { database, client, dataset, latest, findings, progress }
}

/** Publishes a directory as the next release. */
export async function publishRelease(
  database: Database,
  dataset: Dataset,
  directory: string,
  options: PublishOptions = {},
) {
  const input = await openRelease(directory)
  return database.transaction(async (client) => {
    const publication = await startPublication({ database, client, dataset }, options)
    const { summary } = await publishInput(publication, input, { confirmedWithdrawn: 0, ...options })
    return summary
  })
}

/** Throws if a large share of the records would be withdrawn and the operator did not confirm their number. */
function requireConfirmedWithdrawal(withdrawn: number, records: number, confirmed: number | undefined): void {
  if (confirmed === undefined || withdrawn <= records * MAX_UNCONFIRMED_SHARE || withdrawn === confirmed) return
  throw new OperatorError(
    `This would withdraw ${withdrawn} of ${records} records. If that is right, add --confirm-withdrawn ${withdrawn}.`,
  )
}

/** Reports what publishing the directory would do: publishes it, describes the changes and rolls the transaction back. */
export async function previewRelease(
  database: Database,
  dataset: Dataset,
  directory: string,
  options: PublishOptions = {},
) {
  const input = await openRelease(directory)
  return database.dryRun(async (client) => {
    const publication = await startPublication({ database, client, dataset }, options)
    const { summary, changes } = await publishInput(publication, input, options, true)
    const { errors, warnings } = publication.findings
    return {
      ...summary,
      ...changes,
      findings: [...errors, ...warnings].slice(0, MAX_FINDINGS_SHOWN).map((finding) => ({ ...finding })),
    }
  })
}

async function publishInput(
  publication: Publication,
  { manifest, files, withdrawals }: ReleaseInput,
  { confirmedWithdrawn, confirmedRejected = 0, replacedSource }: PublishOptions,
  reportsChanges = false,
) {
  const { client, dataset, latest, findings } = publication
  const { base, reasons = {}, note = null, title, licence, as_of: asOf } = manifest
  // What says nothing about the rest of the dataset leaves its preferences as they are.
  const isComplete = base === undefined && replacedSource === undefined
  const { preferred = isComplete ? {} : latest.preferred } = manifest
  if (base !== undefined && base !== latest.number)
    throw new OperatorError(
      `The directory contains changes to release ${base}, but the latest release is ${latest.number}. Someone has published since. Check your changes against release ${latest.number}, set "base": ${latest.number}, and run preview again.`,
    )
  requireLaterDay(latest, asOf)
  requirePreferable(dataset, preferred)
  if (replacedSource !== undefined) requireReplaceable(dataset, base !== undefined)
  // The database detects a new key that occurs twice only when it is too late to reject one row.
  const possibleDuplicates = confirmedRejected > 0 ? await findPossibleDuplicates(dataset, files) : undefined
  const draft: ReleaseDraft = {
    rows: validateRows(dataset, files, findings, { asOf, possibleDuplicates, source: replacedSource }),
    replacedSource,
    withdrawn: base === undefined ? 'absent' : readWithdrawals(withdrawals, findings),
    confirmedWithdrawn,
    metadata: { title, licence, note, asOf: asOf ?? null, reasons, preferred, restores: null },
  }
  const { summary, changes } = await publishDraft(publication, draft, reportsChanges).catch(async (error: unknown) => {
    if (isDuplicateKey(error)) await throwIfDuplicates(dataset, files)
    throw error
  })
  if (!summary.unchanged) await writeRejectedRows(client, dataset, summary.release, findings.rejections)
  const { warnings, rejected } = findings.counts
  return { summary: { ...summary, warnings, rejected, skipped: countSkipped(files) }, changes }
}

function requireReplaceable(dataset: Dataset, changesOnly: boolean): void {
  if (changesOnly)
    throw new OperatorError('Remove "base" from release.json: --replace-source needs the complete table of the source.')
  if (!dataset.content.some(({ name }) => name === SOURCE_FIELD))
    throw new OperatorError(
      `The dataset ${dataset.name} has no field ${SOURCE_FIELD}, so --replace-source cannot be used.`,
    )
}

/** Two new rows have the same key. The database reports it first; reading the input again gives the lines. */
const isDuplicateKey = (error: unknown) => error instanceof pg.DatabaseError && error.code === '23505'

/** The content of the next release. */
export interface ReleaseDraft {
  rows: AsyncIterable<LocatedRow[]>
  /** The records of the latest release to withdraw: all that the rows do not name, or those listed. */
  withdrawn: 'absent' | AsyncIterable<NamedRow[]>
  /** The number of withdrawn records that the operator confirmed; undefined if no one needs to, because nothing is published. */
  confirmedWithdrawn: number | undefined
  /** If given, the rows replace only the records of this source. */
  replacedSource?: string | undefined
  metadata: {
    title: string
    licence: string
    note: string | null
    /** Null: the day of publication. */
    asOf: string | null
    reasons: Reasons
    preferred: PreferredSets
    restores: number | null
  }
}

export async function publishDraft(publication: Publication, draft: ReleaseDraft, reportsChanges = false) {
  const { client, dataset, latest } = publication
  await renewIndex(client, dataset)
  const index = await openIndexWriter(client, dataset, latest.number)
  try {
    const source = draft.replacedSource === undefined ? undefined : await findSource(index, draft.replacedSource)
    const summary = await writeDraft(publication, draft, index, source)
    const changed = summary.unchanged ? null : index
    const changes = reportsChanges ? await describeChanges(client, dataset, latest.number + 1, changed) : null
    return { summary, changes }
  } finally {
    await index.close()
  }
}

/** The records of a source in the latest release. */
async function findSource(index: IndexWriter, source: string): Promise<ReplacedSource> {
  const ids = createIdSet()
  let records = 0
  for await (const batch of index.idsOfSource(source)) {
    for (const id of batch) ids.add(id)
    records += batch.length
  }
  return { records, has: ids.has, ids: () => index.idsOfSource(source), sourceOf: index.sourceOf }
}

async function writeDraft(
  publication: Publication,
  { rows, withdrawn, confirmedWithdrawn, metadata }: ReleaseDraft,
  index: IndexWriter,
  source: ReplacedSource | undefined,
): Promise<PublishedSummary> {
  const { database, client, dataset, latest, findings, progress } = publication
  const release = latest.number + 1
  const comparison = createComparison(database, dataset, { latest, findings, source })
  const writer = createVersionWriter(client, dataset, release)
  const chunks = await createChunkWriter({ client, dataset, release, lastId: latest.lastId, index })
  const warnOfNewEvent = createNewEventWarnings(await index.readEvents(), findings)
  const eventIndex = dataset.content.findIndex((field) => field.name === 'event')
  const counts = { added: 0, corrected: 0, withdrawn: 0 }
  let read = 0

  try {
    for await (const batch of rows) {
      for (const { file, line, cells } of batch)
        warnOfNewEvent({ file, line, event: cells[eventIndex]?.value as string })
      const versions = await comparison.compare(batch)
      for (const { id, revision, firstRelease, replaces, row } of versions) {
        index.add(id, row.cells)
        await chunks.add(id, serialiseBody(row.cells, { id, revision, firstRelease, lastRelease: release }))
        counts[replaces ? 'corrected' : 'added'] += 1
      }
      await writer.add(versions)
      read += batch.length
      progress('comparing', read, latest.records || null)
    }
    await writer.end()

    await comparison.keepRejected(findings.rejections.flatMap(({ identity }) => identity ?? []))
    // Before the work that takes long: half a file is the usual mistake.
    if (withdrawn === 'absent') {
      findings.throwIfErrors()
      const missing = comparison.countMissing()
      if (latest.records + counts.added === missing)
        throw new OperatorError('The input has no records, so nothing was published.')
      requireConfirmedWithdrawal(missing, (source ?? latest).records, confirmedWithdrawn)
    }
    const withdrawnBatches =
      withdrawn === 'absent' ? comparison.findMissing() : mapBatches(withdrawn, comparison.findWithdrawn)
    for await (const ids of withdrawnBatches) {
      await closeVersions(client, dataset, release, ids)
      for (const id of ids) {
        index.withdraw(id)
        chunks.withdraw(id)
      }
      counts.withdrawn += ids.length
    }
    findings.throwIfErrors()
    requireConfirmedWithdrawal(counts.withdrawn, (source ?? latest).records, confirmedWithdrawn)
    const records = latest.records + counts.added - counts.withdrawn
    const { preferred } = metadata
    const isUnchanged =
      counts.added + counts.corrected + counts.withdrawn === 0 &&
      latest.number > 0 &&
      isDeepStrictEqual(preferred, latest.preferred)
    if (isUnchanged) return { dataset: dataset.name, release: latest.number, records, ...counts, unchanged: true }
    progress('comparing series', 0, null)
    const { edits, corrected } = hasSeries(dataset)
      ? await compareSeries(publication, dataset, index, preferred)
      : NO_BREAK_CHANGES
    counts.corrected += corrected.length
    const { contract, isNew } = nextContract(dataset, latest)
    await chunks.end({ contract, edits, progress: (done, total) => progress('compressing', done, total) })
    const digested = await digestChunks(client, dataset)
    if (digested.records !== records)
      throw new Error(`the chunks have ${digested.records} records, but the release has ${records}`)
    await client.query(sql`
      insert into release (dataset, number, title, licence, note, published_at, as_of, restores, reasons, preferred, warnings,
        added, corrected, withdrawn, records, last_id, digest)
      select ${dataset.name}, ${release}, ${metadata.title}, ${metadata.licence}, ${metadata.note},
        moment, coalesce(${metadata.asOf}::date, (moment at time zone 'UTC')::date), ${metadata.restores}::integer,
        ${JSON.stringify(metadata.reasons)}::jsonb, ${JSON.stringify(preferred)}::jsonb, ${JSON.stringify(findings.warningCounts)}::jsonb,
        ${counts.added}, ${counts.corrected}, ${counts.withdrawn}, ${records}, ${comparison.lastId()},
        ${digested.digest}::bytea
      from clock_timestamp() as moment`)
    await index.store()
    if (isNew)
      await client.query(sql`
        insert into contract (dataset, first_release, fields)
        values (${dataset.name}, ${release}, ${JSON.stringify(contract.fields)})`)
    return { dataset: dataset.name, release, records, ...counts, unchanged: false }
  } finally {
    await writer.stop()
    await chunks.close()
  }
}

const NO_BREAK_CHANGES: BreakChanges = { edits: new Map(), corrected: [] }

/** Finds breaks and sums up series and events. */
async function compareSeries(
  { client, latest, findings }: Publication,
  dataset: SeriesDataset,
  index: IndexWriter,
  preferred: PreferredSets,
): Promise<BreakChanges> {
  const release = latest.number + 1
  const all = release === 1
  const breaks = createBreakMarker(client, dataset, release, findings)
  const summaries = dataset.summarisesEvents
    ? await createEventSummaries({
        client,
        dataset,
        release,
        index,
        all,
        preferred,
        preferredAnew: findDifferent(preferred, latest.preferred),
      })
    : null
  for await (const rows of index.readTouchedSeries(all)) {
    const series = toSeries(dataset, rows)
    const { broken, corrects } = breaks.add(rows)
    index.addSteps(series, broken)
    await summaries?.add(rows, series, corrects)
  }
  const changes = await breaks.end()
  await summaries?.end()
  return changes
}

async function* mapBatches<From, To>(batches: AsyncIterable<From>, map: (batch: From) => Promise<To>) {
  for await (const batch of batches) yield await map(batch)
}
