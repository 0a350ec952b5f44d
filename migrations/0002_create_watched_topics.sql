-- Running nodes keep small tables in memory and ask this one, twice a second, whether they changed.
create table watched_topic (
  topic text primary key,
  version bigint not null default 1
);
grant select on watched_topic to outbreaks_api, outbreaks_operator;
grant update (version) on watched_topic to outbreaks_operator;

-- Counted in the changing transaction itself: a node that sees the new version sees the change.
create function note_change() returns trigger language plpgsql as $$
begin
  update watched_topic set version = version + 1 where topic = tg_argv[0];
  return null;
end $$;
