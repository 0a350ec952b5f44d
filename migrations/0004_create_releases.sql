-- A release is the whole dataset as it was published at one moment. Rows are never changed.
create table release (
  dataset text not null,
  number integer not null check (number >= 1),
  title text not null,
  licence text not null,
  note text,
  published_at timestamptz not null default now(),
  records bigint not null,
  added bigint not null,
  corrected bigint not null,
  withdrawn bigint not null,
  -- The highest id ever given out in the dataset: the next release goes on from here, so no id is reused.
  last_id bigint not null,
  -- Distinct event names, sorted by code point.
  event_names text[] not null,
  primary key (dataset, number)
);
grant select on release to outbreaks_api, outbreaks_operator;
grant insert on release to outbreaks_operator;

insert into watched_topic (topic) values ('release');
create trigger note_change after insert or update or delete on release
  for each statement execute function note_change('release');
