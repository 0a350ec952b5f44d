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

insert into watched_topic (topic) values ('client'), ('signing_key');
create trigger note_change after insert or update or delete on client
  for each statement execute function note_change('client');
create trigger note_change after insert or update or delete on client_secret
  for each statement execute function note_change('client');
create trigger note_change after insert or update or delete on signing_key
  for each statement execute function note_change('signing_key');
