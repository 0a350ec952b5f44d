// A table with a row for each record of release 1: its fields as columns, and its text. The service has no such table; pgbench
// and psql read it for comparison.
import sql from 'sql-template-tag'
import { columnType } from '../src/datasets/define.ts'
import { hedOutbreaks } from '../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../src/platform/postgres/database.ts'
import { walkRecords } from '../src/storage/read-records.ts'
import { runPsql } from './engine.ts'

export const RECORD_TABLE = 'bench_record'

/** Creates the table unless an earlier run did. */
export async function createRecordTable(databaseUrl: string): Promise<void> {
  if ((await runPsql(databaseUrl, `select to_regclass('${RECORD_TABLE}')`)) !== '') return
  await runPsql(databaseUrl, 'create unlogged table if not exists bench_text (body text)')
  await runPsql(databaseUrl, 'truncate bench_text')
  const database = openDatabase({ url: databaseUrl, role: null, connections: 1 })
  try {
    for await (const bodies of walkRecords(database, hedOutbreaks, 1))
      await database.query(sql`insert into bench_text select unnest(${bodies}::text[])`)
  } finally {
    await database.close()
  }
  const columns = hedOutbreaks.fields.map((field) => `"${field.name}" ${columnType(field)}`)
  await runPsql(
    databaseUrl,
    `begin;
    create table ${RECORD_TABLE} (${columns.join(', ')}, body text);
    insert into ${RECORD_TABLE}
    select (jsonb_populate_record(null::${RECORD_TABLE}, body::jsonb || jsonb_build_object('body', body))).* from bench_text;
    alter table ${RECORD_TABLE} add primary key (id);
    drop table bench_text;
    commit`,
  )
  await runPsql(databaseUrl, `vacuum analyze ${RECORD_TABLE}`)
}
