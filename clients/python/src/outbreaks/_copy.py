"""A copy of a release in a directory, kept up to date by the changes only.

`records.parquet` is the copy. It is replaced in one step: it is always a whole release. `.outbreaks/` has the records
as they were published (NDJSON): the changes are applied to them, and the digest is computed from them. Their file is
named after release and digest, so a program that is killed between two steps goes on with the next one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ._files import download_file, fetch_lines, find_file, locked, read_lines, replace_file
from ._frames import read_parquet_metadata, require, write_parquet
from ._http import Connection
from ._progress import Progress
from .digest import ReleaseDigest, apply_changes
from .errors import Damaged, Gone, InvalidParameter

_STATE: Final = re.compile(r"([1-9][0-9]*)-([0-9a-f]{64})\.ndjson")


@dataclass(frozen=True)
class SyncResult:
    """What `sync` has done. `from_release` is None if the whole release was downloaded."""

    path: Path
    release: int
    digest: str
    records: int
    from_release: int | None
    added: int
    corrected: int
    withdrawn: int


def sync_copy(
    connection: Connection, directory: Path, description: dict[str, Any], *, full: bool, progress: Progress
) -> SyncResult:
    require("pyarrow")
    state = directory / ".outbreaks"
    state.mkdir(parents=True, exist_ok=True)
    with locked(state / "lock"):
        counts = {"added": 0, "corrected": 0, "withdrawn": 0}
        number, digest = description["number"], description["digest"]
        found = None if full else _find_state(state)
        lines = state / f"{number}-{digest}.ndjson"
        if found is None:
            _download_whole(connection, description, lines, progress)
        elif found != lines:
            _apply(connection, description, found, lines, counts)
        target = directory / "records.parquet"
        if full or read_parquet_metadata(target) != {"release": str(number), "digest": digest}:
            _write_parquet(lines, target, description)
        _remove_others(state, lines)
        from_release = None if found is None else _release_of(found)
        return SyncResult(target, number, digest, description["records"], from_release, **counts)


def _release_of(lines: Path) -> int:
    return int(lines.name.split("-")[0])


def _find_state(state: Path) -> Path | None:
    """The latest complete file of records. A file gets its name only after its digest was compared."""
    return max((path for path in state.iterdir() if _STATE.fullmatch(path.name)), key=_release_of, default=None)


def _remove_others(state: Path, lines: Path) -> None:
    for path in state.iterdir():
        if path.name not in (lines.name, "lock"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _download_whole(connection: Connection, description: dict[str, Any], lines: Path, progress: Progress) -> None:
    file = find_file(description, "ndjson")
    downloaded = download_file(connection, description["number"], file, lines.parent / "download", progress)
    unfinished = lines.parent / "records.part"
    _require_digest(_write_lines(read_lines(downloaded), unfinished), description)
    replace_file(unfinished, lines)


def _write_lines(lines: Iterable[bytes], target: Path) -> ReleaseDigest:
    digest = ReleaseDigest()
    with target.open("wb") as out:
        for line in lines:
            digest.add(line)
            out.write(line)
            out.write(b"\n")
    return digest


def _apply(
    connection: Connection, description: dict[str, Any], before: Path, after: Path, counts: dict[str, int]
) -> None:
    changes, unfinished = after.parent / "changes.part", after.parent / "records.part"
    params = {"from": _release_of(before), "to": description["number"]}
    try:
        fetch_lines(connection, "changes", params, changes)
    except (InvalidParameter, Gone) as error:
        error.add_note("The changes cannot be applied to this copy. Download the whole release: sync(..., full=True)")
        raise
    applied = apply_changes(read_lines(before), read_lines(changes), counts)
    _require_digest(_write_lines(applied, unfinished), description)
    replace_file(unfinished, after)


def _require_digest(digest: ReleaseDigest, description: dict[str, Any]) -> None:
    if digest.hexdigest() != description["digest"]:
        error = Damaged(
            f"the records do not have the digest of release {description['number']}. The copy is as it was."
        )
        error.add_note("If the copy was made from another service, download the whole release: sync(..., full=True)")
        raise error


def _write_parquet(lines: Path, target: Path, description: dict[str, Any]) -> None:
    unfinished = lines.parent / "parquet.part"
    metadata = {"release": str(description["number"]), "digest": description["digest"]}
    records = write_parquet(read_lines(lines), unfinished, metadata)
    if records != description["records"]:
        raise Damaged(f"the file has {records} records, and the release {description['records']}")
    replace_file(unfinished, target)
