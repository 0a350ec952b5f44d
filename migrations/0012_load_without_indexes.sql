-- A first release is written without the indexes of its table, which are built when it is committed: row by row they cost
-- more than the rows. Only an empty table can be treated so, so nobody is reading it.
create table suspended_index (
  of_table regclass not null,
  definition text not null
);

create function suspend_indexes(of_table regclass) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  filled boolean;
  index record;
begin
  execute format('select exists (select from %s)', of_table) into filled;
  if filled or of_table::text not like '%\_version' then
    raise exception 'indexes of % are in use', of_table;
  end if;
  for index in
    select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = of_table and not exists (select from pg_constraint where conindid = indexrelid)
  loop
    insert into suspended_index values (of_table, index.definition);
    execute format('drop index %s', index.name);
  end loop;
end $$;

-- At commit, whoever has forgotten it: there is no state in which an index is missing.
create function restore_index() returns trigger
language plpgsql security definer set search_path = public, pg_temp set maintenance_work_mem = '256MB' as $$
begin
  execute new.definition;
  delete from suspended_index where definition = new.definition;
  return null;
end $$;
create constraint trigger restore_index after insert on suspended_index deferrable initially deferred
  for each row execute function restore_index();

revoke execute on function suspend_indexes, restore_index from public;
grant execute on function suspend_indexes to outbreaks_operator;
