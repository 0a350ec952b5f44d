"""Whole releases in a cache on this machine. A release never changes, so the cache has no expiry and works offline."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from . import _frames
from ._files import download_file, find_file, hash_file, replace_file
from ._http import Connection
from ._progress import Progress
from .errors import Damaged, Unavailable

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class LoadedRelease:
    """A whole release on this machine, verified."""

    def __init__(self, description: dict[str, Any], path: Path) -> None:
        self.number: int = description["number"]
        self.digest: str = description["digest"]
        self.records: int = description["records"]
        self.description = description
        self.path = path
        """The Parquet file. Do not change it."""

    def __repr__(self) -> str:
        return f"<outbreaks.LoadedRelease {self.number}: {self.records} records>"

    def to_arrow(self) -> pyarrow.Table:
        table = _frames.read_parquet(self.path)
        if table.num_rows != self.records:
            raise Damaged(f"{self.path} has {table.num_rows} records, and the release {self.records}")
        return table

    def to_pandas(self) -> pandas.DataFrame:
        return _frames.arrow_to_pandas(self.to_arrow())

    def to_polars(self) -> polars.DataFrame:
        return _frames.arrow_to_polars(self.to_arrow())


class Cache:
    """Files by their SHA-256, and what each service says about its releases."""

    def __init__(self, connection: Connection, folder: Path | None) -> None:
        chosen = folder or os.environ.get("OUTBREAKS_CACHE") or platformdirs.user_cache_dir("outbreak-data")
        self.folder = Path(chosen)
        service = hashlib.sha256(f"{connection.base_url}/{connection.dataset}".encode()).hexdigest()[:16]
        self._descriptions = self.folder / "releases" / service
        self._connection = connection

    def _path_of(self, sha256: str) -> Path:
        return self.folder / "files" / sha256

    def _remember(self, description: dict[str, Any]) -> None:
        name = description["number"]
        self._descriptions.mkdir(parents=True, exist_ok=True)
        temporary = self._descriptions / f"{name}.{os.getpid()}.part"
        temporary.write_text(json.dumps(description), encoding="utf-8")
        replace_file(temporary, self._descriptions / f"{name}.json")

    def find_description(self, release: int | str | date) -> dict[str, Any]:
        """What is known about a release without a request."""
        path = self._descriptions / f"{release}.json"
        if str(release).isdigit() and path.is_file():
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return found
        numbers = sorted(int(file.stem) for file in self._descriptions.glob("*.json") if file.stem.isdigit())
        known = ", ".join(map(str, numbers)) or "none"
        detail = f"OUTBREAKS_OFFLINE is set, and release {release} is not in the cache. Releases in the cache: {known}"
        raise Unavailable(detail, code="offline")

    def load(self, description: dict[str, Any], progress: Progress) -> LoadedRelease:
        """The release from the cache, verified again; downloaded if it is not there."""
        file = find_file(description, "parquet")
        folder = self._path_of(file["sha256"])
        path = folder / file["name"]
        if self._connection.offline:
            if not path.is_file() or hash_file(path) != file["sha256"]:
                raise Damaged(f"{path} is missing or differs from the published file. Load the release again online.")
            return LoadedRelease(description, path)
        path = download_file(self._connection, description["number"], file, folder, progress)
        self._remember(description)
        return LoadedRelease(description, path)
