-- Retention. A pruned release stays in the list; its records cannot be read any more.
alter table release add column pruned_at timestamptz;

-- First it is said, so that every node refuses these releases …
create function retire_releases(of_dataset text, oldest_kept integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from release where dataset = of_dataset and number = oldest_kept and pruned_at is null) then
    raise exception 'release % is not there to be kept', oldest_kept;
  end if;
  update release set pruned_at = now() where dataset = of_dataset and number < oldest_kept and pruned_at is null;
end $$;

-- … and only when all have heard of it are the records deleted: otherwise a walk could end early and look whole.
-- This is the only way in which anything is ever deleted: what no kept release holds.
create function prune_hed_outbreak() returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  oldest_kept integer := (select min(number) from release where dataset = 'hed-outbreaks' and pruned_at is null);
begin
  if exists (
    select from release
    where dataset = 'hed-outbreaks' and number < oldest_kept and pruned_at > clock_timestamp() - interval '5 seconds'
  ) then
    raise exception 'nodes may not have heard yet that these releases are pruned';
  end if;
  delete from hed_outbreak_version where to_release <= oldest_kept;
  delete from hed_outbreak_chunk where to_release <= oldest_kept;
  delete from hed_outbreak_facet where to_release <= oldest_kept;
  delete from hed_outbreak_event where to_release <= oldest_kept;
  delete from hed_outbreak_checkpoint where release < oldest_kept;
end $$;

revoke execute on function retire_releases, prune_hed_outbreak from public;
grant execute on function retire_releases, prune_hed_outbreak to outbreaks_operator;
