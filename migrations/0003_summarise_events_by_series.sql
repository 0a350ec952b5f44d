-- The program summarises series and events when it publishes, by the rules of docs/methods.md. The trigger that added up
-- counts of different places and sources in SQL goes.
drop trigger summarise_events on release;
drop function summarise_hed_outbreak_events();
drop function sum_hed_outbreak_series(text[]);
drop table hed_outbreak_series;

-- The sums of the current records of a series. A release computes only the series that it changes, and the summary of an
-- event is made from the sums of its series. This is no history: only the latest sums are kept. While the table is
-- empty, the next release computes all series.
create table hed_outbreak_series (
  series_id text primary key,
  event text not null,
  last_release integer not null,
  summary jsonb not null
);
create index hed_outbreak_series_event on hed_outbreak_series (event);
grant select, insert, delete on hed_outbreak_series to outbreaks_operator;
