// Generates the SQL tables of a dataset from its declaration, for the migration that adds the dataset.
// `node dev/dataset-tables.ts NAME` prints it. A committed migration is never generated again: later fields need new migrations.
import { catalogue } from '../src/datasets/catalogue.ts'
import { columnType, type Dataset, type Field } from '../src/datasets/define.ts'

export function formatTablesSql(dataset: Dataset): string {
  const { name, table, content, series } = dataset
  const columns = content.map((field) => `  ${field.name} ${columnType(field)}${field.nullable ? '' : ' not null'},`)
  return `insert into dataset (name, table_prefix) values ('${name}', '${table}');

-- Versions of records are added and closed, never changed. A release r has the versions with
-- from_release <= r < to_release; an open version has the largest integer as its to_release.
create table ${table}_version (
  id bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
${columns.join('\n')}
  revision integer not null,
  first_release integer not null,
  last_release integer not null,
  -- Distinguishes a corrected record from an unchanged one.
  content_sha256 bytea not null check (octet_length(content_sha256) = 32),
  -- The record as it is sent, rendered once.
  body text not null,
  primary key (id, from_release),
  check (from_release < to_release)
);
create unique index ${table}_open_version on ${table}_version (id) where to_release = 2147483647;
-- The versions that a release began and ended, in the order of id: the cost of a difference depends on what changed.
create index ${table}_version_began on ${table}_version (from_release, id);
create index ${table}_version_ended on ${table}_version (to_release, id) where to_release < 2147483647;
-- For each filter of high cardinality: its versions by value, in the order of id.
${content.flatMap((field) => formatIndexSql(table, field)).join('\n')}

-- The id of a key never changes.
create table ${table}_key (
  key text primary key,
  id bigint not null unique
);

-- The records of a hundred ids, compressed when they are published. Versioned like records.
create table ${table}_chunk (
  -- The ids from number * 100 + 1 to number * 100 + 100.
  number bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  records integer not null check (records between 1 and 100),
  -- Of the text before compression: the records, in the order of id, joined by a comma and a line end.
  bytes integer not null,
  crc32 bigint not null,
  -- Of the records as lines, each with a line end.
  sha256 bytea not null check (octet_length(sha256) = 32),
  -- Raw deflate with a full flush at the end: chunks can be concatenated in a gzip member.
  deflated bytea not null,
  primary key (number, from_release),
  check (from_release < to_release)
);
-- The column is already compressed.
alter table ${table}_chunk alter column deflated set storage external;
-- A page skips the versions of other releases by the index alone.
create index ${table}_chunk_held on ${table}_chunk (number, to_release, from_release);

-- How many records of a release have a value: event names and facets without counting. Versioned like records.
create table ${table}_facet (
  field text not null,
  value text collate "C" not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  records bigint not null check (records > 0),
  primary key (field, value, from_release),
  check (from_release < to_release)
);

-- How many records of a release precede an id, at regular intervals of chunks: a deep offset starts there.
create table ${table}_checkpoint (
  release integer not null,
  ordinal bigint not null,
  id bigint not null,
  primary key (release, ordinal)
);

grant select on ${table}_version, ${table}_key, ${table}_chunk, ${table}_facet, ${table}_checkpoint
  to outbreaks_api, outbreaks_operator;
grant insert on ${table}_version, ${table}_key, ${table}_chunk, ${table}_facet, ${table}_checkpoint
  to outbreaks_operator;
grant update (to_release) on ${table}_version, ${table}_chunk, ${table}_facet to outbreaks_operator;
${series === undefined ? '' : formatMarkingSql(name, table, series.breakFlag)}`
}

/** The break of a series depends on all records of a release, so it is set after they are written. */
const formatMarkingSql = (name: string, table: string, broken: string) => `
-- A version is written before it is known whether its series breaks there. Until its release is published, this function
-- sets that flag and the body with it; nothing else changes a version.
create function mark_${table}_breaks(of_release integer, ids bigint[], flags boolean[], bodies text[]) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if of_release <= (select max(number) from public.release where dataset = '${name}') then
    raise exception 'release % is published: its versions are never changed', of_release;
  end if;
  update public.${table}_version as marked set ${broken} = given.flag, body = given.body
  from unnest(ids, flags, bodies) as given (id, flag, body)
  where marked.id = given.id and marked.from_release = of_release;
end $$;
grant execute on function mark_${table}_breaks to outbreaks_operator;
`

/** Fields of low cardinality need no index: a scan in the order of id soon finds each of their values. Nor do scanned fields. */
function formatIndexSql(table: string, { name, filterCardinality, nullable }: Field): string[] {
  if (filterCardinality !== 'high' && filterCardinality !== 'unbounded') return []
  return [
    `create index ${table}_version_${name} on ${table}_version (${name}, id)${nullable ? ` where ${name} is not null` : ''};`,
  ]
}

if (import.meta.main) {
  const dataset = catalogue.find(({ name }) => name === process.argv[2])
  if (dataset === undefined) throw new Error(`name a dataset: ${catalogue.map(({ name }) => name).join(', ')}`)
  console.log(formatTablesSql(dataset))
}
