-- Roles that hold privileges; logins are made members of them (docs/operate.md).
-- Roles belong to the whole cluster, so another database of it, or another node, may be first.
do $$
begin
  create role outbreaks_api nologin;
exception when duplicate_object or unique_violation then null;
end $$;

do $$
begin
  create role outbreaks_operator nologin;
exception when duplicate_object or unique_violation then null;
end $$;

grant usage on schema public to outbreaks_api, outbreaks_operator;
