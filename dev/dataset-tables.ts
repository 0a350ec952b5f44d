// Generates the SQL tables of a dataset from its declaration, for the migration that adds the dataset.
// `node dev/dataset-tables.ts NAME` prints it. The fields of the dataset need no columns: chunks and the column index have them.
import { catalogue } from '../src/datasets/catalogue.ts'
import type { Dataset } from '../src/datasets/define.ts'

export const formatTablesSql = ({
  name,
  table,
}: Dataset): string => `insert into dataset (name, table_prefix) values ('${name}', '${table}');

-- Versions of records are added and closed, never changed. A release r has the versions with
-- from_release <= r < to_release; an open version has the largest integer as its to_release.
create table ${table}_version (
  id bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  revision integer not null,
  first_release integer not null,
  -- The first half of the SHA-256 of the content. Distinguishes a corrected record from an unchanged one.
  content_hash bytea not null check (octet_length(content_hash) = 16),
  primary key (id, from_release),
  check (from_release < to_release)
);
create unique index ${table}_open_version on ${table}_version (id) where to_release = 2147483647;
-- The versions that a release began and ended, in the order of id: the cost of a difference depends on what changed. Every
-- difference begins with a release, so none needs what the first release began.
create index ${table}_version_began on ${table}_version (from_release, id) where from_release > 1;
create index ${table}_version_ended on ${table}_version (to_release, id) where to_release < 2147483647;

-- The id of a key never changes.
create table ${table}_key (
  key text primary key,
  id bigint not null
);

-- The records of fifty ids, compressed when they are published. Versioned like records.
create table ${table}_chunk (
  -- The ids from slot * 50 + 1 to slot * 50 + 50.
  slot bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  records integer not null check (records between 1 and 50),
  -- Of the text before compression: the records, in the order of id, joined by a comma and a line end.
  bytes integer not null,
  crc32 bigint not null,
  -- Raw deflate with a full flush at the end: chunks can be concatenated in a gzip member.
  deflated bytea not null,
  primary key (slot, from_release),
  check (from_release < to_release)
);
-- The column is already compressed.
alter table ${table}_chunk alter column deflated set storage external;
-- A page skips the versions of other releases by the index alone.
create index ${table}_chunk_held on ${table}_chunk (slot, to_release, from_release);
-- Publishing reads the chunks of the latest release, not all chunks ever kept.
create unique index ${table}_open_chunk on ${table}_chunk (slot) where to_release = 2147483647;

-- The SHA-256 of the records of a hundred ids, as lines, each with a line end. The digest of a release is computed from these.
-- Only those of the latest release are kept.
create table ${table}_digest (
  -- The ids from number * 100 + 1 to number * 100 + 100.
  number bigint primary key,
  sha256 bytea not null check (octet_length(sha256) = 32)
);

-- Closing a version leaves a dead row. With the default of 20 % the dead rows of many releases would collect.
alter table ${table}_version set (autovacuum_vacuum_scale_factor = 0.01);
alter table ${table}_chunk set (autovacuum_vacuum_scale_factor = 0.01);
alter table ${table}_digest set (autovacuum_vacuum_scale_factor = 0.01);

grant select on ${table}_version, ${table}_key, ${table}_chunk to outbreaks_api, outbreaks_operator;
grant insert on ${table}_version, ${table}_key, ${table}_chunk to outbreaks_operator;
grant update (to_release) on ${table}_version, ${table}_chunk to outbreaks_operator;
grant select, insert, update (sha256), delete on ${table}_digest to outbreaks_operator;

-- A published release never changes.
create trigger refuse_published_insert after insert on ${table}_version
  referencing new table as added for each statement execute function refuse_published_insert('${name}');
create trigger refuse_published_update after update on ${table}_version
  referencing old table as open new table as ended for each statement execute function refuse_published_update('${name}');
create trigger refuse_published_insert after insert on ${table}_chunk
  referencing new table as added for each statement execute function refuse_published_insert('${name}');
create trigger refuse_published_update after update on ${table}_chunk
  referencing old table as open new table as ended for each statement execute function refuse_published_update('${name}');
`

if (import.meta.main) {
  const dataset = catalogue.find(({ name }) => name === process.argv[2])
  if (dataset === undefined) throw new Error(`name a dataset: ${catalogue.map(({ name }) => name).join(', ')}`)
  console.log(formatTablesSql(dataset))
}
