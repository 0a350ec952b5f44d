-- Record versions are added and closed, never changed. A release r holds the versions with
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
  country_code text not null,
  country text not null,
  location_granularity text not null,
  al1_code text,
  admin_l1 text,
  admin_l2 text,
  admin_l3 text,
  locality text,
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
  cumulative boolean not null,
  cases integer,
  deaths integer,
  cases_missing text,
  deaths_missing text,
  series_id text not null,
  series_break boolean not null,
  composite boolean not null,
  source_name text not null,
  source_type text,
  source_url text,
  verification text not null,
  note text,
  extra jsonb not null,
  revision integer not null,
  first_release integer not null,
  last_release integer not null,
  -- SHA-256 of the rendered content: tells a corrected record from an unchanged one.
  content_sha256 bytea not null check (octet_length(content_sha256) = 32),
  -- The record as it is sent, rendered once.
  body text not null,
  primary key (id, from_release),
  check (from_release < to_release)
);
create unique index hed_outbreak_open_version on hed_outbreak_version (id) where to_release = 2147483647;

-- A key is given its id once, for ever.
create table hed_outbreak_key (
  key text primary key,
  id bigint not null unique
);

-- Every thousandth record of a release, by its place in the order: deep offsets start here.
create table hed_outbreak_checkpoint (
  release integer not null,
  ordinal bigint not null,
  id bigint not null,
  primary key (release, ordinal)
);

grant select on hed_outbreak_version, hed_outbreak_key, hed_outbreak_checkpoint to outbreaks_api, outbreaks_operator;
grant insert, update (to_release) on hed_outbreak_version to outbreaks_operator;
grant insert on hed_outbreak_key, hed_outbreak_checkpoint to outbreaks_operator;
