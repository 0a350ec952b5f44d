"""The client: one method for each query."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self, Unpack
from urllib.parse import parse_qs, urlsplit

from ._answers import Coverage, Events, Facets, Records, Series, Sums, Table, TableType, Walk, to_table, without
from ._cache import Cache, LoadedRelease
from ._copy import SyncResult, sync_copy
from ._files import ReleaseFile, download_file, find_file, hash_file, read_lines
from ._generated.parameters import (
    By,
    ChangesParameters,
    CitationParameters,
    CoverageParameters,
    EventsParameters,
    FacetsParameters,
    Interval,
    RecordsParameters,
    SearchParameters,
    SeriesParameters,
    SumsParameters,
    VintagesParameters,
    WatchParameters,
)
from ._http import Connection, Params
from ._progress import Progress
from ._watches import (
    Notices,
    WatchChange,
    change_watch,
    create_watch,
    delete_watch,
    list_watches,
    preview_watch,
    read_notices,
)
from .digest import ReleaseDigest
from .errors import Damaged, InvalidParameter

Release = int | str | date
"""A number, a day (what was known on it: the latest release as of that day or earlier) or "latest"."""
DownloadFormat = Literal["parquet", "csv", "ndjson"]
CitationFormat = Literal["text", "bibtex", "csl-json"]
LinkedQuestion = Literal["records", "series", "sums", "vintages", "facets", "coverage"]
LinkFormat = Literal["csv", "json", "ndjson", "geojson", "parquet", "arrow"]


_KINDS: dict[str, type[Table]] = {"series": Series, "sums": Sums, "vintages": Table}


def _read_setting(value: str | None, variable: str) -> str:
    found = value or os.environ.get(variable, "")
    if not found:
        detail = f"Set the environment variable {variable}, or pass the value to Client()."
        raise InvalidParameter(detail, code="not_configured", parameter=variable)
    return found


class Client:
    """A client of one service. Without arguments the environment configures it.

    `OUTBREAKS_URL`, `OUTBREAKS_CLIENT_ID` and `OUTBREAKS_CLIENT_SECRET` are required. With `OUTBREAKS_OFFLINE=1` the
    client sends no request, and `load` reads releases that were loaded before. Threads can share a client.
    """

    def __init__(
        self,
        base_url: str | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        *,
        dataset: str = "hed-outbreaks",
        cache: str | Path | None = None,
        offline: bool | None = None,
    ) -> None:
        url = _read_setting(base_url, "OUTBREAKS_URL").rstrip("/")
        if not url.startswith(("https://", "http://")):
            detail = f"{url} is not a URL such as https://data.example.org"
            raise InvalidParameter(detail, code="not_configured", parameter="OUTBREAKS_URL")
        is_offline = os.environ.get("OUTBREAKS_OFFLINE", "") not in ("", "0") if offline is None else offline
        id_and_secret = (
            ("", "")
            if is_offline
            else (
                _read_setting(client_id, "OUTBREAKS_CLIENT_ID"),
                _read_setting(client_secret, "OUTBREAKS_CLIENT_SECRET"),
            )
        )
        self._connection = Connection(url, *id_and_secret, dataset=dataset, offline=is_offline)
        self._cache = Cache(self._connection, None if cache is None else Path(cache))
        self._release: Release | None = None

    def __repr__(self) -> str:
        release = "" if self._release is None else f" as of {self._release}"
        return f"<outbreaks.Client {self._connection.base_url} {self._connection.dataset}{release}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def as_of(self, release: Release) -> Self:
        """A client that reads this release unless a call names another one. It shares the connection."""
        restricted = copy.copy(self)
        restricted._release = release
        return restricted

    def _pin(self, filters: Params, release: Release | None, name: str = "release") -> Params:
        chosen = self._release if release is None else release
        return filters if chosen is None else {**filters, name: chosen}

    def records(
        self, *, release: Release | None = None, cursor: str | None = None, **filters: Unpack[RecordsParameters]
    ) -> Records:
        """The records that match the filters. Nothing is requested before the first record is read."""
        return Records(self._connection, "outbreaks", self._pin(filters, release), cursor)

    def events(
        self, *, release: Release | None = None, cursor: str | None = None, **filters: Unpack[EventsParameters]
    ) -> Events:
        """A summary of each event. `sort="-cases"` gives those with the most cases first."""
        return Events(self._connection, "events", self._pin(filters, release), cursor)

    def releases(self, *, cursor: str | None = None) -> Walk[dict[str, Any]]:
        """All releases, the latest first."""
        return Walk(self._connection, "releases", {}, cursor)

    def changes(
        self,
        from_release: Release,
        to_release: Release | None = None,
        *,
        cursor: str | None = None,
        **filters: Unpack[ChangesParameters],
    ) -> Walk[dict[str, Any]]:
        """What changed from one release to a later one (the latest if it is not given), and why."""
        params = self._pin({"from": from_release, **filters}, to_release, "to")
        return Walk(self._connection, "changes", params, cursor)

    def history(self, record_id: int, *, cursor: str | None = None) -> Walk[dict[str, Any]]:
        """The versions of a record in all releases that can be read."""
        return Walk(self._connection, f"outbreaks/{int(record_id)}/history", {}, cursor)

    def _table(self, kind: type[TableType], path: str, params: Params) -> TableType:
        # The frames and plots are made from the full form of figures.
        detail = {"detail": "full"} if path in _KINDS else {}
        return to_table(self._connection.get(path, {**params, **detail}), kind, without(dict(params), *detail))

    def series(self, *, release: Release | None = None, **filters: Unpack[SeriesParameters]) -> Series:
        """Counts over time. `interval` is day, isoweek, epiweek, month or year; by default the finest that fits.

        If the records were counted in several ways, the service chooses one and `notice` says which. `strict=True`
        raises `NotComparable` instead, and `side_by_side=True` gives all of them as groups.
        """
        return self._table(Series, "series", self._pin(filters, release))

    def sums(self, *, release: Release | None = None, **filters: Unpack[SumsParameters]) -> Sums:
        """Totals by `group_by`; `total` has the numbers to quote. How to count is chosen as in `series`."""
        return self._table(Sums, "sums", self._pin(filters, release))

    def vintages(self, **filters: Unpack[VintagesParameters]) -> Table:
        """The numbers of a series in each release. `from_` and `to` choose the releases."""
        return self._table(Table, "vintages", filters if "to" in filters else self._pin(filters, None, "to"))

    def follow(self, choice: Mapping[str, Any]) -> Any:
        """The response for one set: an entry of `["chosen"]` or `["left_out"]`, or of `choices` of `NotComparable`.

        It sends the same query for this set only, so it returns what the first one returns.
        """
        address = urlsplit(choice.get("url") or "")
        path = address.path.rpartition("/")[2]
        if path not in _KINDS:
            detail = "No filters choose this set. side_by_side=True gives every set."
            raise InvalidParameter(detail, code="invalid_parameter", parameter="choice")
        table = self._table(_KINDS[path], path, parse_qs(address.query, keep_blank_values=True))
        table.notice = f"Counted as {choice['words']}."
        # The title of a plot does not repeat what the notice says.
        table["title"] = table["title"].removesuffix(f"; {choice['words']}")
        return table

    def facets(self, *, release: Release | None = None, **filters: Unpack[FacetsParameters]) -> Facets:
        """The values of each field, with their numbers of records."""
        return self._table(Facets, "facets", self._pin(filters, release))

    def coverage(
        self,
        *,
        by: By = "country_code",
        interval: Interval = "month",
        release: Release | None = None,
        **filters: Unpack[CoverageParameters],
    ) -> Coverage:
        """The number of records for each value of a field and each period.

        A period that is not listed has no record, which says nothing about cases.
        """
        return self._table(Coverage, "coverage", self._pin({"by": by, "interval": interval, **filters}, release))

    def search(self, q: str, *, release: Release | None = None, **params: Unpack[SearchParameters]) -> Table:
        """Events, diseases, pathogens, places and sources by name, even misspelt or in another language."""
        return self._table(Table, "search", self._pin({"q": q, **params}, release))

    def release(self, number: Release | None = None) -> dict[str, Any]:
        """One release: number, time, digest, files, numbers of changes. The latest if it is not given."""
        chosen = number if number is not None else self._release if self._release is not None else "latest"
        if isinstance(chosen, date) or (isinstance(chosen, str) and not chosen.isdigit() and chosen != "latest"):
            # The service resolves days in queries. The smallest query has the number of the release in a header.
            found = self._connection.get("outbreaks", {"release": chosen, "num": 1, "fields": "id"}).release
            if found is None:
                raise Damaged("the response does not name its release")
            chosen = found
        body = self._connection.get(f"releases/{chosen}", {}).body
        if not isinstance(body, dict) or not {"number", "digest", "records", "files"} <= body.keys():
            raise Damaged("the response is not a release")
        return body

    def cite(
        self,
        *,
        release: Release | None = None,
        format: CitationFormat | None = None,
        **filters: Unpack[CitationParameters],
    ) -> str:
        """The citation of a query: a sentence, BibTeX or CSL JSON. It names the release, its digest and the sources."""
        params = self._pin(filters, release)
        if format is not None:
            return self._connection.get_text("citation", {**params, "format": format})
        body = self._connection.get("citation", params).body
        if not isinstance(body, dict) or not isinstance(body.get("text"), str):
            raise Damaged("the response is not a citation")
        return str(body["text"])

    def link(
        self,
        question: LinkedQuestion,
        *,
        release: Release | None = None,
        format: LinkFormat = "csv",
        days: int | None = None,
        **parameters: Any,
    ) -> str:
        """A URL that opens this one query without a token: for a spreadsheet, a BI tool or a script.

        The parameters are those of the verb, and `columns` chooses the columns of a table. Anyone who has the URL can
        read the response, for 90 days or as many as `days` says, at most 180. It follows the latest release unless
        `release` names one.
        """
        pinned = self._pin(parameters, release, "to" if question == "vintages" else "release")
        url = self._connection.address("outbreaks" if question == "records" else question, {**pinned, "format": format})
        body = self._connection.get("link", {"url": url} if days is None else {"url": url, "days": days}).body
        if not isinstance(body, dict) or not isinstance(body.get("url"), str):
            raise Damaged("the response is not a link")
        return str(body["url"])

    def watch(
        self, when: str, *, name: str | None = None, endpoint: str | None = None, **question: Unpack[WatchParameters]
    ) -> dict[str, Any]:
        """Watches a question: the service judges each later release, and `notices` has what it says about them.

        The question is that of `sums` without groups; without filters it is about every release. `when` is "changes",
        "changes:cases:10", "crosses:cases:1000", "appears" or "corrects". `endpoint` is the id of a webhook or mailbox.
        The result has the `id`. If no answer arrives, look at `watches` before you create it again.
        """
        return create_watch(self._connection, question, {"when": when, "name": name, "endpoint": endpoint})

    def preview_watch(self, when: str, *, releases: int | None = None, **question: Unpack[WatchParameters]) -> Notices:
        """What a watch would have said about the latest releases, ten or as many as `releases` says."""
        return preview_watch(self._connection, question, when, releases)

    def watches(self) -> Table:
        """Your watches, the oldest first."""
        return list_watches(self._connection)

    def change_watch(self, watch: str, **change: Unpack[WatchChange]) -> dict[str, Any]:
        """Pauses a watch (`state="paused"`), resumes it (`"active"`, from the next release on), or renames it."""
        return change_watch(self._connection, watch, change)

    def delete_watch(self, watch: str) -> None:
        """Deletes a watch and what it said."""
        delete_watch(self._connection, watch)

    def notices(self, watch: str | None = None, *, after: int = 0, wait: float = 0) -> Notices:
        """What a watch said about the releases after `after`; they are kept for 30 days.

        Without a watch: every publication, rollback and pruning after the notice with that number. `["next_after"]` is
        the `after` of the next call. `wait` is how many seconds to wait for a notice if there is none yet.
        """
        return read_notices(self._connection, watch, after, wait)

    def download(
        self,
        format: DownloadFormat = "parquet",
        directory: str | Path = ".",
        *,
        release: Release | None = None,
        progress: Progress = None,
    ) -> Path:
        """Downloads a whole release into a directory. It resumes where it was interrupted, and is verified by SHA-256.

        CSV and NDJSON are compressed by gzip; pandas and polars read such files by their name.
        A file of the same name is replaced if it differs from the published file.
        """
        description = self.release(release)
        file = find_file(description, format)
        return download_file(self._connection, description["number"], file, Path(directory), progress)

    def verify(self, release: Release | None = None, *, file: str | Path | None = None) -> dict[str, Any]:
        """Computes the digest of a release from its records, and compares it with the published one.

        With `file`, a file on this machine is compared with the published file of the same format.
        """
        description = self.release(release)
        if file is not None:
            published = find_file(description, Path(file).name.removesuffix(".gz").rpartition(".")[2])
            if hash_file(Path(file)) != published["sha256"]:
                raise Damaged(f"{file} differs from {published['name']} of release {description['number']}")
            return {"release": description["number"], "file": str(file), "sha256": published["sha256"]}
        digest = self._digest_of(description, find_file(description, "ndjson"))
        if digest.hexdigest() != description["digest"] or digest.records != description["records"]:
            raise Damaged(f"the records differ from those of release {description['number']}")
        return {"release": description["number"], "digest": description["digest"], "records": digest.records}

    def _digest_of(self, description: dict[str, Any], file: ReleaseFile) -> ReleaseDigest:
        folder = self._cache.folder / "verify" / file["sha256"]
        path = download_file(self._connection, description["number"], file, folder, None)
        digest = ReleaseDigest()
        for line in read_lines(path):
            digest.add(line)
        path.unlink()
        folder.rmdir()
        return digest

    def load(self, release: Release | None = None, *, progress: Progress = None) -> LoadedRelease:
        """A whole release, verified. It stays in the cache, so the next time nothing is downloaded.

        With `OUTBREAKS_OFFLINE=1`, give the number of a release that was loaded before. What a day means may change.
        """
        asked = release if release is not None else self._release if self._release is not None else "latest"
        description = self._cache.find_description(asked) if self._connection.offline else self.release(asked)
        return self._cache.load(description, progress)

    def sync(
        self, directory: str | Path, *, release: Release | None = None, full: bool = False, progress: Progress = None
    ) -> SyncResult:
        """Keeps a copy of the latest release in a directory: `records.parquet`, replaced completely or not at all.

        After the first time only the changes are requested. The digest of all records is compared before the copy
        changes. With `full`, the whole release is downloaded; that is needed after its fields have changed.
        """
        return sync_copy(self._connection, Path(directory), self.release(release), full=full, progress=progress)
