"""Follows the releases with a copy, and prints its SHA-256 and number of records after each.

clients/compare/sync.ts starts it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from outbreaks import Client


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Client(cache=Path(folder) / "cache") as client:
        for release in range(1, int(os.environ["SYNC_RELEASES"]) + 1):
            copy = client.sync(Path(folder) / "copy", release=release, progress=False)
            (lines,) = (Path(folder) / "copy" / ".outbreaks").glob("*-*.ndjson")
            sha256 = hashlib.sha256(lines.read_bytes()).hexdigest()
            records = pq.read_metadata(copy.path).num_rows
            changes = copy.added + copy.corrected + copy.withdrawn
            step = {"release": release, "sha256": sha256, "records": records, "changes": changes}
            sys.stdout.write(json.dumps(step) + "\n")
            sys.stdout.flush()


main()
