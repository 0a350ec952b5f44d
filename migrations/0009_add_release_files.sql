-- The files of a release: each is written once, whole, and then recorded here with what proves that it is whole.
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
