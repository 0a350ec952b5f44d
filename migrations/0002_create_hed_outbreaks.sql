-- The tables of hed-outbreaks, as dev/dataset-tables.ts prints them, then what is known of its events.
insert into dataset (name, table_prefix) values ('hed-outbreaks', 'hed_outbreak');

-- Versions of records are added and closed, never changed. A release r holds the versions with
-- from_release <= r < to_release; an open version has the largest integer as its to_release.
create table hed_outbreak_version (
  id bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  event text not null,
  pathogen text not null,
  pathogen_taxon_id integer,
  disease text,
  disease_icd11 text,
  host text,
  host_species text,
  country_code text not null,
  country text not null,
  country_iso3 text,
  who_region text,
  un_region text,
  location_granularity text not null,
  al1_code text,
  admin_l1 text,
  admin_l2 text,
  admin_l3 text,
  locality text,
  place_id text,
  location_as_reported text,
  location_type text,
  latitude double precision,
  longitude double precision,
  date_low date,
  date_high date,
  date_report date,
  date_type text,
  date_inferred boolean not null,
  case_status text not null,
  case_definition text,
  count_kind text not null,
  age_group text,
  sex text,
  population text,
  cases integer,
  deaths integer,
  hospitalised integer,
  recovered integer,
  tested integer,
  count_qualifier text not null,
  cases_missing text,
  deaths_missing text,
  series_id text not null,
  series_break boolean not null,
  composite boolean not null,
  source_name text not null,
  source_report text,
  source_type text,
  source_url text,
  licence text,
  verification text not null,
  note text,
  extra jsonb not null,
  revision integer not null,
  first_release integer not null,
  last_release integer not null,
  -- Tells a corrected record from an unchanged one.
  content_sha256 bytea not null check (octet_length(content_sha256) = 32),
  -- The record as it is sent, rendered once.
  body text not null,
  primary key (id, from_release),
  check (from_release < to_release)
);
create unique index hed_outbreak_open_version on hed_outbreak_version (id) where to_release = 2147483647;
-- What a release began and what it ended, in the order of id: the difference of two releases costs what changed.
create index hed_outbreak_version_began on hed_outbreak_version (from_release, id);
create index hed_outbreak_version_ended on hed_outbreak_version (to_release, id) where to_release < 2147483647;
-- For each filter with many values its versions by value, in the order of id.
create index hed_outbreak_version_event on hed_outbreak_version (event, id);
create index hed_outbreak_version_pathogen on hed_outbreak_version (pathogen, id);
create index hed_outbreak_version_disease on hed_outbreak_version (disease, id) where disease is not null;
create index hed_outbreak_version_country_code on hed_outbreak_version (country_code, id);
create index hed_outbreak_version_al1_code on hed_outbreak_version (al1_code, id) where al1_code is not null;
create index hed_outbreak_version_series_id on hed_outbreak_version (series_id, id);
create index hed_outbreak_version_source_name on hed_outbreak_version (source_name, id);

-- A key is assigned its id once, for ever.
create table hed_outbreak_key (
  key text primary key,
  id bigint not null unique
);

-- The records of a hundred ids, compressed when they are published. Versioned like records.
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
  -- Raw deflate, closed by a full flush: chunks can be concatenated in a gzip member.
  deflated bytea not null,
  primary key (number, from_release),
  check (from_release < to_release)
);
-- It is compressed already.
alter table hed_outbreak_chunk alter column deflated set storage external;
-- A page skips the versions of other releases without leaving the index.
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

-- How many records of a release precede an id, one row for every so many chunks: a deep offset starts there.
create table hed_outbreak_checkpoint (
  release integer not null,
  ordinal bigint not null,
  id bigint not null,
  primary key (release, ordinal)
);

grant select on hed_outbreak_version, hed_outbreak_key, hed_outbreak_chunk, hed_outbreak_facet, hed_outbreak_checkpoint
  to outbreaks_api, outbreaks_operator;
grant insert on hed_outbreak_version, hed_outbreak_key, hed_outbreak_chunk, hed_outbreak_facet, hed_outbreak_checkpoint
  to outbreaks_operator;
grant update (to_release) on hed_outbreak_version, hed_outbreak_chunk, hed_outbreak_facet to outbreaks_operator;

-- A version is written before it is known whether its series breaks there. Until a release is published its versions may be
-- given that flag, with the body that says so; nothing else changes a version.
create function mark_hed_outbreak_breaks(of_release integer, ids bigint[], flags boolean[], bodies text[]) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if of_release <= (select max(number) from public.release where dataset = 'hed-outbreaks') then
    raise exception 'release % is published: its versions are never changed', of_release;
  end if;
  update public.hed_outbreak_version as marked set series_break = given.flag, body = given.body
  from unnest(ids, flags, bodies) as given (id, flag, body)
  where marked.id = given.id and marked.from_release = of_release;
end $$;
grant execute on function mark_hed_outbreak_breaks to outbreaks_operator;

-- What there is to know of an event before its records are requested. Versioned like records.
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
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from public.hed_outbreak_series where series_id = any(touched);
  insert into public.hed_outbreak_series
  select series_id, event, pathogen, country_code, source_name, location_granularity, case_status,
    count(*), max(last_release), min(coalesce(date_low, date_high)), max(coalesce(date_high, date_low)),
    max(cases) filter (where count_kind = 'cumulative'), max(deaths) filter (where count_kind = 'cumulative'),
    sum(cases) filter (where count_kind = 'new'), sum(deaths) filter (where count_kind = 'new')
  from public.hed_outbreak_version where to_release = 2147483647 and series_id = any(touched)
  group by series_id, event, pathogen, country_code, source_name, location_granularity, case_status;
end $$;

create function summarise_hed_outbreak_events() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set work_mem = '64MB' as $$
declare
  open constant integer := 2147483647;
  touched_series text[];
  touched text[];
begin
  if tg_relid <> 'public.release'::regclass then
    raise exception 'this trigger belongs to another table';
  end if;
  select array_agg(series_id), array_agg(distinct event) into touched_series, touched
  from (
    select distinct series_id, event from public.hed_outbreak_version
    where from_release = new.number or (to_release = new.number and to_release < open)
  ) as changed;
  perform public.sum_hed_outbreak_series(touched_series);
  update public.hed_outbreak_event set to_release = new.number where to_release = open and event = any(touched);
  insert into public.hed_outbreak_event (event, from_release, body)
  with grouped as materialized (
    -- Counts are told by level of place, status and source: across those they would be counted twice.
    select event, pathogen, country_code, source_name, location_granularity, case_status,
      sum(records) as records, max(last_release) as last_release, min(first_day) as first_day, max(last_day) as last_day,
      max(largest_cases) as largest_cases, max(largest_deaths) as largest_deaths,
      sum(new_cases) as new_cases, sum(new_deaths) as new_deaths
    from public.hed_outbreak_series where event = any(touched)
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

-- When the publishing transaction commits, because by then all versions of the release are there; a preview, which is
-- rolled back, does not pay for it. Only events that the release touched are summarised again.
create constraint trigger summarise_events after insert on release deferrable initially deferred
  for each row when (new.dataset = 'hed-outbreaks') execute function summarise_hed_outbreak_events();
