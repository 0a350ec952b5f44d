-- What the open versions of a series come to. A release touches the series of its changes, and the summary of an event is
-- made from the sums of its series: an event may hold a tenth of all records, and most of its series stay as they are.
create table hed_outbreak_series (
  series_id text not null,
  event text not null,
  pathogen text not null,
  country_code text not null,
  source_name text not null,
  location_granularity text not null,
  case_status text not null,
  records bigint not null,
  last_release integer not null,
  first_day date,
  last_day date,
  largest_cases integer,
  largest_deaths integer,
  new_cases bigint,
  new_deaths bigint
);
create index hed_outbreak_series_id on hed_outbreak_series (series_id);
create index hed_outbreak_series_event on hed_outbreak_series (event);

-- Sums are no history: only the newest ones are kept, and nobody but these functions reads or writes them.
create function sum_hed_outbreak_series(touched text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from hed_outbreak_series where series_id = any(touched);
  insert into hed_outbreak_series
  select series_id, event, pathogen, country_code, source_name, location_granularity, case_status,
    count(*), max(last_release), min(coalesce(date_low, date_high)), max(coalesce(date_high, date_low)),
    max(cases) filter (where cumulative), max(deaths) filter (where cumulative),
    sum(cases) filter (where not cumulative), sum(deaths) filter (where not cumulative)
  from hed_outbreak_version where to_release = 2147483647 and series_id = any(touched)
  group by series_id, event, pathogen, country_code, source_name, location_granularity, case_status;
end $$;

create or replace function summarise_hed_outbreak_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp set work_mem = '64MB' as $$
declare
  open constant integer := 2147483647;
  touched_series text[];
  touched text[];
begin
  select array_agg(series_id), array_agg(distinct event) into touched_series, touched
  from (
    select distinct series_id, event from hed_outbreak_version
    where from_release = new.number or (to_release = new.number and to_release < open)
  ) as changed;
  perform sum_hed_outbreak_series(touched_series);
  update hed_outbreak_event set to_release = new.number where to_release = open and event = any(touched);
  insert into hed_outbreak_event (event, from_release, body)
  with grouped as materialized (
    -- Counts are told by level of place, status and source: across those they would be counted twice.
    select event, pathogen, country_code, source_name, location_granularity, case_status,
      sum(records) as records, max(last_release) as last_release, min(first_day) as first_day, max(last_day) as last_day,
      max(largest_cases) as largest_cases, max(largest_deaths) as largest_deaths,
      sum(new_cases) as new_cases, sum(new_deaths) as new_deaths
    from hed_outbreak_series where event = any(touched)
    group by event, pathogen, country_code, source_name, location_granularity, case_status
  ), told as (
    select event, location_granularity, case_status, max(largest_cases) as largest_cases,
      max(largest_deaths) as largest_deaths, sum(new_cases) as new_cases, sum(new_deaths) as new_deaths
    from grouped group by event, location_granularity, case_status, source_name
  ), counted as (
    select event, json_agg(json_build_object(
      'location_granularity', location_granularity, 'case_status', case_status,
      'largest_cumulative_cases', largest_cases, 'largest_cumulative_deaths', largest_deaths,
      'new_cases', new_cases, 'new_deaths', new_deaths) order by location_granularity, case_status) as counts
    from (
      select event, location_granularity, case_status, max(largest_cases) as largest_cases,
        max(largest_deaths) as largest_deaths, max(new_cases) as new_cases, max(new_deaths) as new_deaths
      from told group by event, location_granularity, case_status
    ) as best group by event
  ), whole as (
    select event, sum(records) as records,
      json_agg(distinct pathogen) as pathogens, json_agg(distinct country_code) as country_codes,
      json_agg(distinct source_name) as sources,
      min(first_day) as first_day, max(last_day) as last_day, max(last_release) as last_release
    from grouped group by event
  )
  select event, new.number, json_build_object(
    'event', event, 'records', records, 'pathogens', pathogens, 'country_codes', country_codes, 'sources', sources,
    'first_day', first_day, 'last_day', last_day, 'last_release', last_release, 'counts', counts)
  from whole join counted using (event);
  return null;
end $$;

revoke execute on function sum_hed_outbreak_series from public;

-- Of releases that are there already.
select sum_hed_outbreak_series(array_agg(distinct series_id)) from hed_outbreak_version where to_release = 2147483647;
