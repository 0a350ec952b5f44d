-- A withdrawal is a new release equal to an earlier one; the releases between are thereby withdrawn.
alter table release
  add column restores integer,
  add foreign key (dataset, restores) references release,
  add check (restores < number);
