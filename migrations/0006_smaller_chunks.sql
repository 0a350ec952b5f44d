-- A chunk has fifty ids instead of a hundred, so that reading and correcting single records cost less. The digest of a release
-- is still that of groups of a hundred ids, which get a table of their own.
create table hed_outbreak_digest (
  number bigint primary key,
  sha256 bytea not null check (octet_length(sha256) = 32)
);
comment on table hed_outbreak_digest is
  'The SHA-256 of the records of a hundred ids, as lines, each with a line end. Only those of the latest release are kept.';
comment on column hed_outbreak_digest.number is 'The ids from number * 100 + 1 to number * 100 + 100.';
insert into hed_outbreak_digest (number, sha256)
select number, sha256 from hed_outbreak_chunk where to_release = 2147483647 order by number;
alter table hed_outbreak_digest set (autovacuum_vacuum_scale_factor = 0.01);
grant select, insert, update (sha256), delete on hed_outbreak_digest to outbreaks_operator;

-- The text of a chunk of a hundred ids stays as it is until a release changes one of its records. The column has another name,
-- so that an earlier program fails instead of reading the wrong records.
alter table hed_outbreak_chunk
  drop column sha256,
  drop constraint hed_outbreak_chunk_pkey,
  drop constraint hed_outbreak_chunk_records_check;
drop index hed_outbreak_chunk_held;
drop index hed_outbreak_open_chunk;
alter table hed_outbreak_chunk rename column number to slot;
update hed_outbreak_chunk set slot = slot * 3 + 2;
comment on column hed_outbreak_chunk.slot is
  'Three slots for each hundred ids: the first fifty, the last fifty, and all hundred, as earlier programs stored them.';
alter table hed_outbreak_chunk
  add primary key (slot, from_release),
  add check (records between 1 and case slot % 3 when 2 then 100 else 50 end);
create index hed_outbreak_chunk_held on hed_outbreak_chunk (slot, to_release, from_release);
create unique index hed_outbreak_open_chunk on hed_outbreak_chunk (slot) where to_release = 2147483647;
