--
-- PostgreSQL database dump
--

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: audit_event; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_event (
    number integer NOT NULL,
    at timestamp with time zone NOT NULL,
    act integer,
    outcome text NOT NULL,
    login text NOT NULL,
    client_address text,
    os_user text NOT NULL,
    host text NOT NULL,
    command text NOT NULL,
    arguments text[] NOT NULL,
    reason text,
    digest bytea NOT NULL,
    CONSTRAINT audit_event_check CHECK (((outcome = ANY (ARRAY['begun'::text, 'done'::text, 'failed'::text, 'changed'::text])) AND ((act IS NULL) = (outcome = ANY (ARRAY['begun'::text, 'changed'::text]))))),
    CONSTRAINT audit_event_check1 CHECK (((reason IS NULL) OR (outcome = 'failed'::text))),
    CONSTRAINT audit_event_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT audit_event_number_check CHECK ((number >= 1))
);

--
-- Name: add_audit_row(public.audit_event); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.add_audit_row(added public.audit_event) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

--
-- Name: add_notice(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.add_notice() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

--
-- Name: append_audit(text, text, text, text[], integer, text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.append_audit(of_os_user text, of_host text, of_command text, of_arguments text[], of_act integer, failure text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

--
-- Name: audit_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.audit_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

--
-- Name: lock_dataset(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.lock_dataset(of_dataset text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform from public.dataset where name = of_dataset for no key update skip locked;
  return found;
end $$;

--
-- Name: lock_latest_release(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.lock_latest_release(of_dataset text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'releases are written in read committed transactions' using errcode = '42501';
  end if;
  perform from public.dataset where name = of_dataset for no key update;
  return (select coalesce(max(number), 0) from public.release where dataset = of_dataset);
end $$;

--
-- Name: note_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.note_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  update public.watched_topic set version = version + 1, change_id = gen_random_uuid() where topic = tg_argv[0];
  return null;
end $$;

--
-- Name: prune_releases(text, integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.prune_releases(of_dataset text, oldest_kept integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
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
end $_$;

--
-- Name: refuse_audit_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the audit log is append-only' using errcode = '42501';
end $$;

--
-- Name: refuse_other_release(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_other_release() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if new.number <> public.lock_latest_release(new.dataset) + 1 then
    raise exception 'release % is not the next one', new.number using errcode = '42501';
  end if;
  return new;
end $$;

--
-- Name: refuse_published_insert(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_published_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  latest integer := public.lock_latest_release(tg_argv[0]);
begin
  if exists (select from added where from_release <> latest + 1) then
    raise exception '% is published, so rows of % begin with the next release', latest, tg_table_name using errcode = '42501';
  end if;
  return null;
end $$;

--
-- Name: refuse_published_release(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_published_release() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if not exists (
    select from public.release where dataset = new.dataset and number = (to_jsonb(new) ->> tg_argv[0])::integer
      and xmin = pg_current_xact_id()::xid
  ) then
    raise exception 'the release is published already' using errcode = '42501';
  end if;
  return new;
end $$;

--
-- Name: refuse_published_update(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_published_update() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  latest integer := public.lock_latest_release(tg_argv[0]);
begin
  if exists (select from ended where to_release <> latest + 1) or exists (select from open where to_release <= latest) then
    raise exception '% is published, so rows of % end with the next release', latest, tg_table_name using errcode = '42501';
  end if;
  return null;
end $$;

--
-- Name: require_kept(text, integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.require_kept(of_dataset text, of_release integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
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

--
-- Name: client; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.client (
    client_id text NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    disabled_at timestamp with time zone,
    public_keys jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT client_name_check CHECK ((name <> ''::text)),
    CONSTRAINT client_public_keys_check CHECK ((jsonb_typeof(public_keys) = 'array'::text))
);

--
-- Name: client_secret; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.client_secret (
    secret_sha256 bytea NOT NULL,
    client_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT client_secret_secret_sha256_check CHECK ((octet_length(secret_sha256) = 32))
);

--
-- Name: contract; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.contract (
    dataset text NOT NULL,
    first_release integer NOT NULL,
    fields jsonb NOT NULL
);

--
-- Name: dataset; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.dataset (
    name text NOT NULL,
    table_prefix text NOT NULL
);

--
-- Name: delivery; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.delivery (
    id uuid NOT NULL,
    endpoint uuid,
    watch uuid,
    client_id text NOT NULL,
    dataset text NOT NULL,
    release integer,
    type text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    next_attempt_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    attempts_before integer DEFAULT 0 NOT NULL,
    state text NOT NULL,
    gathered_in uuid,
    CONSTRAINT delivery_check CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'digest'::text, 'kept'::text])))
);

--
-- Name: delivery_attempt; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.delivery_attempt (
    delivery uuid NOT NULL,
    number integer NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    milliseconds integer NOT NULL,
    status integer,
    error text,
    CONSTRAINT delivery_attempt_error_check CHECK ((length(error) <= 200)),
    CONSTRAINT delivery_attempt_milliseconds_check CHECK ((milliseconds >= 0)),
    CONSTRAINT delivery_attempt_number_check CHECK ((number >= 1))
);

--
-- Name: endpoint; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.endpoint (
    id uuid NOT NULL,
    client_id text NOT NULL,
    place smallint NOT NULL,
    dataset text NOT NULL,
    kind text NOT NULL,
    address text NOT NULL,
    state text DEFAULT 'unconfirmed'::text NOT NULL,
    reason text,
    digest text,
    next_digest_at timestamp with time zone,
    sealed_secret bytea,
    sealed_previous_secret bytea,
    previous_until timestamp with time zone,
    asked_at timestamp with time zone,
    failing_since timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT endpoint_address_check CHECK ((length(address) <= 2000)),
    CONSTRAINT endpoint_check CHECK (((reason IS NULL) OR (state = 'disabled'::text))),
    CONSTRAINT endpoint_digest_check CHECK ((digest = ANY (ARRAY['daily'::text, 'weekly'::text]))),
    CONSTRAINT endpoint_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'mail'::text]))),
    CONSTRAINT endpoint_place_check CHECK (((place >= 1) AND (place <= 5))),
    CONSTRAINT endpoint_state_check CHECK ((state = ANY (ARRAY['unconfirmed'::text, 'active'::text, 'disabled'::text])))
);

--
-- Name: hed_outbreak_chunk; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hed_outbreak_chunk (
    slot bigint NOT NULL,
    from_release integer NOT NULL,
    to_release integer DEFAULT 2147483647 NOT NULL,
    records integer NOT NULL,
    bytes integer NOT NULL,
    crc32 bigint NOT NULL,
    deflated bytea NOT NULL,
    CONSTRAINT hed_outbreak_chunk_check CHECK ((from_release < to_release)),
    CONSTRAINT hed_outbreak_chunk_records_check CHECK (((records >= 1) AND (records <= 50)))
)
WITH (autovacuum_vacuum_scale_factor='0.01');
ALTER TABLE ONLY public.hed_outbreak_chunk ALTER COLUMN deflated SET STORAGE EXTERNAL;

--
-- Name: hed_outbreak_digest; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hed_outbreak_digest (
    number bigint NOT NULL,
    sha256 bytea NOT NULL,
    CONSTRAINT hed_outbreak_digest_sha256_check CHECK ((octet_length(sha256) = 32))
)
WITH (autovacuum_vacuum_scale_factor='0.01');

--
-- Name: hed_outbreak_event; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hed_outbreak_event (
    event text NOT NULL COLLATE pg_catalog."C",
    from_release integer NOT NULL,
    to_release integer DEFAULT 2147483647 NOT NULL,
    body text NOT NULL,
    CONSTRAINT hed_outbreak_event_check CHECK ((from_release < to_release))
)
WITH (autovacuum_vacuum_scale_factor='0.01');

--
-- Name: hed_outbreak_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hed_outbreak_key (
    key text NOT NULL,
    id bigint NOT NULL
);

--
-- Name: hed_outbreak_series; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hed_outbreak_series (
    series_id text NOT NULL,
    event text NOT NULL,
    last_release integer NOT NULL,
    summary jsonb NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01');

--
-- Name: hed_outbreak_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hed_outbreak_version (
    id bigint NOT NULL,
    from_release integer NOT NULL,
    to_release integer DEFAULT 2147483647 NOT NULL,
    revision integer NOT NULL,
    first_release integer NOT NULL,
    content_hash bytea NOT NULL,
    CONSTRAINT hed_outbreak_version_check CHECK ((from_release < to_release)),
    CONSTRAINT hed_outbreak_version_content_hash_check CHECK ((octet_length(content_hash) = 16))
)
WITH (autovacuum_vacuum_scale_factor='0.01');

--
-- Name: index_part; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.index_part (
    dataset text NOT NULL,
    release integer NOT NULL,
    kind text NOT NULL,
    number integer NOT NULL,
    layout text NOT NULL,
    sha256 bytea NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT index_part_kind_check CHECK ((kind = ANY (ARRAY['dictionary'::text, 'added'::text, 'removed'::text]))),
    CONSTRAINT index_part_number_check CHECK ((number >= 1)),
    CONSTRAINT index_part_sha256_check CHECK ((octet_length(sha256) = 32))
);
ALTER TABLE ONLY public.index_part ALTER COLUMN content SET STORAGE EXTERNAL;

--
-- Name: migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.migration (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    run_on timestamp without time zone NOT NULL
);

--
-- Name: migration_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.migration_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

--
-- Name: migration_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.migration_id_seq OWNED BY public.migration.id;

--
-- Name: notice; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.notice (
    dataset text NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    release integer NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT notice_kind_check CHECK ((kind = ANY (ARRAY['published'::text, 'pruned'::text]))),
    CONSTRAINT notice_seq_check CHECK ((seq >= 1))
);

--
-- Name: release; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.release (
    dataset text NOT NULL,
    number integer NOT NULL,
    title text NOT NULL,
    licence text NOT NULL,
    note text,
    published_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    as_of date NOT NULL,
    records bigint NOT NULL,
    added bigint NOT NULL,
    corrected bigint NOT NULL,
    withdrawn bigint NOT NULL,
    last_id bigint NOT NULL,
    restores integer,
    digest bytea NOT NULL,
    reasons jsonb NOT NULL,
    preferred jsonb DEFAULT '{}'::jsonb NOT NULL,
    warnings jsonb NOT NULL,
    pruned_at timestamp with time zone,
    CONSTRAINT release_check CHECK ((as_of <= ((published_at AT TIME ZONE 'UTC'::text))::date)),
    CONSTRAINT release_check1 CHECK ((restores < number)),
    CONSTRAINT release_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT release_number_check CHECK ((number >= 1))
);

--
-- Name: release_file; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.release_file (
    dataset text NOT NULL,
    release integer NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    records bigint NOT NULL,
    bytes bigint NOT NULL,
    sha256 bytea NOT NULL,
    blocks jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT release_file_bytes_check CHECK ((bytes >= 0)),
    CONSTRAINT release_file_records_check CHECK ((records >= 0)),
    CONSTRAINT release_file_sha256_check CHECK ((octet_length(sha256) = 32))
);

--
-- Name: release_rejection; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.release_rejection (
    dataset text NOT NULL,
    release integer NOT NULL,
    number integer NOT NULL,
    file text NOT NULL,
    line integer NOT NULL,
    "column" text,
    rule text NOT NULL,
    message text NOT NULL,
    row_json text NOT NULL,
    CONSTRAINT release_rejection_number_check CHECK ((number >= 1)),
    CONSTRAINT release_rejection_row_json_check CHECK ((length(row_json) <= 100000))
);

--
-- Name: signing_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.signing_key (
    kid text NOT NULL,
    algorithm text NOT NULL,
    public_jwk jsonb NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    signs_from timestamp with time zone NOT NULL,
    verifies_until timestamp with time zone,
    CONSTRAINT signing_key_algorithm_check CHECK ((algorithm = ANY (ARRAY['ES256'::text, 'RS256'::text, 'EdDSA'::text])))
);

--
-- Name: watch; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.watch (
    id uuid NOT NULL,
    client_id text NOT NULL,
    place smallint NOT NULL,
    dataset text NOT NULL,
    endpoint uuid,
    name text NOT NULL,
    question text NOT NULL,
    condition text NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    reason text,
    judged integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT watch_check CHECK (((reason IS NULL) OR (state = 'ended'::text))),
    CONSTRAINT watch_condition_check CHECK ((length(condition) <= 100)),
    CONSTRAINT watch_judged_check CHECK ((judged >= 0)),
    CONSTRAINT watch_name_check CHECK ((length(name) <= 200)),
    CONSTRAINT watch_place_check CHECK (((place >= 1) AND (place <= 50))),
    CONSTRAINT watch_question_check CHECK ((length(question) <= 8000)),
    CONSTRAINT watch_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'ended'::text])))
);

--
-- Name: watched_topic; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.watched_topic (
    topic text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    change_id uuid DEFAULT gen_random_uuid() NOT NULL
);

--
-- Name: migration id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.migration ALTER COLUMN id SET DEFAULT nextval('public.migration_id_seq'::regclass);

--
-- Name: audit_event audit_event_act_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT audit_event_act_key UNIQUE (act);

--
-- Name: audit_event audit_event_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT audit_event_pkey PRIMARY KEY (number);

--
-- Name: client client_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.client
    ADD CONSTRAINT client_pkey PRIMARY KEY (client_id);

--
-- Name: client_secret client_secret_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_pkey PRIMARY KEY (secret_sha256);

--
-- Name: contract contract_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.contract
    ADD CONSTRAINT contract_pkey PRIMARY KEY (dataset, first_release);

--
-- Name: dataset dataset_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT dataset_pkey PRIMARY KEY (name);

--
-- Name: dataset dataset_table_prefix_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT dataset_table_prefix_key UNIQUE (table_prefix);

--
-- Name: delivery_attempt delivery_attempt_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delivery_attempt
    ADD CONSTRAINT delivery_attempt_pkey PRIMARY KEY (delivery, number);

--
-- Name: delivery delivery_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (id);

--
-- Name: endpoint endpoint_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endpoint
    ADD CONSTRAINT endpoint_pkey PRIMARY KEY (id);

--
-- Name: hed_outbreak_chunk hed_outbreak_chunk_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hed_outbreak_chunk
    ADD CONSTRAINT hed_outbreak_chunk_pkey PRIMARY KEY (slot, from_release);

--
-- Name: hed_outbreak_digest hed_outbreak_digest_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hed_outbreak_digest
    ADD CONSTRAINT hed_outbreak_digest_pkey PRIMARY KEY (number);

--
-- Name: hed_outbreak_event hed_outbreak_event_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hed_outbreak_event
    ADD CONSTRAINT hed_outbreak_event_pkey PRIMARY KEY (event, from_release);

--
-- Name: hed_outbreak_key hed_outbreak_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hed_outbreak_key
    ADD CONSTRAINT hed_outbreak_key_pkey PRIMARY KEY (key);

--
-- Name: hed_outbreak_series hed_outbreak_series_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hed_outbreak_series
    ADD CONSTRAINT hed_outbreak_series_pkey PRIMARY KEY (series_id);

--
-- Name: hed_outbreak_version hed_outbreak_version_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hed_outbreak_version
    ADD CONSTRAINT hed_outbreak_version_pkey PRIMARY KEY (id, from_release);

--
-- Name: index_part index_part_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.index_part
    ADD CONSTRAINT index_part_pkey PRIMARY KEY (dataset, release, kind, number);

--
-- Name: migration migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (id);

--
-- Name: notice notice_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notice
    ADD CONSTRAINT notice_pkey PRIMARY KEY (dataset, seq);

--
-- Name: release_file release_file_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.release_file
    ADD CONSTRAINT release_file_pkey PRIMARY KEY (dataset, release, name);

--
-- Name: release release_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.release
    ADD CONSTRAINT release_pkey PRIMARY KEY (dataset, number);

--
-- Name: release_rejection release_rejection_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.release_rejection
    ADD CONSTRAINT release_rejection_pkey PRIMARY KEY (dataset, release, number);

--
-- Name: signing_key signing_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.signing_key
    ADD CONSTRAINT signing_key_pkey PRIMARY KEY (kid);

--
-- Name: watch watch_client_id_place_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.watch
    ADD CONSTRAINT watch_client_id_place_key UNIQUE (client_id, place);

--
-- Name: watch watch_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.watch
    ADD CONSTRAINT watch_pkey PRIMARY KEY (id);

--
-- Name: watched_topic watched_topic_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.watched_topic
    ADD CONSTRAINT watched_topic_pkey PRIMARY KEY (topic);

--
-- Name: client_secret_client_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX client_secret_client_id_idx ON public.client_secret USING btree (client_id);

--
-- Name: delivery_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX delivery_age ON public.delivery USING btree (created_at);

--
-- Name: delivery_digest; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX delivery_digest ON public.delivery USING btree (endpoint) WHERE ((state = 'digest'::text) AND (gathered_in IS NULL));

--
-- Name: delivery_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX delivery_due ON public.delivery USING btree (endpoint, next_attempt_at) WHERE (state = 'pending'::text);

--
-- Name: delivery_log; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX delivery_log ON public.delivery USING btree (endpoint, created_at DESC, id);

--
-- Name: delivery_watch_release_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX delivery_watch_release_idx ON public.delivery USING btree (watch, release);

--
-- Name: endpoint_client_id_created_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX endpoint_client_id_created_at_idx ON public.endpoint USING btree (client_id, created_at);

--
-- Name: endpoint_digest; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX endpoint_digest ON public.endpoint USING btree (next_digest_at) WHERE (state = 'active'::text);

--
-- Name: endpoint_place; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX endpoint_place ON public.endpoint USING btree (client_id, place) WHERE (deleted_at IS NULL);

--
-- Name: hed_outbreak_chunk_held; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX hed_outbreak_chunk_held ON public.hed_outbreak_chunk USING btree (slot, to_release, from_release);

--
-- Name: hed_outbreak_open_chunk; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX hed_outbreak_open_chunk ON public.hed_outbreak_chunk USING btree (slot) WHERE (to_release = 2147483647);

--
-- Name: hed_outbreak_open_version; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX hed_outbreak_open_version ON public.hed_outbreak_version USING btree (id) WHERE (to_release = 2147483647);

--
-- Name: hed_outbreak_series_event; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX hed_outbreak_series_event ON public.hed_outbreak_series USING btree (event);

--
-- Name: hed_outbreak_version_began; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX hed_outbreak_version_began ON public.hed_outbreak_version USING btree (from_release, id) WHERE (from_release > 1);

--
-- Name: hed_outbreak_version_ended; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX hed_outbreak_version_ended ON public.hed_outbreak_version USING btree (to_release, id) WHERE (to_release < 2147483647);

--
-- Name: watch_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX watch_due ON public.watch USING btree (dataset, judged) WHERE (state = 'active'::text);

--
-- Name: watch_endpoint_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX watch_endpoint_idx ON public.watch USING btree (endpoint);

--
-- Name: release add_notice_of_pruning; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER add_notice_of_pruning AFTER UPDATE ON public.release REFERENCING NEW TABLE AS changed_release FOR EACH STATEMENT EXECUTE FUNCTION public.add_notice();

--
-- Name: release add_notice_of_publication; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER add_notice_of_publication AFTER INSERT ON public.release REFERENCING NEW TABLE AS changed_release FOR EACH STATEMENT EXECUTE FUNCTION public.add_notice();

--
-- Name: client audit_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE CONSTRAINT TRIGGER audit_change AFTER INSERT OR DELETE OR UPDATE ON public.client DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.audit_change('client_id');

ALTER TABLE public.client ENABLE ALWAYS TRIGGER audit_change;

--
-- Name: client_secret audit_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE CONSTRAINT TRIGGER audit_change AFTER INSERT OR DELETE OR UPDATE ON public.client_secret DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.audit_change('client_id');

ALTER TABLE public.client_secret ENABLE ALWAYS TRIGGER audit_change;

--
-- Name: release audit_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE CONSTRAINT TRIGGER audit_change AFTER INSERT OR DELETE OR UPDATE ON public.release DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.audit_change('number');

ALTER TABLE public.release ENABLE ALWAYS TRIGGER audit_change;

--
-- Name: signing_key audit_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE CONSTRAINT TRIGGER audit_change AFTER INSERT OR DELETE OR UPDATE ON public.signing_key DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.audit_change('kid');

ALTER TABLE public.signing_key ENABLE ALWAYS TRIGGER audit_change;

--
-- Name: client note_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE ON public.client FOR EACH STATEMENT EXECUTE FUNCTION public.note_change('client');

--
-- Name: client_secret note_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE ON public.client_secret FOR EACH STATEMENT EXECUTE FUNCTION public.note_change('client');

--
-- Name: index_part note_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER note_change AFTER DELETE ON public.index_part FOR EACH STATEMENT EXECUTE FUNCTION public.note_change('release');

--
-- Name: release note_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE ON public.release FOR EACH STATEMENT EXECUTE FUNCTION public.note_change('release');

--
-- Name: release_file note_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE ON public.release_file FOR EACH STATEMENT EXECUTE FUNCTION public.note_change('release');

--
-- Name: signing_key note_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE ON public.signing_key FOR EACH STATEMENT EXECUTE FUNCTION public.note_change('signing_key');

--
-- Name: audit_event refuse_audit_change; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_audit_change BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_event FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_audit_change();

ALTER TABLE public.audit_event ENABLE ALWAYS TRIGGER refuse_audit_change;

--
-- Name: release refuse_other_release; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_other_release BEFORE INSERT ON public.release FOR EACH ROW EXECUTE FUNCTION public.refuse_other_release();

--
-- Name: hed_outbreak_chunk refuse_published_insert; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_insert AFTER INSERT ON public.hed_outbreak_chunk REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_published_insert('hed-outbreaks');

--
-- Name: hed_outbreak_event refuse_published_insert; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_insert AFTER INSERT ON public.hed_outbreak_event REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_published_insert('hed-outbreaks');

--
-- Name: hed_outbreak_version refuse_published_insert; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_insert AFTER INSERT ON public.hed_outbreak_version REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_published_insert('hed-outbreaks');

--
-- Name: contract refuse_published_release; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_release BEFORE INSERT ON public.contract FOR EACH ROW EXECUTE FUNCTION public.refuse_published_release('first_release');

--
-- Name: release_rejection refuse_published_release; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_release BEFORE INSERT ON public.release_rejection FOR EACH ROW EXECUTE FUNCTION public.refuse_published_release('release');

--
-- Name: hed_outbreak_chunk refuse_published_update; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_update AFTER UPDATE ON public.hed_outbreak_chunk REFERENCING OLD TABLE AS open NEW TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_published_update('hed-outbreaks');

--
-- Name: hed_outbreak_event refuse_published_update; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_update AFTER UPDATE ON public.hed_outbreak_event REFERENCING OLD TABLE AS open NEW TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_published_update('hed-outbreaks');

--
-- Name: hed_outbreak_version refuse_published_update; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER refuse_published_update AFTER UPDATE ON public.hed_outbreak_version REFERENCING OLD TABLE AS open NEW TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_published_update('hed-outbreaks');

--
-- Name: audit_event audit_event_act_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT audit_event_act_fkey FOREIGN KEY (act) REFERENCES public.audit_event(number);

--
-- Name: client_secret client_secret_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.client_secret
    ADD CONSTRAINT client_secret_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(client_id);

--
-- Name: contract contract_dataset_first_release_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.contract
    ADD CONSTRAINT contract_dataset_first_release_fkey FOREIGN KEY (dataset, first_release) REFERENCES public.release(dataset, number);

--
-- Name: delivery_attempt delivery_attempt_delivery_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delivery_attempt
    ADD CONSTRAINT delivery_attempt_delivery_fkey FOREIGN KEY (delivery) REFERENCES public.delivery(id) ON DELETE CASCADE;

--
-- Name: delivery delivery_endpoint_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_endpoint_fkey FOREIGN KEY (endpoint) REFERENCES public.endpoint(id) ON DELETE SET NULL;

--
-- Name: delivery delivery_watch_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_watch_fkey FOREIGN KEY (watch) REFERENCES public.watch(id) ON DELETE SET NULL;

--
-- Name: endpoint endpoint_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endpoint
    ADD CONSTRAINT endpoint_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(client_id);

--
-- Name: endpoint endpoint_dataset_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.endpoint
    ADD CONSTRAINT endpoint_dataset_fkey FOREIGN KEY (dataset) REFERENCES public.dataset(name);

--
-- Name: index_part index_part_dataset_release_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.index_part
    ADD CONSTRAINT index_part_dataset_release_fkey FOREIGN KEY (dataset, release) REFERENCES public.release(dataset, number);

--
-- Name: notice notice_dataset_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notice
    ADD CONSTRAINT notice_dataset_fkey FOREIGN KEY (dataset) REFERENCES public.dataset(name);

--
-- Name: notice notice_dataset_release_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notice
    ADD CONSTRAINT notice_dataset_release_fkey FOREIGN KEY (dataset, release) REFERENCES public.release(dataset, number);

--
-- Name: release release_dataset_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.release
    ADD CONSTRAINT release_dataset_fkey FOREIGN KEY (dataset) REFERENCES public.dataset(name);

--
-- Name: release release_dataset_restores_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.release
    ADD CONSTRAINT release_dataset_restores_fkey FOREIGN KEY (dataset, restores) REFERENCES public.release(dataset, number);

--
-- Name: release_file release_file_dataset_release_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.release_file
    ADD CONSTRAINT release_file_dataset_release_fkey FOREIGN KEY (dataset, release) REFERENCES public.release(dataset, number);

--
-- Name: release_rejection release_rejection_dataset_release_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.release_rejection
    ADD CONSTRAINT release_rejection_dataset_release_fkey FOREIGN KEY (dataset, release) REFERENCES public.release(dataset, number);

--
-- Name: watch watch_client_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.watch
    ADD CONSTRAINT watch_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.client(client_id);

--
-- Name: watch watch_dataset_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.watch
    ADD CONSTRAINT watch_dataset_fkey FOREIGN KEY (dataset) REFERENCES public.dataset(name);

--
-- Name: watch watch_endpoint_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.watch
    ADD CONSTRAINT watch_endpoint_fkey FOREIGN KEY (endpoint) REFERENCES public.endpoint(id) ON DELETE SET NULL;

--
-- Name: SCHEMA public; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA public TO outbreaks_api;
GRANT USAGE ON SCHEMA public TO outbreaks_operator;
GRANT USAGE ON SCHEMA public TO outbreaks_notify;

--
-- Name: TABLE audit_event; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.audit_event TO outbreaks_operator;

--
-- Name: COLUMN audit_event.number; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT(number) ON TABLE public.audit_event TO outbreaks_api;

--
-- Name: COLUMN audit_event.digest; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT(digest) ON TABLE public.audit_event TO outbreaks_api;

--
-- Name: FUNCTION add_audit_row(added public.audit_event); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.add_audit_row(added public.audit_event) FROM PUBLIC;

--
-- Name: FUNCTION add_notice(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.add_notice() FROM PUBLIC;

--
-- Name: FUNCTION append_audit(of_os_user text, of_host text, of_command text, of_arguments text[], of_act integer, failure text); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.append_audit(of_os_user text, of_host text, of_command text, of_arguments text[], of_act integer, failure text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.append_audit(of_os_user text, of_host text, of_command text, of_arguments text[], of_act integer, failure text) TO outbreaks_operator;

--
-- Name: FUNCTION audit_change(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.audit_change() FROM PUBLIC;

--
-- Name: FUNCTION lock_dataset(of_dataset text); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.lock_dataset(of_dataset text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.lock_dataset(of_dataset text) TO outbreaks_operator;

--
-- Name: FUNCTION lock_latest_release(of_dataset text); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.lock_latest_release(of_dataset text) FROM PUBLIC;

--
-- Name: FUNCTION note_change(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.note_change() FROM PUBLIC;

--
-- Name: FUNCTION prune_releases(of_dataset text, oldest_kept integer); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.prune_releases(of_dataset text, oldest_kept integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prune_releases(of_dataset text, oldest_kept integer) TO outbreaks_operator;

--
-- Name: FUNCTION refuse_audit_change(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.refuse_audit_change() FROM PUBLIC;

--
-- Name: FUNCTION refuse_other_release(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.refuse_other_release() FROM PUBLIC;

--
-- Name: FUNCTION refuse_published_insert(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.refuse_published_insert() FROM PUBLIC;

--
-- Name: FUNCTION refuse_published_release(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.refuse_published_release() FROM PUBLIC;

--
-- Name: FUNCTION refuse_published_update(); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.refuse_published_update() FROM PUBLIC;

--
-- Name: FUNCTION require_kept(of_dataset text, of_release integer); Type: ACL; Schema: public; Owner: -
--

REVOKE ALL ON FUNCTION public.require_kept(of_dataset text, of_release integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.require_kept(of_dataset text, of_release integer) TO outbreaks_api;
GRANT ALL ON FUNCTION public.require_kept(of_dataset text, of_release integer) TO outbreaks_operator;
GRANT ALL ON FUNCTION public.require_kept(of_dataset text, of_release integer) TO outbreaks_notify;

--
-- Name: TABLE client; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.client TO outbreaks_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.client TO outbreaks_operator;
GRANT SELECT ON TABLE public.client TO outbreaks_notify;

--
-- Name: TABLE client_secret; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.client_secret TO outbreaks_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.client_secret TO outbreaks_operator;
GRANT SELECT ON TABLE public.client_secret TO outbreaks_notify;

--
-- Name: TABLE contract; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.contract TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.contract TO outbreaks_operator;
GRANT SELECT ON TABLE public.contract TO outbreaks_notify;

--
-- Name: TABLE dataset; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.dataset TO outbreaks_api;
GRANT SELECT ON TABLE public.dataset TO outbreaks_operator;
GRANT SELECT ON TABLE public.dataset TO outbreaks_notify;

--
-- Name: TABLE delivery; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.delivery TO outbreaks_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.delivery TO outbreaks_notify;

--
-- Name: COLUMN delivery.next_attempt_at; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(next_attempt_at) ON TABLE public.delivery TO outbreaks_operator;

--
-- Name: COLUMN delivery.attempts_before; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(attempts_before) ON TABLE public.delivery TO outbreaks_operator;

--
-- Name: COLUMN delivery.state; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(state) ON TABLE public.delivery TO outbreaks_operator;

--
-- Name: TABLE delivery_attempt; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.delivery_attempt TO outbreaks_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.delivery_attempt TO outbreaks_notify;

--
-- Name: TABLE endpoint; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.endpoint TO outbreaks_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.endpoint TO outbreaks_notify;

--
-- Name: COLUMN endpoint.state; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(state) ON TABLE public.endpoint TO outbreaks_operator;

--
-- Name: COLUMN endpoint.reason; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(reason) ON TABLE public.endpoint TO outbreaks_operator;

--
-- Name: TABLE hed_outbreak_chunk; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.hed_outbreak_chunk TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.hed_outbreak_chunk TO outbreaks_operator;

--
-- Name: COLUMN hed_outbreak_chunk.to_release; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(to_release) ON TABLE public.hed_outbreak_chunk TO outbreaks_operator;

--
-- Name: TABLE hed_outbreak_digest; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE public.hed_outbreak_digest TO outbreaks_operator;

--
-- Name: COLUMN hed_outbreak_digest.sha256; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(sha256) ON TABLE public.hed_outbreak_digest TO outbreaks_operator;

--
-- Name: TABLE hed_outbreak_event; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.hed_outbreak_event TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.hed_outbreak_event TO outbreaks_operator;

--
-- Name: COLUMN hed_outbreak_event.to_release; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(to_release) ON TABLE public.hed_outbreak_event TO outbreaks_operator;

--
-- Name: TABLE hed_outbreak_key; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.hed_outbreak_key TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.hed_outbreak_key TO outbreaks_operator;

--
-- Name: TABLE hed_outbreak_series; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT,INSERT,DELETE ON TABLE public.hed_outbreak_series TO outbreaks_operator;

--
-- Name: TABLE hed_outbreak_version; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.hed_outbreak_version TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.hed_outbreak_version TO outbreaks_operator;

--
-- Name: COLUMN hed_outbreak_version.to_release; Type: ACL; Schema: public; Owner: -
--

GRANT UPDATE(to_release) ON TABLE public.hed_outbreak_version TO outbreaks_operator;

--
-- Name: TABLE index_part; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.index_part TO outbreaks_api;
GRANT SELECT,INSERT,DELETE ON TABLE public.index_part TO outbreaks_operator;
GRANT SELECT ON TABLE public.index_part TO outbreaks_notify;

--
-- Name: TABLE migration; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.migration TO outbreaks_api;
GRANT SELECT ON TABLE public.migration TO outbreaks_operator;
GRANT SELECT ON TABLE public.migration TO outbreaks_notify;

--
-- Name: TABLE notice; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.notice TO outbreaks_api;
GRANT SELECT ON TABLE public.notice TO outbreaks_operator;
GRANT SELECT ON TABLE public.notice TO outbreaks_notify;

--
-- Name: TABLE release; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.release TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.release TO outbreaks_operator;
GRANT SELECT ON TABLE public.release TO outbreaks_notify;

--
-- Name: TABLE release_file; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.release_file TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.release_file TO outbreaks_operator;
GRANT SELECT ON TABLE public.release_file TO outbreaks_notify;

--
-- Name: TABLE release_rejection; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.release_rejection TO outbreaks_api;
GRANT SELECT,INSERT ON TABLE public.release_rejection TO outbreaks_operator;
GRANT SELECT ON TABLE public.release_rejection TO outbreaks_notify;

--
-- Name: TABLE signing_key; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.signing_key TO outbreaks_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.signing_key TO outbreaks_operator;
GRANT SELECT ON TABLE public.signing_key TO outbreaks_notify;

--
-- Name: TABLE watch; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.watch TO outbreaks_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.watch TO outbreaks_notify;

--
-- Name: TABLE watched_topic; Type: ACL; Schema: public; Owner: -
--

GRANT SELECT ON TABLE public.watched_topic TO outbreaks_api;
GRANT SELECT ON TABLE public.watched_topic TO outbreaks_operator;
GRANT SELECT ON TABLE public.watched_topic TO outbreaks_notify;

--
-- Name: DEFAULT PRIVILEGES FOR FUNCTIONS; Type: DEFAULT ACL; Schema: -; Owner: -
--

ALTER DEFAULT PRIVILEGES FOR ROLE postgres REVOKE ALL ON FUNCTIONS  FROM PUBLIC;

--
-- PostgreSQL database dump complete
--

