"""Files of a release, and queries as one file. A file gets its name only after it was verified."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypedDict

from ._http import Attempts, Connection, Failure, Params
from ._progress import Progress, open_progress
from .errors import Damaged, NotFound

try:
    import fcntl
except ImportError:  # Windows: two processes that download the same file at the same time may have to start again.
    fcntl = None  # type: ignore[assignment]

_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class ReleaseFile(TypedDict):
    """A file as the release describes it."""

    name: str
    bytes: int
    sha256: str


def find_file(release: dict[str, Any], format: str) -> ReleaseFile:
    """The file of a format. Its name becomes a path on this machine, so it cannot have a folder."""
    for file in release["files"]:
        if file["name"].endswith((f".{format}", f".{format}.gz")):
            if not _FILE_NAME.fullmatch(file["name"]) or not _SHA256.fullmatch(file["sha256"]):
                raise Damaged(f"the release has a file with an invalid name or digest: {file['name']!r}")
            return ReleaseFile(name=file["name"], bytes=int(file["bytes"]), sha256=file["sha256"])
    names = ", ".join(file["name"] for file in release["files"]) or "none"
    detail = f"release {release['number']} has no {format} file. Its files: {names}"
    raise NotFound(detail, status=404, code="no_such_file")


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file without their ends, decompressed if its name ends with `.gz`."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for line in lines:
            yield line.removesuffix(b"\n")


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_to_disk(path: Path) -> None:
    """Makes sure that a file, or the names in a folder, survive a power cut."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(finished: Path, target: Path) -> None:
    """Gives a finished file its name, in one step and permanently."""
    sync_to_disk(finished)
    finished.replace(target)
    sync_to_disk(target.parent)


def _is_open_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time. The lock is on the file itself, which another process may have renamed by then."""
    if fcntl is None:
        path.touch()
        yield
        return
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_open_file(descriptor, path):
                yield
                return
        finally:
            os.close(descriptor)


def download_file(connection: Connection, number: int, file: ReleaseFile, folder: Path, progress: Progress) -> Path:
    """Downloads a file of a release. It resumes where an earlier attempt stopped."""
    target = folder / file["name"]
    folder.mkdir(parents=True, exist_ok=True)
    if _is_right(target, file):
        return target
    part = target.with_name(f"{target.name}.part")
    with locked(part):
        if _is_right(target, file):
            part.unlink()
            return target
        path = f"releases/{number}/files/{file['name']}"
        with open_progress(progress, file["name"], file["bytes"]) as show:
            was_resumed = _fetch(connection, path, file, part, show)
            if hash_file(part) != file["sha256"] and was_resumed:
                # The bytes that were there may be of another file.
                os.truncate(part, 0)
                _fetch(connection, path, file, part, show)
        if hash_file(part) != file["sha256"]:
            part.unlink()
            raise Damaged(f"{file['name']} does not have the SHA-256 that the release names")
        replace_file(part, target)
    return target


def _is_right(path: Path, file: ReleaseFile) -> bool:
    return path.is_file() and path.stat().st_size == file["bytes"] and hash_file(path) == file["sha256"]


def _fetch(connection: Connection, path: str, file: ReleaseFile, part: Path, show: Callable[[int], None]) -> bool:
    """Requests the file until the part has its size; returns whether the bytes come from several responses."""
    have = part.stat().st_size
    if have > file["bytes"]:
        os.truncate(part, 0)
        have = 0
    was_resumed = have > 0
    attempts = Attempts(connection)
    while have < file["bytes"]:
        before, token = have, connection.token()
        try:
            with connection.open_file(path, have, file["sha256"], token) as (begin, chunks), part.open("r+b") as out:
                out.truncate(begin)
                out.seek(begin)
                before = have = begin
                for chunk in chunks:
                    have += out.write(chunk)
                    show(have)
                    if have > file["bytes"]:
                        break
                if have < file["bytes"]:
                    raise Failure(0, reason=f"only {have} of {file['bytes']} bytes arrived")
        except Failure as failure:
            was_resumed = was_resumed or have > 0
            if have > before:
                attempts.restart()
            attempts.fail(failure, token)
    return was_resumed


MEDIA_TYPES: Final = {
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "geojson": "application/geo+json",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
}


def fetch_lines(connection: Connection, path: str, params: Params, part: Path) -> dict[str, str]:
    """Saves all lines of an NDJSON response; returns its headers. It cannot be resumed, only requested again."""
    return _fetch_answer(connection, path, params, MEDIA_TYPES["ndjson"], part, _ends_with_line_feed)


def _ends_with_line_feed(part: Path) -> bool:
    return part.stat().st_size == 0 or _read_end(part, 1) == b"\n"


def _read_end(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(-min(size, path.stat().st_size), os.SEEK_END)
        return file.read()


def _fetch_answer(
    connection: Connection, path: str, params: Params, media_type: str, part: Path, is_complete: Callable[[Path], bool]
) -> dict[str, str]:
    attempts = Attempts(connection)
    while True:
        token = connection.token()
        try:
            with connection.open_lines(path, params, media_type, token) as response, part.open("wb") as out:
                if not response.headers.get("content-type", "").startswith(media_type):
                    raise Failure(0, reason="the response has another media type than requested")
                for chunk in response.iter_bytes():
                    out.write(chunk)
                headers = dict(response.headers)
            if not is_complete(part):
                raise Failure(0, reason="the response is cut")
            return headers
        except Failure as failure:
            attempts.fail(failure, token)


def _count_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def _count_csv(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as text:
        return sum(1 for _ in csv.reader(text)) - 1


# The HTTP library does not show trailers, so each format has its own proof of completeness.
_IS_COMPLETE: Final[dict[str, Callable[[Path], bool]]] = {
    "csv": _ends_with_line_feed,
    "ndjson": _ends_with_line_feed,
    "geojson": lambda part: _read_end(part, 64).rstrip().endswith(b'"complete":true}}'),
    "parquet": lambda part: _read_end(part, 4) == b"PAR1",
    "arrow": lambda part: _read_end(part, 8) == b"\xff\xff\xff\xff\x00\x00\x00\x00",
}
_COUNT: Final[dict[str, Callable[[Path], int]]] = {
    "csv": _count_csv,
    "ndjson": _count_lines,
}


def save_query(connection: Connection, params: Params, target: Path, format: str) -> dict[str, str]:
    """All records of a query as one file. Their number is compared with the number that the service counted before."""
    part = target.with_name(f"{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(part):
        try:
            asked = {**params, "count": "exact"}
            headers = _fetch_answer(connection, "outbreaks", asked, MEDIA_TYPES[format], part, _IS_COMPLETE[format])
            if format in _COUNT and str(_COUNT[format](part)) != headers.get("outbreaks-count"):
                raise Damaged(f"the service counted {headers.get('outbreaks-count')} records; the file has other ones")
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        replace_file(part, target)
    return headers
