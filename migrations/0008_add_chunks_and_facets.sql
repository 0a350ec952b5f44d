-- What reading everything costs is decided here: a chunk is the records of a hundred ids, compressed once when they are
-- published. Nothing can compress in SQL, so releases published by an earlier program cannot be brought over.
do $$ begin
  if exists (select from release) then
    raise exception 'this database holds releases without chunks: publish them again into a new database';
  end if;
end $$;

-- Versioned like records: a release r has the chunks with from_release <= r < to_release.
create table hed_outbreak_chunk (
  -- Holds the ids from number * 100 + 1 to number * 100 + 100.
  number bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  records integer not null check (records between 1 and 100),
  -- Of the text before compression: the records, in the order of id, joined by a comma and a line end.
  bytes integer not null,
  crc32 bigint not null,
  -- Of the records as lines, each closed by a line end.
  sha256 bytea not null check (octet_length(sha256) = 32),
  -- Raw deflate, closed by a full flush: chunks can be put one behind the other in a gzip member.
  deflated bytea not null,
  primary key (number, from_release),
  check (from_release < to_release)
);
-- It is compressed already.
alter table hed_outbreak_chunk alter column deflated set storage external;
-- A page passes by the versions of other releases without leaving the index.
create index hed_outbreak_chunk_held on hed_outbreak_chunk (number, to_release, from_release);

-- How many records of a release have a value: event names and facets without counting. Versioned like records.
create table hed_outbreak_facet (
  field text not null,
  value text collate "C" not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  records bigint not null check (records > 0),
  primary key (field, value, from_release),
  check (from_release < to_release)
);

-- One checkpoint for every so many chunks, at the first id a chunk may hold.
comment on table hed_outbreak_checkpoint is 'how many records of a release stand before an id';

alter table release
  drop column event_names,
  -- SHA-256 over the digests of the chunks, in their order.
  add column digest bytea not null check (octet_length(digest) = 32),
  -- Why records were added, corrected and withdrawn: codes, by kind of change and by event.
  add column reasons jsonb not null,
  -- The fields a record had, with their kinds.
  add column contract jsonb not null,
  -- How often each rule warned while the release was read.
  add column warnings jsonb not null;

grant select on hed_outbreak_chunk, hed_outbreak_facet to outbreaks_api, outbreaks_operator;
grant insert, update (to_release) on hed_outbreak_chunk, hed_outbreak_facet to outbreaks_operator;
