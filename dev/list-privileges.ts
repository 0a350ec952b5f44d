// Writes what every role may do in a migrated database to test/security/operator/privileges.txt, so that a change of a privilege is a
// diff: `node dev/list-privileges.ts`. test/security/operator/database-privileges.test.ts compares the file with the catalogue.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { createCluster } from './postgres.ts'

export const PRIVILEGES_FILE = path.resolve(import.meta.dirname, '../test/security/operator/privileges.txt')

/**
 * One line for each fact. The owner of the schema appears as `owner`, whatever its name, and without its own privileges: an owner
 * has them all. A null ACL is the default of its kind, which may give PUBLIC something. Roles are those that have a privilege on
 * an object of ours; attributes of other roles of the cluster are not our business.
 */
const PRIVILEGES = `
  with schemas as (
    select oid, nspname, nspowner, nspacl from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'
  ), objects (kind, name, owner, acl) as (
    select 'database', 'this database', datdba, coalesce(datacl, acldefault('d', datdba)) from pg_database where datname = current_database()
    union all select 'schema', nspname, nspowner, coalesce(nspacl, acldefault('n', nspowner)) from schemas
    union all
    select case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end,
      oid::regclass::text, relowner, coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
      from pg_class where relnamespace in (select oid from schemas) and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    union all
    select 'column', attrelid::regclass || '.' || quote_ident(attname), relowner, attacl
      from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace in (select oid from schemas) and attacl is not null and not attisdropped
    union all
    select case prokind when 'p' then 'procedure' when 'a' then 'aggregate' else 'function' end,
      oid::regprocedure::text, proowner, coalesce(proacl, acldefault('f', proowner))
      from pg_proc where pronamespace in (select oid from schemas)
    union all
    select 'type', oid::regtype::text, typowner, coalesce(typacl, acldefault('T', typowner))
      from pg_type where typnamespace in (select oid from schemas) and typrelid = 0 and typelem = 0
    union all
    select 'language', lanname, lanowner, coalesce(lanacl, acldefault('l', lanowner)) from pg_language where lanpltrusted
    union all
    select 'large object', loid::text, lomowner, coalesce(lomacl, acldefault('L', lomowner))
      from (select oid as loid, * from pg_largeobject_metadata) as large
    union all
    select 'foreign server', srvname, srvowner, coalesce(srvacl, acldefault('S', srvowner)) from pg_foreign_server
    union all
    select 'default for new ' || case defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' else 'schemas' end,
      coalesce('in ' || (select nspname from pg_namespace where oid = defaclnamespace), 'everywhere'), defaclrole, defaclacl from pg_default_acl
  ), owners as (
    -- The schema public belongs to pg_database_owner, which is whoever owns the database.
    select relowner as oid from pg_class where oid = 'public.migration'::regclass
    union select oid from pg_roles where rolname = 'pg_database_owner'
  ), grants as (
    select kind, name, owner, entry.grantee, entry.privilege_type, entry.is_grantable
    from objects, aclexplode(acl) as entry where entry.grantee <> owner
  ), roles as (
    select oid, rolname from pg_roles where oid in (select grantee from grants) and oid not in (select oid from owners)
  ), named as (
    select oid, rolname as name from roles union all select oid, 'owner' from owners union all select 0, 'PUBLIC'
  )
  select format('%s may %s %s %s%s', coalesce((select name from named where oid = grantee), pg_get_userbyid(grantee)),
      privilege_type, kind, name, case when is_grantable then ' and pass it on' else '' end) as line from grants
  union all
  -- A default ACL is complete: what it does not list is not given, also not to PUBLIC.
  select format('%s gives new objects %s to nobody else', kind, name) from objects
    where kind like 'default%' and not exists (select from aclexplode(acl) as entry where entry.grantee <> owner)
  union all
  select format('%s owns %s %s', coalesce((select name from named where oid = owner), pg_get_userbyid(owner)), kind, name)
    from objects where kind in ('database', 'schema', 'table', 'view', 'materialized view', 'sequence', 'function', 'procedure', 'type')
  union all
  select format('%s is a role with %s', rolname, coalesce(nullif(concat_ws(', ',
      case when rolsuper then 'SUPERUSER' end, case when rolcreaterole then 'CREATEROLE' end, case when rolcreatedb then 'CREATEDB' end,
      case when rolreplication then 'REPLICATION' end, case when rolbypassrls then 'BYPASSRLS' end, case when rolcanlogin then 'LOGIN' end,
      case when rolinherit then 'INHERIT' end), ''), 'no attribute'))
    from pg_roles where oid in (select oid from roles)
  union all
  select format('%s is a member of %s', (select rolname from roles where oid = member), pg_get_userbyid(roleid))
    from pg_auth_members where member in (select oid from roles)
  union all
  select format('%s %s runs as its owner with %s', case prokind when 'p' then 'procedure' else 'function' end, oid::regprocedure,
      coalesce((select string_agg(setting, '; ' order by setting) from unnest(proconfig) as setting), 'no search_path'))
    from pg_proc where prosecdef and pronamespace in (select oid from schemas)
  union all
  select format('table %s has row security: %s', oid::regclass, case when relforcerowsecurity then 'forced' else 'not for its owner' end)
    from pg_class where relrowsecurity and relnamespace in (select oid from schemas)
  union all
  select format('event trigger %s', evtname) from pg_event_trigger
  union all
  select format('extension %s %s', extname, 'is installed') from pg_extension`

/** Sorted by code points, so that the order does not depend on the collation of a server. */
export async function listPrivileges(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(PRIVILEGES)
  return [...new Set(rows.map(({ line }) => line))].sort()
}

if (import.meta.main) {
  const cluster = await createCluster()
  try {
    await migrate(cluster.url)
    const client = new pg.Client(cluster.url)
    await client.connect()
    const lines = await listPrivileges(client)
    await client.end()
    writeFileSync(PRIVILEGES_FILE, `${lines.join('\n')}\n`)
    console.log(`${lines.length} lines in ${path.relative(process.cwd(), PRIVILEGES_FILE)}`)
  } finally {
    await cluster.stop()
  }
}
