-- The whole schema: roles, clients, keys, releases and their files, the datasets, the column index and the audit log.

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

do $$
begin
  if not exists (select from pg_roles where rolname = 'outbreaks_notify') then
    create role outbreaks_notify nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

grant usage on schema public to outbreaks_api, outbreaks_operator, outbreaks_notify;
-- Nodes and the operator's commands refuse a schema they do not know, so they read which migrations were applied.
grant select on migration to outbreaks_api, outbreaks_operator, outbreaks_notify;

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
grant select on watched_topic to outbreaks_api, outbreaks_operator, outbreaks_notify;

-- The changing transaction itself raises the version: a node that sees the new version sees the change.
create function note_change() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
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
  disabled_at timestamptz,
  -- Public keys as JWK, without private members, for a client that authenticates with a signed assertion (private_key_jwt,
  -- RFC 7523). Empty for a client that has only secrets.
  public_keys jsonb not null default '[]' check (jsonb_typeof(public_keys) = 'array')
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

grant select on client, client_secret, signing_key to outbreaks_api, outbreaks_operator, outbreaks_notify;
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
grant select on dataset to outbreaks_api, outbreaks_operator, outbreaks_notify;

-- A release is the whole dataset as it was published at one moment. Only pruning changes a row.
create table release (
  dataset text not null references dataset,
  number integer not null check (number >= 1),
  title text not null,
  licence text not null,
  note text,
  -- Not now(), the beginning of the transaction: publishing takes minutes, and a reader must not be told of the past.
  published_at timestamptz not null default clock_timestamp(),
  -- The day up to which its data is known. A rollback has that of the release it restores.
  as_of date not null check (as_of <= (published_at at time zone 'UTC')::date),
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
  -- What its publisher prefers where an event was counted in several ways, by event.
  preferred jsonb not null default '{}',
  -- How often each rule warned while the release was validated.
  warnings jsonb not null,
  -- Since when its records cannot be read any more.
  pruned_at timestamptz,
  primary key (dataset, number),
  foreign key (dataset, restores) references release
);
grant select on release to outbreaks_api, outbreaks_operator, outbreaks_notify;
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
grant select on contract to outbreaks_api, outbreaks_operator, outbreaks_notify;
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
  -- Where the records of each block of ids are in the file. A later release copies the blocks in which nothing changed.
  blocks jsonb not null default '[]',
  primary key (dataset, release, name),
  foreign key (dataset, release) references release
);
grant select on release_file to outbreaks_api, outbreaks_operator, outbreaks_notify;
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
grant select on release_rejection to outbreaks_api, outbreaks_operator, outbreaks_notify;
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
  foreach versioned in array array['_version', '_chunk', '_event'] loop
    if to_regclass(format('public.%I', prefix || versioned)) is not null then
      execute format('delete from public.%I where to_release <= $1', prefix || versioned) using oldest_kept;
    end if;
  end loop;
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
      message = format('Release %s has not reached this database yet. Try again in 1 s.', of_release);
  end if;
  if pruned is not null then
    raise exception using errcode = 'OB410', message = format(
      'The records of release %s have been deleted. The oldest release you can read is %s: start again from it or a later one.',
      of_release,
      (select min(number) from public.release where dataset = of_dataset and pruned_at is null));
  end if;
  return true;
end $$;
grant execute on function require_kept to outbreaks_api, outbreaks_operator, outbreaks_notify;

-- One publisher of a dataset at a time: false where another transaction is one. A row lock, because every role may take
-- advisory locks; by a function, because a privilege to lock the row would be one to change it.
create function lock_dataset(of_dataset text) returns boolean
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from public.dataset where name = of_dataset for no key update skip locked;
  return found;
end $$;
grant execute on function lock_dataset to outbreaks_operator;

-- What is published never changes, whichever program writes. All triggers that follow lock the dataset, as publishing does, so
-- that no release appears between their check and the end of the transaction. The check must see what was committed before
-- the lock, so it needs an isolation level with a new snapshot for each statement.
create function lock_latest_release(of_dataset text) returns integer
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'releases are written in read committed transactions' using errcode = '42501';
  end if;
  perform from public.dataset where name = of_dataset for no key update;
  return (select coalesce(max(number), 0) from public.release where dataset = of_dataset);
end $$;

-- Rows of tables that are versioned by release begin, and end, with the next release.
create function refuse_published_insert() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  latest integer := public.lock_latest_release(tg_argv[0]);
begin
  if exists (select from added where from_release <> latest + 1) then
    raise exception '% is published, so rows of % begin with the next release', latest, tg_table_name using errcode = '42501';
  end if;
  return null;
end $$;

create function refuse_published_update() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  latest integer := public.lock_latest_release(tg_argv[0]);
begin
  if exists (select from ended where to_release <> latest + 1) or exists (select from open where to_release <= latest) then
    raise exception '% is published, so rows of % end with the next release', latest, tg_table_name using errcode = '42501';
  end if;
  return null;
end $$;

create function refuse_other_release() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.number <> public.lock_latest_release(new.dataset) + 1 then
    raise exception 'release % is not the next one', new.number using errcode = '42501';
  end if;
  return new;
end $$;
create trigger refuse_other_release before insert on release
  for each row execute function refuse_other_release();

-- The contract and the rejected rows of a release are written by the transaction that publishes it.
create function refuse_published_release() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (
    select from public.release where dataset = new.dataset and number = (to_jsonb(new) ->> tg_argv[0])::integer
      and xmin = pg_current_xact_id()::xid
  ) then
    raise exception 'the release is published already' using errcode = '42501';
  end if;
  return new;
end $$;
create trigger refuse_published_release before insert on contract
  for each row execute function refuse_published_release('first_release');
create trigger refuse_published_release before insert on release_rejection
  for each row execute function refuse_published_release('release');

-- The tables of hed-outbreaks, as dev/dataset-tables.ts prints them.
insert into dataset (name, table_prefix) values ('hed-outbreaks', 'hed_outbreak');

-- Versions of records are added and closed, never changed. A release r has the versions with
-- from_release <= r < to_release; an open version has the largest integer as its to_release.
create table hed_outbreak_version (
  id bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  revision integer not null,
  first_release integer not null,
  -- The first half of the SHA-256 of the content. Distinguishes a corrected record from an unchanged one.
  content_hash bytea not null check (octet_length(content_hash) = 16),
  primary key (id, from_release),
  check (from_release < to_release)
);
create unique index hed_outbreak_open_version on hed_outbreak_version (id) where to_release = 2147483647;
-- The versions that a release began and ended, in the order of id: the cost of a difference depends on what changed. Every
-- difference begins with a release, so none needs what the first release began.
create index hed_outbreak_version_began on hed_outbreak_version (from_release, id) where from_release > 1;
create index hed_outbreak_version_ended on hed_outbreak_version (to_release, id) where to_release < 2147483647;

-- The id of a key never changes.
create table hed_outbreak_key (
  key text primary key,
  id bigint not null
);

-- The records of fifty ids, compressed when they are published. Versioned like records.
create table hed_outbreak_chunk (
  -- The ids from slot * 50 + 1 to slot * 50 + 50.
  slot bigint not null,
  from_release integer not null,
  to_release integer not null default 2147483647,
  records integer not null check (records between 1 and 50),
  -- Of the text before compression: the records, in the order of id, joined by a comma and a line end.
  bytes integer not null,
  crc32 bigint not null,
  -- Raw deflate with a full flush at the end: chunks can be concatenated in a gzip member.
  deflated bytea not null,
  primary key (slot, from_release),
  check (from_release < to_release)
);
-- The column is already compressed.
alter table hed_outbreak_chunk alter column deflated set storage external;
-- A page skips the versions of other releases by the index alone.
create index hed_outbreak_chunk_held on hed_outbreak_chunk (slot, to_release, from_release);
-- Publishing reads the chunks of the latest release, not all chunks ever kept.
create unique index hed_outbreak_open_chunk on hed_outbreak_chunk (slot) where to_release = 2147483647;

-- The SHA-256 of the records of a hundred ids, as lines, each with a line end. The digest of a release is computed from these.
-- Only those of the latest release are kept.
create table hed_outbreak_digest (
  -- The ids from number * 100 + 1 to number * 100 + 100.
  number bigint primary key,
  sha256 bytea not null check (octet_length(sha256) = 32)
);

-- Closing a version leaves a dead row. With the default of 20 % the dead rows of many releases would collect.
alter table hed_outbreak_version set (autovacuum_vacuum_scale_factor = 0.01);
alter table hed_outbreak_chunk set (autovacuum_vacuum_scale_factor = 0.01);
alter table hed_outbreak_digest set (autovacuum_vacuum_scale_factor = 0.01);

grant select on hed_outbreak_version, hed_outbreak_key, hed_outbreak_chunk to outbreaks_api, outbreaks_operator;
grant insert on hed_outbreak_version, hed_outbreak_key, hed_outbreak_chunk to outbreaks_operator;
grant update (to_release) on hed_outbreak_version, hed_outbreak_chunk to outbreaks_operator;
grant select, insert, update (sha256), delete on hed_outbreak_digest to outbreaks_operator;

-- A published release never changes.
create trigger refuse_published_insert after insert on hed_outbreak_version
  referencing new table as added for each statement execute function refuse_published_insert('hed-outbreaks');
create trigger refuse_published_update after update on hed_outbreak_version
  referencing old table as open new table as ended for each statement execute function refuse_published_update('hed-outbreaks');
create trigger refuse_published_insert after insert on hed_outbreak_chunk
  referencing new table as added for each statement execute function refuse_published_insert('hed-outbreaks');
create trigger refuse_published_update after update on hed_outbreak_chunk
  referencing old table as open new table as ended for each statement execute function refuse_published_update('hed-outbreaks');

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
create trigger refuse_published_insert after insert on hed_outbreak_event
  referencing new table as added for each statement execute function refuse_published_insert('hed-outbreaks');
create trigger refuse_published_update after update on hed_outbreak_event
  referencing old table as open new table as ended for each statement execute function refuse_published_update('hed-outbreaks');

-- The sums of the current records of a series. A release computes only the series that it changes, and the summary of an
-- event is made from the sums of its series. This is no history: only the latest sums are kept.
create table hed_outbreak_series (
  series_id text primary key,
  event text not null,
  last_release integer not null,
  summary jsonb not null
);
create index hed_outbreak_series_event on hed_outbreak_series (event);
grant select, insert, delete on hed_outbreak_series to outbreaks_operator;

alter table hed_outbreak_event set (autovacuum_vacuum_scale_factor = 0.01);
alter table hed_outbreak_series set (autovacuum_vacuum_scale_factor = 0.01);

-- The column index of a release: what the release changed in it, as Parquet files. A node builds its DuckDB database
-- from the parts of all releases. They are written in the transaction of the release, so a reader sees both or neither.
create table index_part (
  dataset text not null,
  release integer not null,
  -- New entries of the dictionary, rows that begin with the release, and the ids of rows that end with it.
  kind text not null check (kind in ('dictionary', 'added', 'removed')),
  number integer not null check (number >= 1),
  -- Names the columns of the part. A program with other columns cannot use it.
  layout text not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  content bytea not null,
  primary key (dataset, release, kind, number),
  foreign key (dataset, release) references release
);
-- Parts are compressed already.
alter table index_part alter column content set storage external;
grant select on index_part to outbreaks_api, outbreaks_operator, outbreaks_notify;
-- Parts follow from the records, so they can be written again.
grant insert, delete on index_part to outbreaks_operator;

-- What was published, and what was pruned, in the order in which it happened: for whoever missed it. The trigger locks the dataset
-- until the end of the transaction, so the numbers of a dataset are consecutive and are committed in their order: after a
-- reader has seen one, no lower one appears.
create table notice (
  dataset text not null references dataset,
  seq bigint not null check (seq >= 1),
  -- A rollback is published too: its release says what it restores.
  kind text not null check (kind in ('published', 'pruned')),
  -- The release that was published, or the latest that was pruned.
  release integer not null,
  at timestamptz not null,
  primary key (dataset, seq),
  foreign key (dataset, release) references release
);
grant select on notice to outbreaks_api, outbreaks_operator, outbreaks_notify;

create function add_notice() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  changed record;
begin
  for changed in
    select dataset, max(number) as number, max(case when tg_op = 'INSERT' then published_at else pruned_at end) as at
    from changed_release where tg_op = 'INSERT' or pruned_at is not null group by dataset
  loop
    perform public.lock_latest_release(changed.dataset);
    insert into public.notice (dataset, seq, kind, release, at)
    select changed.dataset, coalesce(max(seq), 0) + 1, case when tg_op = 'INSERT' then 'published' else 'pruned' end,
      changed.number, changed.at
    from public.notice where dataset = changed.dataset;
  end loop;
  return null;
end $$;
create trigger add_notice_of_publication after insert on release
  referencing new table as changed_release for each statement execute function add_notice();
create trigger add_notice_of_pruning after update on release
  referencing new table as changed_release for each statement execute function add_notice();

-- Where a client receives notices: an address of a webhook, or of a mailbox. A deleted one keeps its deliveries for thirty days, but
-- neither address nor secrets.
create table endpoint (
  id uuid primary key,
  client_id text not null references client,
  -- The places of a client are its limit, so that requests at the same moment cannot exceed it.
  place smallint not null check (place between 1 and 5),
  dataset text not null references dataset,
  kind text not null check (kind in ('webhook', 'mail')),
  address text not null check (length(address) <= 2000),
  state text not null default 'unconfirmed' check (state in ('unconfirmed', 'active', 'disabled')),
  -- Why it is disabled.
  reason text check (reason is null or state = 'disabled'),
  -- Gathers what happened into one delivery. Null to deliver each notice when it is written.
  digest text check (digest in ('daily', 'weekly')),
  next_digest_at timestamptz,
  -- Of a webhook. The previous secret signs too until `previous_until`.
  sealed_secret bytea,
  sealed_previous_secret bytea,
  previous_until timestamptz,
  -- When the receiver was last asked to confirm.
  asked_at timestamptz,
  -- The first failed attempt after the last successful one.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index endpoint_place on endpoint (client_id, place) where deleted_at is null;
create index on endpoint (client_id, created_at);
create index endpoint_digest on endpoint (next_digest_at) where state = 'active';

-- A question that a client watches.
create table watch (
  id uuid primary key,
  client_id text not null references client,
  -- The places of a client are its limit, so that requests at the same moment cannot exceed it.
  place smallint not null check (place between 1 and 50),
  dataset text not null references dataset,
  endpoint uuid references endpoint on delete set null,
  name text not null check (length(name) <= 200),
  -- The question in its one form, and what must happen to it, such as crosses:cases:1000.
  question text not null check (length(question) <= 8000),
  condition text not null check (length(condition) <= 100),
  state text not null default 'active' check (state in ('active', 'paused', 'ended')),
  -- Why it ended.
  reason text check (reason is null or state = 'ended'),
  -- The last release that was judged.
  judged integer not null check (judged >= 0),
  created_at timestamptz not null default now(),
  unique (client_id, place)
);
create index watch_due on watch (dataset, judged) where state = 'active';
create index on watch (endpoint);

-- Notices of watches, and what a client asked to be sent. The queue of the notifiers and the log of what they sent, for thirty days.
create table delivery (
  -- Follows from what is delivered, so that adding it again adds nothing. Equal at every attempt: receivers know it as webhook-id.
  id uuid primary key,
  -- Null for a notice that nobody receives: it can only be read.
  endpoint uuid references endpoint on delete set null,
  watch uuid references watch on delete set null,
  client_id text not null,
  dataset text not null,
  release integer,
  type text not null,
  -- The body as CloudEvents JSON.
  body jsonb not null,
  created_at timestamptz not null default now(),
  -- Null if it is not pending. A notifier that takes it moves it into the future; if that notifier ends, another takes it then.
  next_attempt_at timestamptz,
  attempts integer not null default 0,
  -- How many of them were made before a redelivery was asked for: the schedule of retries begins again.
  attempts_before integer not null default 0,
  state text not null check (state in ('pending', 'delivered', 'failed', 'digest', 'kept')),
  -- The delivery that summarises this one.
  gathered_in uuid,
  check ((state = 'pending') = (next_attempt_at is not null))
);
create index delivery_due on delivery (endpoint, next_attempt_at) where state = 'pending';
create index delivery_digest on delivery (endpoint) where state = 'digest' and gathered_in is null;
create index delivery_log on delivery (endpoint, created_at desc, id);
create index delivery_age on delivery (created_at);
create index on delivery (watch, release);

create table delivery_attempt (
  delivery uuid not null references delivery on delete cascade,
  -- Consecutive from 1, also after a redelivery.
  number integer not null check (number >= 1),
  at timestamptz not null default clock_timestamp(),
  milliseconds integer not null check (milliseconds >= 0),
  -- The status of the response. Null if there was none; then the error says why.
  status integer,
  error text check (length(error) <= 200),
  primary key (delivery, number)
);

grant select on watch, endpoint, delivery, delivery_attempt to outbreaks_operator;
grant insert, update, delete on watch to outbreaks_operator;
grant update (state, reason) on endpoint to outbreaks_operator;
grant update (state, attempts_before, next_attempt_at) on delivery to outbreaks_operator;
grant select, insert, update, delete on watch, endpoint, delivery, delivery_attempt to outbreaks_notify;

-- What operators did: who, what, when, from where, and how it ended. A command has a row when it begins and one when it ends.
-- A change of access or a new release has a row of its own, whichever program made it. Rows are only added, and each has a digest over the
-- row before it, so that a row which is missing, changed or moved shows (decision 0036).
create table audit_event (
  -- Consecutive from 1.
  number integer primary key check (number >= 1),
  at timestamptz not null,
  -- The row with which the act began; null in that row itself.
  act integer unique references audit_event,
  outcome text not null check (
    outcome in ('begun', 'done', 'failed', 'changed') and (act is null) = (outcome in ('begun', 'changed'))),
  -- What PostgreSQL sees. The address is null for a connection by a socket file.
  login text not null,
  client_address text,
  -- What the program reports; empty in the row of a change.
  os_user text not null,
  host text not null,
  command text not null,
  arguments text[] not null,
  -- Why the act failed.
  reason text check (reason is null or outcome = 'failed'),
  -- SHA-256 over the digest of the row before (32 zero bytes for the first) and this row as a JSON array.
  digest bytea not null check (octet_length(digest) = 32)
);
-- Nodes write the newest digest to their log; who did what is none of their business.
grant select (number, digest) on audit_event to outbreaks_api;
grant select on audit_event to outbreaks_operator;

-- The only way to add a row. Nobody but the owner may call it: the two functions below do.
create function add_audit_row(added public.audit_event) returns integer
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  previous record;
begin
  -- One row at a time. A lock on the table, because every role may take advisory locks.
  lock table public.audit_event in share row exclusive mode;
  select number, digest into previous from public.audit_event order by number desc limit 1;
  added.number := coalesce(previous.number, 0) + 1;
  added.at := clock_timestamp();
  added.login := session_user;
  added.client_address := host(inet_client_addr());
  added.digest := sha256(
    coalesce(previous.digest, decode(repeat('00', 32), 'hex'))
    || convert_to(json_build_array(
      added.number, to_char(added.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), added.act, added.outcome,
      added.login, added.client_address, added.os_user, added.host, added.command, array_to_json(added.arguments),
      added.reason)::text, 'UTF8'));
  insert into public.audit_event select added.*;
  return added.number;
end $$;

-- For `outbreakctl`. `of_act` is the number of the row with which the act began; null if it begins now.
create function append_audit(
  of_os_user text, of_host text, of_command text, of_arguments text[], of_act integer, failure text
) returns integer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  added public.audit_event;
begin
  if of_act is not null and not exists (
    select from public.audit_event where number = of_act and outcome = 'begun' and login = session_user
  ) then
    raise exception 'act % did not begin with this login', of_act;
  end if;
  added.act := of_act;
  added.outcome := case when of_act is null then 'begun' when failure is null then 'done' else 'failed' end;
  added.os_user := of_os_user;
  added.host := of_host;
  added.command := of_command;
  added.arguments := of_arguments;
  added.reason := failure;
  return public.add_audit_row(added);
end $$;
grant execute on function append_audit to outbreaks_operator;

-- Records that a row was changed, with its key and the names of the changed columns. No value: some are secret.
create function audit_change() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  before jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end;
  after jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
  added public.audit_event;
begin
  added.outcome := 'changed';
  added.os_user := '';
  added.host := '';
  added.command := format('%s %s', lower(tg_op), tg_table_name);
  added.arguments := array[coalesce(after ->> tg_argv[0], before ->> tg_argv[0])];
  if tg_op = 'UPDATE' then
    added.arguments := added.arguments || array(
      select key from jsonb_object_keys(after) as key where after -> key is distinct from before -> key order by key);
  end if;
  perform public.add_audit_row(added);
  return null;
end $$;

-- At commit, so that a long transaction does not keep others from writing to the log.
create constraint trigger audit_change after insert or update or delete on client
  deferrable initially deferred for each row execute function audit_change('client_id');
create constraint trigger audit_change after insert or update or delete on client_secret
  deferrable initially deferred for each row execute function audit_change('client_id');
create constraint trigger audit_change after insert or update or delete on signing_key
  deferrable initially deferred for each row execute function audit_change('kid');
create constraint trigger audit_change after insert or update or delete on release
  deferrable initially deferred for each row execute function audit_change('number');
alter table client enable always trigger audit_change;
alter table client_secret enable always trigger audit_change;
alter table signing_key enable always trigger audit_change;
alter table release enable always trigger audit_change;

-- Nobody has the privilege but the owner. The owner must disable the trigger first, and the chain shows what followed.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = '42501';
end $$;
create trigger refuse_audit_change before update or delete or truncate on audit_event
  for each statement execute function refuse_audit_change();
alter table audit_event enable always trigger refuse_audit_change;
