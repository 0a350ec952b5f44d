"""Each guard against wrong data, in a case in which it fires: a server that sends something else than it promises."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Respond

from outbreaks import Client, Damaged, NotComparable, Unavailable, apply_changes, digest_lines
from outbreaks._files import locked
from outbreaks._frames import read_parquet, write_parquet
from outbreaks._retry import parse_retry_after
from outbreaks.errors import to_error

Reply = tuple[int, dict[str, str], Any]
TOKEN: Reply = (200, {}, {"access_token": "token-1", "token_type": "Bearer", "expires_in": 86400})
LINES = [b'{"id":1,"cases":5}', b'{"id":2,"cases":null}']
NDJSON = b"".join(line + b"\n" for line in LINES)


class ScriptedService:
    """Answers by the end of the path; a list is answered in its order, the last one again and again."""

    def __init__(self) -> None:
        self.replies: dict[str, list[Reply]] = {"/oauth/token": [TOKEN]}
        self.requests: list[str] = []

    def add(self, path: str, *replies: Reply) -> None:
        self.replies[path] = list(replies)

    def add_release(self, files: dict[str, bytes], *, digest: str, records: int) -> None:
        described = [
            {"name": name, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
            for name, body in files.items()
        ]
        release = {"number": 4, "digest": digest, "records": records, "files": described}
        self.add("/releases/4", (200, {"outbreaks-release": "4"}, release))
        for name, body in files.items():
            self.add(f"/files/{name}", (200, {}, body))

    def respond(self, path: str, headers: dict[str, str]) -> Reply:
        self.requests.append(f"{path} {headers.get('range', '')}".strip())
        for end, replies in self.replies.items():
            if path.partition("?")[0].endswith(end):
                return replies.pop(0) if len(replies) > 1 else replies[0]
        raise AssertionError(path)


@pytest.fixture
def scripted() -> ScriptedService:
    return ScriptedService()


@pytest.fixture
def client(scripted: ScriptedService, start_server: Callable[[Respond], str], tmp_path: Path) -> Iterator[Client]:
    with Client(start_server(scripted.respond), "client", "secret", cache=tmp_path / "cache") as opened:
        yield opened


def test_a_range_that_was_not_requested_is_not_written(
    scripted: ScriptedService, client: Client, tmp_path: Path
) -> None:
    scripted.add_release({"a.csv": b"0123456789"}, digest="", records=1)
    wrong: Reply = (206, {"content-range": "bytes 3-9/10"}, b"3456789")
    right: Reply = (206, {"content-range": "bytes 4-9/10"}, b"456789")
    scripted.add("/files/a.csv", wrong, right)
    (tmp_path / "a.csv.part").write_bytes(b"0123")
    assert client.download("csv", tmp_path, release=4).read_bytes() == b"0123456789"
    assert [request.split()[-1] for request in scripted.requests[-2:]] == ["bytes=4-", "bytes=4-"]


def test_a_file_that_is_too_long_is_damaged(scripted: ScriptedService, client: Client, tmp_path: Path) -> None:
    scripted.add_release({"a.csv": b"0123456789"}, digest="", records=1)
    scripted.add("/files/a.csv", (200, {}, b"0123456789 and more"))
    with pytest.raises(Damaged):
        client.download("csv", tmp_path, release=4)
    assert list(tmp_path.glob("a.csv*")) == []


def test_a_file_of_which_no_byte_arrives_is_unavailable(
    scripted: ScriptedService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    scripted.add_release({"a.csv": b"0123456789"}, digest="", records=1)
    scripted.add("/files/a.csv", (200, {}, b""))
    with pytest.raises(Unavailable, match="only 0 of 10 bytes"):
        client.download("csv", tmp_path, release=4)
    assert len([request for request in scripted.requests if "/files/" in request]) == 6


def test_a_query_of_another_media_type_or_without_its_end_is_requested_again(
    scripted: ScriptedService, client: Client, tmp_path: Path
) -> None:
    headers = {"content-type": "application/x-ndjson", "outbreaks-count": "2", "outbreaks-release": "4"}
    page: Reply = (200, {}, b'{"data":[],"has_more":false,"next_page":null}\n')
    scripted.add("/outbreaks", page, (200, headers, NDJSON[:-5]), (200, headers, NDJSON))
    assert client.records().save(tmp_path / "records.ndjson").read_bytes() == NDJSON
    assert len([request for request in scripted.requests if "outbreaks" in request]) == 3


@pytest.mark.parametrize(
    ("name", "media_type", "body"),
    [
        ("a.csv", "text/csv", b'id,note\n1,"two\nlines"\n'),
        ("a.ndjson", "application/x-ndjson", NDJSON[:19]),
    ],
)
def test_a_query_with_another_number_of_records_is_damaged(
    scripted: ScriptedService, client: Client, tmp_path: Path, name: str, media_type: str, body: bytes
) -> None:
    scripted.add("/outbreaks", (200, {"content-type": media_type, "outbreaks-count": "2"}, body))
    with pytest.raises(Damaged, match="counted 2 records"):
        client.records().save(tmp_path / name)
    assert list(tmp_path.glob("a.*")) == []
    scripted.add("/outbreaks", (200, {"content-type": media_type, "outbreaks-count": "1"}, body))
    assert client.records().save(tmp_path / name).read_bytes() == body


@pytest.mark.parametrize(
    ("name", "media_type", "cut", "whole"),
    [
        ("a.parquet", "application/vnd.apache.parquet", b"PAR1...", b"PAR1...PAR1"),
        ("a.geojson", "application/geo+json", b'{"features":[', b'{"x":{"complete":true}}\n'),
        ("a.arrow", "application/vnd.apache.arrow.stream", b"....", b"....\xff\xff\xff\xff\x00\x00\x00\x00"),
    ],
)
def test_a_file_without_its_end_is_requested_again(
    scripted: ScriptedService, client: Client, tmp_path: Path, name: str, media_type: str, cut: bytes, whole: bytes
) -> None:
    headers = {"content-type": media_type}
    scripted.add("/outbreaks", (200, headers, cut), (200, headers, whole))
    assert client.records().save(tmp_path / name).read_bytes() == whole


def test_records_with_another_digest_are_damaged(scripted: ScriptedService, client: Client, tmp_path: Path) -> None:
    files = {"a.ndjson": NDJSON}
    scripted.add_release(files, digest="0" * 64, records=2)
    for ask in (lambda: client.verify(4), lambda: client.sync(tmp_path / "copy", release=4)):
        with pytest.raises(Damaged):
            ask()
    assert not (tmp_path / "copy/records.parquet").exists()
    scripted.add_release(files, digest=digest_lines(LINES), records=3)
    with pytest.raises(Damaged, match="differ from those of release 4"):
        client.verify(4)
    with pytest.raises(Damaged, match="2 records, and the release 3"):
        client.sync(tmp_path / "copy", release=4)
    assert not (tmp_path / "copy/records.parquet").exists()
    scripted.add_release(files, digest=digest_lines(LINES), records=2)
    assert client.sync(tmp_path / "copy", release=4).records == client.verify(4)["records"] == 2


def test_a_parquet_file_with_another_number_of_records_is_damaged(
    scripted: ScriptedService, client: Client, tmp_path: Path
) -> None:
    write_parquet(LINES, tmp_path / "a.parquet", {})
    scripted.add_release({"a.parquet": (tmp_path / "a.parquet").read_bytes()}, digest="", records=3)
    loaded = client.load(4)
    assert repr(loaded) == "<outbreaks.LoadedRelease 4: 3 records>"
    with pytest.raises(Damaged, match="2 records, and the release 3"):
        loaded.to_pandas()


def test_a_parquet_file_of_a_later_version_keeps_its_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1], "new_field": ["x"]}), tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet").to_pylist() == [{"id": 1, "new_field": "x"}]


def test_answers_that_lack_what_they_promise_are_damaged(scripted: ScriptedService, client: Client) -> None:
    scripted.add("/series", (200, {}, []))
    scripted.add("/outbreaks", (200, {}, {"data": []}))
    with pytest.raises(Damaged, match="not an object"):
        client.series(interval="year")
    with pytest.raises(Damaged, match="does not name its release"):
        client.release("2020-03-01")


def test_nan_is_not_json_and_a_token_must_be_there(scripted: ScriptedService, client: Client) -> None:
    scripted.add("/oauth/token", (200, {}, {"error": "no token"}), TOKEN)
    scripted.add("/series", (200, {}, b'{"points":[NaN]}'), (200, {}, {"points": []}))
    assert client.series(interval="year") == {"points": []}
    assert [request.partition("?")[0].rpartition("/")[2] for request in scripted.requests] == [
        "token",
        "token",
        "series",
        "series",
    ]


def test_a_warning_with_an_error_filter_is_an_exception(scripted: ScriptedService, client: Client) -> None:
    scripted.add("/series", (200, {"outbreaks-warning": "disease=x matches no records."}, {"points": []}))
    with pytest.raises(UserWarning, match="matches no records"):
        client.series(interval="year", disease="x")


def test_changes_of_an_unknown_kind_are_damaged() -> None:
    for change in (b'{"id":1,"change":"moved","after":null}', b'{"id":1,"change":"added","after":null}', b"[]"):
        with pytest.raises(Damaged):
            list(apply_changes([], [change]))


def test_a_date_that_does_not_exist_is_no_retry_after() -> None:
    from datetime import UTC, datetime

    assert parse_retry_after("Fri, 99 Jan 2026 03:04:15 GMT", datetime.now(UTC)) is None


def test_an_incomplete_problem_is_still_an_error() -> None:
    body = json.dumps({"code": "not_comparable", "mixed": [{}], "choices": [{}]}).encode()
    error = to_error(400, body)
    assert isinstance(error, NotComparable)
    assert (error.mixed, error.choices) == ([], [])


def test_an_error_under_the_lock_is_not_lost(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked(tmp_path / "lock"):
        (tmp_path / "missing").read_bytes()


def test_a_service_that_is_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    with Client("http://127.0.0.1:9", "client", "secret") as client, pytest.raises(Unavailable) as raised:
        client.release()
    assert raised.value.code == "no_answer"
    assert "refused" in str(raised.value)
