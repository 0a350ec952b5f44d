-- The tables that every dataset shares: roles, clients, keys, releases and their files.

-- Roles that hold privileges; logins are made members of them (docs/operate.md).
-- Roles belong to the whole cluster, so another database of it, or another node, may have created them first.
do $$
begin
  if not exists (select from pg_roles where rolname = 'outbreaks_api') then
    create role outbreaks_api nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

do $$
begin
  if not exists (select from pg_roles where rolname = 'outbreaks_operator') then
    create role outbreaks_operator nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

grant usage on schema public to outbreaks_api, outbreaks_operator;
-- Nodes and the operator's commands refuse a schema they do not know, so they read which migrations were applied.
grant select on migration to outbreaks_api, outbreaks_operator;

-- PUBLIC gets nothing. A function that runs as its owner is a way to the owner's privileges for whoever can call it with
-- types, casts, views or triggers of their own, and a temporary schema is where everybody could create those.
alter default privileges revoke execute on functions from public;
revoke create on schema public from public;
do $$
begin
  execute format('revoke create, temporary on database %I from public', current_database());
end $$;

-- Running nodes keep small tables in memory and read this one, twice a second, to see whether they changed.
create table watched_topic (
  topic text primary key,
  version bigint not null default 1,
  -- Names the last change. After a restore or a failover two histories may reach the same version by other changes.
  change_id uuid not null default gen_random_uuid()
);
insert into watched_topic (topic) values ('client'), ('signing_key'), ('release');
grant select on watched_topic to outbreaks_api, outbreaks_operator;
grant update (version, change_id) on watched_topic to outbreaks_operator;

-- The changing transaction itself raises the version: a node that sees the new version sees the change.
create function note_change() returns trigger language plpgsql as $$
begin
  update public.watched_topic set version = version + 1, change_id = gen_random_uuid() where topic = tg_argv[0];
  return null;
end $$;

create table client (
  client_id text primary key,
  name text not null check (name <> ''),
  scopes text[] not null,
  -- Carried by every access token; raising it ends all tokens issued before.
  generation integer not null default 1,
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);

-- A client has two secrets while they rotate. Only digests of 256 random bits are kept.
create table client_secret (
  secret_sha256 bytea primary key check (octet_length(secret_sha256) = 32),
  client_id text not null references client,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index on client_secret (client_id);

-- A key signs from `signs_from` until a later key does, and is trusted until `verifies_until`.
create table signing_key (
  kid text primary key,
  algorithm text not null check (algorithm in ('ES256', 'RS256', 'EdDSA')),
  public_jwk jsonb not null,
  sealed_private_key bytea not null,
  created_at timestamptz not null default now(),
  signs_from timestamptz not null,
  verifies_until timestamptz
);

grant select on client, client_secret, signing_key to outbreaks_api, outbreaks_operator;
grant insert, update on client, client_secret, signing_key to outbreaks_operator;

create trigger note_change after insert or update or delete on client
  for each statement execute function note_change('client');
create trigger note_change after insert or update or delete on client_secret
  for each statement execute function note_change('client');
create trigger note_change after insert or update or delete on signing_key
  for each statement execute function note_change('signing_key');

-- The datasets that have tables here. The names of those begin with `table_prefix`.
create table dataset (
  name text primary key,
  table_prefix text not null unique
);
grant select on dataset to outbreaks_api, outbreaks_operator;

-- A release is the whole dataset as it was published at one moment. Only pruning changes a row.
create table release (
  dataset text not null references dataset,
  number integer not null check (number >= 1),
  title text not null,
  licence text not null,
  note text,
  -- Not now(), the beginning of the transaction: publishing takes minutes, and a reader must not be told of the past.
  published_at timestamptz not null default clock_timestamp(),
  records bigint not null,
  added bigint not null,
  corrected bigint not null,
  withdrawn bigint not null,
  -- The highest id ever assigned in the dataset: the next release continues from here, so no id is reused.
  last_id bigint not null,
  -- The earlier release that a rollback published again.
  restores integer check (restores < number),
  -- SHA-256 over the digests of the chunks, in their order.
  digest bytea not null check (octet_length(digest) = 32),
  -- Why records were added, corrected and withdrawn: codes, by kind of change and by event.
  reasons jsonb not null,
  -- How often each rule warned while the release was validated.
  warnings jsonb not null,
  -- Since when its records cannot be read any more.
  pruned_at timestamptz,
  primary key (dataset, number),
  foreign key (dataset, restores) references release
);
grant select on release to outbreaks_api, outbreaks_operator;
grant insert on release to outbreaks_operator;
create trigger note_change after insert or update or delete on release
  for each statement execute function note_change('release');

-- The contract of a release: the fields its records have, in their order. It holds from `first_release` until the next
-- contract of the dataset. Every later version of the program reads, exports and rolls back a release through its contract.
create table contract (
  dataset text not null,
  first_release integer not null,
  fields jsonb not null,
  primary key (dataset, first_release),
  foreign key (dataset, first_release) references release
);
grant select on contract to outbreaks_api, outbreaks_operator;
grant insert on contract to outbreaks_operator;

-- The files of a release: each is written once, whole, and then recorded here with its digest.
create table release_file (
  dataset text not null,
  release integer not null,
  name text not null,
  media_type text not null,
  records bigint not null check (records >= 0),
  bytes bigint not null check (bytes >= 0),
  sha256 bytea not null check (octet_length(sha256) = 32),
  primary key (dataset, release, name),
  foreign key (dataset, release) references release
);
grant select on release_file to outbreaks_api, outbreaks_operator;
grant insert on release_file to outbreaks_operator;
create trigger note_change after insert or update or delete on release_file
  for each statement execute function note_change('release');

-- Rows of the input that have faults, which the operator confirmed by their number: the release leaves them out.
create table release_rejection (
  dataset text not null,
  release integer not null,
  -- In the order in which they were rejected, from 1.
  number integer not null check (number >= 1),
  file text not null,
  line integer not null,
  "column" text,
  rule text not null,
  message text not null,
  -- The cells of the row as JSON, long ones cut.
  row_json text not null check (length(row_json) <= 100000),
  primary key (dataset, release, number),
  foreign key (dataset, release) references release
);
grant select on release_rejection to outbreaks_api, outbreaks_operator;
grant insert on release_rejection to outbreaks_operator;

-- One transaction marks releases as pruned and deletes what no kept release holds: a snapshot sees both or neither, on
-- the primary and on a replica. Nothing else in this schema deletes anything that was published.
create function prune_releases(of_dataset text, oldest_kept integer) returns void
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
  foreach versioned in array array['_version', '_chunk', '_facet', '_event'] loop
    if to_regclass(format('public.%I', prefix || versioned)) is not null then
      execute format('delete from public.%I where to_release <= $1', prefix || versioned) using oldest_kept;
    end if;
  end loop;
  execute format('delete from public.%I where release < $1', prefix || '_checkpoint') using oldest_kept;
end $$;
grant execute on function prune_releases to outbreaks_operator;

-- Every statement that reads a release has this as a condition, and so asks in its own snapshot: what it reads is the
-- whole release, or the statement fails. Stable and without columns: PostgreSQL evaluates it once for a statement, also
-- where no row matches.
create function require_kept(of_dataset text, of_release integer) returns boolean language plpgsql stable as $$
declare
  pruned timestamptz;
begin
  select pruned_at into pruned from public.release where dataset = of_dataset and number = of_release;
  if not found then
    raise exception using errcode = 'OB503',
      message = format('Release %s has not reached this database yet; try again shortly.', of_release);
  end if;
  if pruned is not null then
    raise exception using errcode = 'OB410', message = format(
      'The records of release %s are kept no longer. The oldest that can be read is %s: start again from it or from a later one.',
      of_release,
      (select min(number) from public.release where dataset = of_dataset and pruned_at is null));
  end if;
  return true;
end $$;
grant execute on function require_kept to outbreaks_api, outbreaks_operator;

-- One publisher of a dataset at a time: false where another transaction is one. A row lock, because every role may take
-- advisory locks; by a function, because a privilege to lock the row would be one to change it.
create function lock_dataset(of_dataset text) returns boolean
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from public.dataset where name = of_dataset for no key update skip locked;
  return found;
end $$;
grant execute on function lock_dataset to outbreaks_operator;

-- A first release is written without the indexes of its table; they are built when it is committed, because row by row
-- they cost more than the rows. Only an empty table can be treated so, and nobody reads that one.
create table suspended_index (
  of_table regclass not null,
  definition text not null
);

create function suspend_indexes(of_dataset text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  suspended regclass := (
    select pg_class.oid from public.dataset join pg_class on relname = table_prefix || '_version'
    where name = of_dataset and relnamespace = 'public'::regnamespace and relkind = 'r');
  filled boolean;
  index record;
begin
  if suspended is null then
    raise exception 'there is no dataset %', of_dataset;
  end if;
  execute format('select exists (select from %s)', suspended) into filled;
  if filled then
    raise exception 'indexes of % are in use', suspended;
  end if;
  for index in
    select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = suspended and not exists (select from pg_constraint where conindid = indexrelid)
  loop
    insert into public.suspended_index values (suspended, index.definition);
    execute format('drop index %s', index.name);
  end loop;
end $$;
grant execute on function suspend_indexes to outbreaks_operator;

-- At commit, in any case: there is no committed state in which an index is missing.
create function restore_index() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp set maintenance_work_mem = '256MB' as $$
begin
  if tg_relid <> 'public.suspended_index'::regclass then
    raise exception 'this trigger belongs to another table';
  end if;
  execute new.definition;
  delete from public.suspended_index where definition = new.definition;
  return null;
end $$;
create constraint trigger restore_index after insert on suspended_index deferrable initially deferred
  for each row execute function restore_index();
