-- The column index of a release: what the release changed in it, as Parquet files, or CSV for few rows. A node builds its DuckDB database from the
-- parts of all releases. They are written in the transaction of the release, so a reader sees both or neither.
create table index_part (
  dataset text not null,
  release integer not null,
  -- New entries of the dictionary, rows that begin with the release, and the ids of rows that end with it.
  kind text not null check (kind in ('dictionary', 'added', 'added_csv', 'removed')),
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
grant select on index_part to outbreaks_api, outbreaks_operator;
-- Parts follow from the records, so they can be written again.
grant insert, delete on index_part to outbreaks_operator;
