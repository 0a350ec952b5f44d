// Rows on their way into the database: checked, rendered and written into a temporary table by COPY, as a stream.
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import sql, { join } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { OperatorFault } from '../platform/operator-fault.ts'
import { contentOfBody, createRenderer, escapeCopy } from '../records/render.ts'
import { identifier, tablesOf } from '../records/tables.ts'
import { checkRows, countSkipped } from './check-release.ts'
import type { CheckedRow } from './check-row.ts'
import { collectFindings, type Findings } from './finding.ts'
import type { RecordFile } from './record-file.ts'

export const contentColumns = (dataset: Dataset) => dataset.content.map((field) => identifier(field.name))

/** `staged` lives as long as the transaction: a line for each record of the release to be. */
export async function createStaged(client: PoolClient, dataset: Dataset): Promise<void> {
  const columns = join(contentColumns(dataset))
  await client.query(sql`
    create temporary table staged on commit drop as
    select 0::bigint as ordinal, null::bigint as id, null::text as key, ${columns}, content_sha256, null::text as content
    from ${tablesOf(dataset).version} with no data`)
}

/** From files: in the order of the input. Counts warnings and what was left out; throws the errors. */
export async function stageFiles(client: PoolClient, dataset: Dataset, files: readonly RecordFile[]) {
  const findings = collectFindings()
  const copy = client.query(copyFrom(sql`copy staged from stdin`.text))
  await pipeline(Readable.from(renderFiles(dataset, files, findings), { objectMode: false }), copy)
  // An empty input would withdraw every record there is: far more often an accident than an intention.
  if (copy.rowCount === 0) throw new OperatorFault('the input holds no records')
  await client.query(sql`analyze staged (ordinal, id, key)`)
  return { warnings: findings.warnings.length, skipped: countSkipped(files) }
}

/** From the store: the records as an earlier release held them. */
export async function stageRelease(client: PoolClient, dataset: Dataset, release: number): Promise<void> {
  const columns = join(contentColumns(dataset))
  await client.query(sql`
    insert into staged (ordinal, id, ${columns}, content_sha256, content)
    select row_number() over (order by id) - 1, id, ${columns}, content_sha256, ${contentOfBody}
    from ${tablesOf(dataset).version} where from_release <= ${release} and to_release > ${release}`)
  await client.query(sql`analyze staged (ordinal, id)`)
}

/** Blocks of lines. Written into bytes line by line: joining them as text first costs twice the time. */
async function* renderFiles(
  dataset: Dataset,
  files: readonly RecordFile[],
  findings: Findings,
): AsyncGenerator<Buffer> {
  const render = createRenderer(dataset)
  let ordinal = 0
  let block = Buffer.allocUnsafe(BLOCK_BYTES)
  let used = 0
  for await (const batch of checkRows(dataset, files, findings)) {
    for (const row of batch) {
      const line = copyLine(ordinal++, row, render(row.cells))
      const room = line.length * LONGEST_UTF8
      if (room > block.length - used) {
        yield block.subarray(0, used)
        block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, room))
        used = 0
      }
      used += block.write(line, used)
    }
  }
  findings.settle()
  yield block.subarray(0, used)
}

const BLOCK_BYTES = 1 << 20
/** Bytes that one unit of a JavaScript string takes at the most. */
const LONGEST_UTF8 = 3

function copyLine(ordinal: number, { identity, cells }: CheckedRow, content: string): string {
  let line = `${ordinal}\t${'id' in identity ? identity.id : '\\N'}\t${'key' in identity ? escapeCopy(identity.key) : '\\N'}`
  for (const cell of cells) line += `\t${cell.copy}`
  return `${line}\t\\\\x${hash('sha256', content)}\t${escapeCopy(content)}\n`
}
