"""Reads a whole release in several ways, and prints how long each took. clients/compare/speed.ts starts it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from outbreaks import Client

FILES = Path(os.environ["SPEED_FILES"])


def measure(what: str, read: Callable[[], int]) -> int:
    start, cpu = time.perf_counter(), time.process_time()
    count = read()
    taken = {"what": what, "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    sys.stdout.write(json.dumps(taken) + "\n")
    return count


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        client = Client(cache=folder / "cache")

        def download(form: str) -> int:
            shutil.rmtree(folder / "files", ignore_errors=True)
            return client.download(form, folder / "files", release=1, progress=False).stat().st_size  # type: ignore[arg-type]

        def load_first() -> int:
            shutil.rmtree(folder / "cache", ignore_errors=True)
            return len(client.load(1, progress=False).to_pandas())

        for _ in range(int(os.environ["SPEED_ROUNDS"])):
            found = [
                measure(
                    "pyarrow: read the Parquet file", lambda: pq.read_table(FILES / "hed-outbreaks-1.parquet").num_rows
                ),
                measure("load: download, verify, data frame of pandas", load_first),
                measure("load again: from the cache, verified", lambda: len(client.load(1).to_pandas())),
                measure(
                    "walk: all pages to a data frame of pandas", lambda: len(client.records(release=1).to_pandas())
                ),
                measure("walk: all pages as dictionaries", lambda: sum(1 for _ in client.records(release=1))),
            ]
            assert len(set(found)) == 1, found
            for form in ("parquet", "ndjson", "csv"):
                measure(f"download the {form} file, verified", partial(download, form))


main()
