-- Nodes and the operator's commands refuse a schema they do not know, so they read which migrations were applied.
grant select on migration to outbreaks_api, outbreaks_operator;
