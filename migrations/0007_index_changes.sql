-- What a release began and what it ended, in the order of id: the difference of two releases costs what changed.
create index hed_outbreak_version_began on hed_outbreak_version (from_release, id);
create index hed_outbreak_version_ended on hed_outbreak_version (to_release, id) where to_release < 2147483647;
