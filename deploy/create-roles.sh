#!/bin/sh
# Creates the database and its roles when the cluster is new (docs/operating/database.md). The passwords are the
# variables SERVICE, NOTIFIER, OPERATOR and MIGRATION, or in the file that ROLES names.
set -eu
[ -n "${SERVICE:-}" ] || . "${ROLES:-/run/secrets/roles}"
psql -v ON_ERROR_STOP=1 -U "${POSTGRES_USER:-postgres}" -d postgres <<SQL
create role outbreaks_api nologin;
create role outbreaks_operator nologin;
create role outbreaks_notify nologin;
create role outbreaks_migration login password '$MIGRATION';
create database outbreaks owner outbreaks_migration;
create role outbreaks_service login password '$SERVICE' in role outbreaks_api;
create role outbreaks_notifier login password '$NOTIFIER' in role outbreaks_notify;
create role outbreaks_desk login password '$OPERATOR' in role outbreaks_operator;
SQL
