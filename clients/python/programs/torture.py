"""Reads a service that breaks all the time, and compares everything with the files of the releases.

Each result must be exactly right, or an error of the client. See clients/torture/README.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from outbreaks import Client, OutbreakRecord, OutbreaksError, Unavailable

TRUTH = Path(os.environ["OUTBREAKS_TRUTH"])
DEADLINE = time.monotonic() + float(os.environ.get("TORTURE_SECONDS", "30"))
WORKERS = 3
RELEASES = (1, 2, 3)
FORMATS = ("csv", "ndjson", "parquet")


def file_of(release: int, form: str) -> Path:
    return TRUTH / f"hed-outbreaks-{release}.{form}"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


RECORDS: dict[int, list[dict[str, Any]]] = {
    release: [json.loads(line) for line in file_of(release, "ndjson").read_text("utf-8").splitlines()]
    for release in RELEASES
}


def read_records(client: Client, _: Path) -> bool:
    release = random.choice(RELEASES)
    return list(client.records(release=release, num=random.choice((300, 1000)))) == RECORDS[release]


def go_on_with_cursor(client: Client, _: Path) -> bool:
    """As a program that crashes again and again and goes on with the cursor."""
    release = random.choice(RELEASES)
    read: dict[int, OutbreakRecord] = {}
    cursor: str | None = None
    while True:
        walk = client.records(release=release, num=500, cursor=cursor)
        stop = random.randint(200, 1700)
        try:
            for count, record in enumerate(walk):
                read[record["id"]] = record
                if count == stop:
                    break
            else:
                return list(read.values()) == RECORDS[release]
        except Unavailable:
            if time.monotonic() > DEADLINE:
                raise
        cursor = walk.cursor


def filter_records(client: Client, _: Path) -> bool:
    release = random.choice(RELEASES)
    event = random.choice(RECORDS[release])["event"]
    return list(client.records(event=event, release=release)) == [r for r in RECORDS[release] if r["event"] == event]


def download(client: Client, folder: Path) -> bool:
    release, form = random.choice(RELEASES), random.choice(FORMATS)
    path = client.download(form, folder / "files", release=release, progress=False)  # type: ignore[arg-type]
    is_right = sha256(path) == sha256(TRUTH / path.name)
    path.unlink()
    return is_right


def save(client: Client, folder: Path) -> bool:
    release = random.choice(RELEASES)
    path = folder / "query.ndjson"
    client.records(release=release).save(path)
    return sha256(path) == sha256(file_of(release, "ndjson"))


def sync(client: Client, folder: Path) -> bool:
    """A copy is that of the earlier release or of the later one, whatever happens."""
    copy, first, second = folder / "copy", *sorted(random.sample(RELEASES, 2))
    shutil.rmtree(copy, ignore_errors=True)
    client.sync(copy, release=first, progress=False)
    try:
        client.sync(copy, release=second, progress=False)
    except OutbreaksError:
        if not has_release(copy, first):
            return False
        raise
    return has_release(copy, second)


def has_release(copy: Path, release: int) -> bool:
    (stored,) = (copy / ".outbreaks").glob("*-*.ndjson")
    return sha256(stored) == sha256(file_of(release, "ndjson"))


def verify(client: Client, _: Path) -> bool:
    release = random.choice(RELEASES)
    return bool(client.verify(release)["records"] == len(RECORDS[release]))


OPERATIONS: tuple[Callable[[Client, Path], bool], ...] = (
    *(read_records, go_on_with_cursor, filter_records, download, save, sync, verify),
)


def work(folder: Path) -> tuple[Counter[str], Counter[str], list[str]]:
    right, errors, wrong = Counter[str](), Counter[str](), list[str]()
    folder.mkdir()
    with Client(cache=folder / "cache") as client:
        while time.monotonic() < DEADLINE:
            operation = random.choice(OPERATIONS)
            name = operation.__name__
            try:
                if operation(client, folder):
                    right[name] += 1
                else:
                    wrong.append(name)
            except OutbreaksError as error:
                errors[f"{name}: {type(error).__name__}"] += 1
            except Exception as error:
                wrong.append(f"{name}: {error!r}")
    return right, errors, wrong


def main() -> int:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(work, [Path(folder) / str(i) for i in range(WORKERS)]))
    right = sum((result[0] for result in results), Counter[str]())
    errors = sum((result[1] for result in results), Counter[str]())
    wrong = [name for result in results for name in result[2]]
    sys.stdout.write(json.dumps({"right": right, "errors": errors, "wrong": wrong}) + "\n")
    return 0 if right and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
