// A table with a row for each record of release 1: its fields as columns, and its text. The service has no such table; pgbench
// and psql read it for comparison. It is in a database of its own.
import sql from 'sql-template-tag'
import { columnType } from '../../src/datasets/define.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { type Database, openDatabase } from '../../src/platform/postgres/database.ts'
import { readAllRecords } from '../../src/storage/read-records.ts'
import { runPsql } from '../engine.ts'

export const RECORD_TABLE = 'bench_record'

/** Creates the table unless an earlier run did. */
export async function createRecordTable(databaseUrl: string, storeUrl: string): Promise<void> {
  if ((await runPsql(databaseUrl, `select to_regclass('${RECORD_TABLE}')`)) !== '') return
  await runPsql(databaseUrl, 'create unlogged table if not exists bench_text (body text)')
  await runPsql(databaseUrl, 'truncate bench_text')
  const [source, database] = [storeUrl, databaseUrl].map((url) =>
    openDatabase({ url, role: null, connections: 1 }),
  ) as [Database, Database]
  try {
    for await (const bodies of readAllRecords(source, hedOutbreaks, 1))
      await database.query(sql`insert into bench_text select unnest(${bodies}::text[])`)
  } finally {
    await Promise.all([source.close(), database.close()])
  }
  const columns = hedOutbreaks.fields.map((field) => `"${field.name}" ${columnType(field)}`)
  await runPsql(
    databaseUrl,
    `begin;
    create type bench_columns as (${columns.join(', ')});
    create table ${RECORD_TABLE} (${columns.join(', ')}, body text);
    insert into ${RECORD_TABLE}
    select record.*, body from bench_text, lateral json_populate_record(null::bench_columns, body::json) as record;
    alter table ${RECORD_TABLE} add primary key (id);
    drop table bench_text;
    commit`,
  )
  await runPsql(databaseUrl, `vacuum analyze ${RECORD_TABLE}`)
}
