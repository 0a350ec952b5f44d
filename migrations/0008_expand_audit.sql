-- The acts of operators: who did what, when, from where, and how it ended. Rows are only added, and each has a digest over the
-- row before it, so that a row which is missing, changed or moved shows (decision 0036).
create table audit_event (
  -- Consecutive from 1.
  number integer primary key check (number >= 1),
  at timestamptz not null,
  -- The row with which the act began; null in that row itself.
  act integer unique references audit_event,
  outcome text not null check (outcome in ('begun', 'done', 'failed') and (act is null) = (outcome = 'begun')),
  -- What PostgreSQL sees. The address is null for a connection by a socket file.
  login text not null,
  client_address text,
  -- What the program reports.
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

-- The only way to add a row. `of_act` is the number of the row with which the act began; null if it begins now.
create function append_audit(
  of_os_user text, of_host text, of_command text, of_arguments text[], of_act integer, failure text
) returns integer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  added public.audit_event;
  previous record;
begin
  -- One row at a time. A lock on the table, because every role may take advisory locks.
  lock table public.audit_event in share row exclusive mode;
  if of_act is not null and not exists (
    select from public.audit_event where number = of_act and act is null and login = session_user
  ) then
    raise exception 'act % did not begin with this login', of_act;
  end if;
  select number, digest into previous from public.audit_event order by number desc limit 1;
  added.number := coalesce(previous.number, 0) + 1;
  added.at := clock_timestamp();
  added.act := of_act;
  added.outcome := case when of_act is null then 'begun' when failure is null then 'done' else 'failed' end;
  added.login := session_user;
  added.client_address := host(inet_client_addr());
  added.os_user := of_os_user;
  added.host := of_host;
  added.command := of_command;
  added.arguments := of_arguments;
  added.reason := failure;
  added.digest := sha256(
    coalesce(previous.digest, decode(repeat('00', 32), 'hex'))
    || convert_to(json_build_array(
      added.number, to_char(added.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), added.act, added.outcome,
      added.login, added.client_address, added.os_user, added.host, added.command, array_to_json(added.arguments),
      added.reason)::text, 'UTF8'));
  insert into public.audit_event select added.*;
  return added.number;
end $$;
revoke execute on function append_audit from public;
grant execute on function append_audit to outbreaks_operator;

-- Nobody has the privilege but the owner. The owner must disable the trigger first, and the chain shows what followed.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = '42501';
end $$;
revoke execute on function refuse_audit_change from public;
create trigger refuse_audit_change before update or delete or truncate on audit_event
  for each statement execute function refuse_audit_change();
alter table audit_event enable always trigger refuse_audit_change;
