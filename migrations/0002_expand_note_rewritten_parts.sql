-- Parts are deleted only to be written again: by `release prune`, `release reindex`, and a migration to other columns. Nodes
-- fetch them immediately, instead of with the next release.
create trigger note_change after delete on index_part
  for each statement execute function note_change('release');
