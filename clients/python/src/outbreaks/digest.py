"""The digest of a release, and changes applied to a copy of one. Pure: a line is bytes without the line feed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from .errors import Damaged

_ID: Final = re.compile(rb'\{"id":([1-9][0-9]*)[,}]')
_AFTER: Final = b',"after":'

ChangeKind = Literal["added", "corrected", "withdrawn"]


def read_id(line: bytes) -> int:
    """The id of a record from its line. Every published line begins with it."""
    found = _ID.match(line)
    if found is None:
        raise Damaged(f"a line does not begin with an id: {line[:40]!r}")
    return int(found[1])


class ReleaseDigest:
    """SHA-256 over the SHA-256 of each hundred of ids (docs/verify-a-download.md of the service)."""

    def __init__(self) -> None:
        self.records = 0
        self._whole = hashlib.sha256()
        self._hundred = hashlib.sha256()
        self._number = -1
        self._last_id = 0

    def add(self, line: bytes) -> None:
        """Adds the next record, in ascending order of id."""
        record_id = read_id(line)
        if record_id <= self._last_id:
            raise Damaged(f"record {record_id} comes after record {self._last_id}")
        self._last_id = record_id
        number = (record_id - 1) // 100
        if number != self._number:
            self._close_hundred()
            self._number = number
        self._hundred.update(line)
        self._hundred.update(b"\n")
        self.records += 1

    def _close_hundred(self) -> None:
        if self._number >= 0:
            self._whole.update(self._hundred.digest())
            self._hundred = hashlib.sha256()

    def hexdigest(self) -> str:
        """The digest. No record can be added afterwards."""
        self._close_hundred()
        self._number = -1
        return self._whole.hexdigest()


def digest_lines(lines: Iterable[bytes]) -> str:
    digest = ReleaseDigest()
    for line in lines:
        digest.add(line)
    return digest.hexdigest()


def parse_change(line: bytes) -> tuple[int, ChangeKind, bytes | None]:
    """Id, kind and the bytes of the record as they were published: JSON that is written again may have other bytes."""
    try:
        change: dict[str, Any] = json.loads(line)
        record_id, kind, after = change["id"], change["change"], change["after"]
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"a line is not a change: {line[:40]!r}") from error
    if kind not in ("added", "corrected", "withdrawn") or (after is None) != (kind == "withdrawn"):
        raise Damaged(f"the change of record {record_id} is not valid")
    if after is None:
        return record_id, kind, None
    record = line.split(_AFTER, 1)[1][:-1]
    if read_id(record) != record_id:
        raise Damaged(f"the change of record {record_id} has another record")
    return record_id, kind, record


def _with_ids(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    last_id = 0
    for line in lines:
        record_id = read_id(line)
        if record_id <= last_id:
            raise Damaged(f"record {record_id} comes after record {last_id}")
        last_id = record_id
        yield record_id, line


def apply_changes(
    lines: Iterable[bytes], changes: Iterable[bytes], counts: dict[str, int] | None = None
) -> Iterator[bytes]:
    """The lines of a release after the changes. Both must be in ascending order of id; `counts` counts the changes."""
    records = _with_ids(lines)
    current = next(records, None)
    last_id = 0
    for change in changes:
        record_id, kind, after = parse_change(change)
        if record_id <= last_id:
            raise Damaged(f"the change of record {record_id} comes after that of record {last_id}")
        last_id = record_id
        while current is not None and current[0] < record_id:
            yield current[1]
            current = next(records, None)
        is_there = current is not None and current[0] == record_id
        if is_there == (kind == "added"):
            raise Damaged(f"record {record_id} was {kind}, but the copy {'has it' if is_there else 'does not have it'}")
        if is_there:
            current = next(records, None)
        if after is not None:
            yield after
        if counts is not None:
            counts[kind] += 1
    while current is not None:
        yield current[1]
        current = next(records, None)
