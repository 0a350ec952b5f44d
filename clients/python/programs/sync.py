"""Follows the releases with a copy, and says after each whether it is the published file.

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
            published = next(file for file in client.release(release)["files"] if file["name"].endswith(".ndjson"))
            is_right = hashlib.sha256(lines.read_bytes()).hexdigest() == published["sha256"]
            is_right = is_right and pq.read_metadata(copy.path).num_rows == published["records"]
            changes = copy.added + copy.corrected + copy.withdrawn
            sys.stdout.write(json.dumps({"release": release, "right": is_right, "changes": changes}) + "\n")
            sys.stdout.flush()


main()
