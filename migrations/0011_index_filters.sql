-- What the filters walk: for each field the declaration calls `many` or `countless`, its versions by value in the order of
-- id. Fields with few values have none: each of their values is met soon enough in the order of id itself.
-- Nothing is included in them. It would double their size and what publishing writes, to spare a bounded number of
-- look-ups; a scan stops after its budget in any case. Values that may be null are indexed where they are not.
create index hed_outbreak_version_event on hed_outbreak_version (event, id);
create index hed_outbreak_version_pathogen on hed_outbreak_version (pathogen, id);
create index hed_outbreak_version_disease on hed_outbreak_version (disease, id) where disease is not null;
create index hed_outbreak_version_country_code on hed_outbreak_version (country_code, id);
create index hed_outbreak_version_al1_code on hed_outbreak_version (al1_code, id) where al1_code is not null;
create index hed_outbreak_version_series_id on hed_outbreak_version (series_id, id);
create index hed_outbreak_version_source_name on hed_outbreak_version (source_name, id);

-- What there is to know of an event before its records are asked for. Versioned like records.
create table hed_outbreak_event (
  event text collate "C" not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  -- The summary as it is sent, rendered once.
  body text not null,
  primary key (event, from_release),
  check (from_release < to_release)
);
grant select on hed_outbreak_event to outbreaks_api, outbreaks_operator;
grant insert, update (to_release) on hed_outbreak_event to outbreaks_operator;

-- Only events that the release touched are summarised again. When the publishing transaction commits, because by then
-- all versions of the release are there; a rehearsal that is rolled back does not pay for it.
create function summarise_hed_outbreak_events() returns trigger language plpgsql as $$
declare
  open constant integer := 2147483647;
  touched text[];
begin
  select array_agg(distinct event) into touched from hed_outbreak_version
    where from_release = new.number or (to_release = new.number and to_release < open);
  update hed_outbreak_event set to_release = new.number where to_release = open and event = any(touched);
  insert into hed_outbreak_event (event, from_release, body)
  with grouped as materialized (
    -- Counts are told by level of place, status and source: across those they would be counted twice.
    select event, pathogen, country_code, source_name, location_granularity, case_status,
      count(*) as records, max(last_release) as last_release,
      min(coalesce(date_low, date_high)) as first_day, max(coalesce(date_high, date_low)) as last_day,
      max(cases) filter (where cumulative) as largest_cases, max(deaths) filter (where cumulative) as largest_deaths,
      sum(cases) filter (where not cumulative) as new_cases, sum(deaths) filter (where not cumulative) as new_deaths
    from hed_outbreak_version where to_release = open and event = any(touched)
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
  )
  select event, new.number, json_build_object(
    'event', event, 'records', sum(records),
    'pathogens', json_agg(distinct pathogen), 'country_codes', json_agg(distinct country_code),
    'sources', json_agg(distinct source_name),
    'first_day', min(first_day), 'last_day', max(last_day), 'last_release', max(last_release),
    'counts', (select counts from counted where counted.event = grouped.event))
  from grouped group by event;
  return null;
end $$;
create constraint trigger summarise_events after insert on release deferrable initially deferred
  for each row when (new.dataset = 'hed-outbreaks') execute function summarise_hed_outbreak_events();
