-- Clients may authenticate with a signed assertion instead of a secret (private_key_jwt, RFC 7523).

-- Public keys as JWK, without private members. Empty for a client that has only secrets.
alter table client add column public_keys jsonb not null default '[]' check (jsonb_typeof(public_keys) = 'array');
