-- Chunks are the only place that has the text of records. The column index (0004) answers filters, counts and facets. So a
-- version keeps only which releases have it and what publishing compares.
create table slim_version (
  id bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  revision integer not null,
  first_release integer not null,
  content_hash bytea not null
);
insert into slim_version (id, from_release, to_release, revision, first_release, content_hash)
select id, from_release, to_release, revision, first_release, substring(content_sha256 for 16)
from hed_outbreak_version order by id, from_release;

drop function mark_hed_outbreak_breaks(integer, bigint[], boolean[], text[]);
drop table hed_outbreak_version;
alter table slim_version rename to hed_outbreak_version;
comment on column hed_outbreak_version.content_hash is
  'The first half of the SHA-256 of the content. Distinguishes a corrected record from an unchanged one.';
alter table hed_outbreak_version
  add primary key (id, from_release),
  add check (from_release < to_release),
  add check (octet_length(content_hash) = 16);
create unique index hed_outbreak_open_version on hed_outbreak_version (id) where to_release = 2147483647;
-- The versions that a release began and ended, in the order of id: the cost of a difference depends on what changed. Every
-- difference begins with a release, so none needs what the first release began.
create index hed_outbreak_version_began on hed_outbreak_version (from_release, id) where from_release > 1;
create index hed_outbreak_version_ended on hed_outbreak_version (to_release, id) where to_release < 2147483647;
grant select on hed_outbreak_version to outbreaks_api, outbreaks_operator;
grant insert, update (to_release) on hed_outbreak_version to outbreaks_operator;

-- Only keys are looked up.
alter table hed_outbreak_key drop constraint hed_outbreak_key_id_key;

drop table hed_outbreak_facet;
drop table hed_outbreak_checkpoint;

-- The digest of a release reads its chunks, not all chunks ever kept.
create unique index hed_outbreak_open_chunk on hed_outbreak_chunk (number) where to_release = 2147483647;

-- Closing a version leaves a dead row. With the default of 20 % the dead rows of many releases would collect.
alter table hed_outbreak_version set (autovacuum_vacuum_scale_factor = 0.01);
alter table hed_outbreak_chunk set (autovacuum_vacuum_scale_factor = 0.01);
alter table hed_outbreak_event set (autovacuum_vacuum_scale_factor = 0.01);
alter table hed_outbreak_series set (autovacuum_vacuum_scale_factor = 0.01);

-- The version table has no index any more that is worth building afterwards.
drop function suspend_indexes(text);
drop table suspended_index;
drop function restore_index();

create or replace function prune_releases(of_dataset text, oldest_kept integer) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  prefix text := (select table_prefix from public.dataset where name = of_dataset);
  versioned text;
begin
  if not exists (
    select from public.release where dataset = of_dataset and number = oldest_kept and pruned_at is null
  ) then
    raise exception 'release % is not there to be kept', oldest_kept;
  end if;
  update public.release set pruned_at = now()
  where dataset = of_dataset and number < oldest_kept and pruned_at is null;
  foreach versioned in array array['_version', '_chunk', '_event'] loop
    if to_regclass(format('public.%I', prefix || versioned)) is not null then
      execute format('delete from public.%I where to_release <= $1', prefix || versioned) using oldest_kept;
    end if;
  end loop;
end $$;
