"""The rules of the client that need no data: settings, parameters, tokens of several threads, inconsistent answers."""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import Respond

from outbreaks import Client, Damaged, Gone, InvalidParameter, OutbreaksError, Records, Unavailable
from outbreaks._frames import write_parquet
from outbreaks._http import encode_params
from outbreaks._progress import open_progress
from outbreaks.errors import to_error

Start = Callable[[Respond], str]
TOKEN = {"access_token": "token-1", "token_type": "Bearer", "expires_in": 86400}


def test_the_environment_configures_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OUTBREAKS_URL", "OUTBREAKS_CLIENT_ID", "OUTBREAKS_CLIENT_SECRET", "OUTBREAKS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidParameter) as raised:
        Client()
    assert raised.value.parameter == "OUTBREAKS_URL"
    monkeypatch.setenv("OUTBREAKS_URL", "https://data.example.org/")
    with pytest.raises(InvalidParameter, match="OUTBREAKS_CLIENT_ID"):
        Client()
    with pytest.raises(InvalidParameter, match="not a URL"):
        Client("data.example.org", "id", "secret")
    monkeypatch.setenv("OUTBREAKS_CLIENT_ID", "id")
    monkeypatch.setenv("OUTBREAKS_CLIENT_SECRET", "very secret")
    with Client() as client:
        assert repr(client.as_of(3)) == "<outbreaks.Client https://data.example.org hed-outbreaks as of 3>"
        assert "secret" not in repr(client)


def test_parameters_are_sent_as_the_service_reads_them() -> None:
    params = {
        "from_": 3,
        "composite": False,
        "country_code": ["HT", "DO"],
        "fields": ["id", "event"],
        "bbox": (-10, 5.5, 20, 30),
        "date_from": date(2020, 3, 1),
    }
    assert encode_params(params) == [
        ("from", "3"),
        ("composite", "false"),
        ("country_code", "HT"),
        ("country_code", "DO"),
        ("fields", "id,event"),
        ("bbox", "-10,5.5,20,30"),
        ("date_from", "2020-03-01"),
    ]


@pytest.mark.parametrize("value", [None, [], (), {"a": 1}, datetime(2020, 1, 1, tzinfo=UTC), [None]])
def test_a_filter_that_would_be_lost_is_an_error(value: Any) -> None:
    with pytest.raises(InvalidParameter) as raised:
        encode_params({"event": value})
    assert raised.value.parameter == "event"


def test_offline_nothing_is_requested(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:9", offline=True, cache=tmp_path) as client:
        for ask in (lambda: list(client.records()), client.release, client.load, lambda: client.load(4)):
            with pytest.raises(Unavailable) as raised:
                ask()
            assert raised.value.code == "offline"


def test_threads_share_one_token_and_renew_it_once(start_server: Start) -> None:
    issued: list[str] = []
    lock = threading.Lock()

    def respond(path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        if path == "/oauth/token":
            time.sleep(0.05)
            with lock:
                issued.append(f"token-{len(issued) + 1}")
                return 200, {}, {**TOKEN, "access_token": issued[-1]}
        if headers["authorization"] == "Bearer token-1":
            return 401, {}, {"code": "invalid_token", "detail": "The token was revoked."}
        return 200, {"outbreaks-release": "4"}, {"data": [], "total": 0}

    with Client(start_server(respond), "client", "secret") as client, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: client.search("x").release, range(32)))
    assert found == [4] * 32
    assert issued == ["token-1", "token-2"]


def serve(pages: dict[str, tuple[dict[str, str], Any]]) -> Respond:
    def respond(path: str, _: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        if path == "/oauth/token":
            return 200, {}, TOKEN
        headers, body = pages[("page=" in path and "second") or "first"]
        return 200, headers, body

    return respond


FIRST = {"data": [{"id": 1}, {"id": 2}], "has_more": True, "next_page": "c2"}
LAST = {"data": [{"id": 3}], "has_more": False, "next_page": None}


def open_walk(start_server: Start, first: Any, second: Any = LAST, second_release: str = "4") -> Client:
    pages = {"first": ({"outbreaks-release": "4"}, first), "second": ({"outbreaks-release": second_release}, second)}
    return Client(start_server(serve(pages)), "client", "secret")


@pytest.mark.parametrize("page", [[], {"data": []}, {"data": {}, "has_more": False}, {**FIRST, "next_page": None}])
def test_a_page_that_is_not_one_is_damaged(start_server: Start, page: Any) -> None:
    with open_walk(start_server, page) as client, pytest.raises(Damaged):
        list(client.records())


@pytest.mark.parametrize("record", [{}, [], None, 5])
def test_a_record_without_fields_is_damaged(start_server: Start, record: Any) -> None:
    with open_walk(start_server, {**LAST, "data": [{"id": 1}, record]}) as client:
        for convert in (Records.to_pandas, Records.to_polars, Records.to_arrow):
            with pytest.raises(Damaged, match="without fields"):
                convert(client.records())


def test_pandas_and_polars_without_arrow(start_server: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_walk(start_server, FIRST) as client:
        walk = client.records()
        with_arrow = walk.to_pandas(), walk.to_polars()
        monkeypatch.setattr("outbreaks._frames.has_arrow", lambda: False)
        pd.testing.assert_frame_equal(walk.to_pandas(), with_arrow[0])
        assert walk.to_polars().equals(with_arrow[1])


def test_a_page_of_another_release_is_damaged(start_server: Start) -> None:
    with open_walk(start_server, FIRST, second_release="5") as client, pytest.raises(Damaged, match="of release 5"):
        list(client.records())


def test_the_cursor_moves_when_the_last_record_of_a_page_was_handled(start_server: Start) -> None:
    with open_walk(start_server, FIRST) as client:
        walk = client.records()
        seen = [(record["id"], walk.cursor) for record in walk]
        assert seen == [(1, None), (2, None), (3, "c2")]
        assert (walk.cursor, walk.finished) == (None, True)
        assert [(len(page), walk.cursor) for page in walk.pages()] == [(2, "c2"), (1, None)]
        # A frame has all records, also after a walk that was not finished.
        next(iter(walk))
        assert walk.to_pandas()["id"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("body", [[], {"number": 4}, "text"])
def test_an_answer_that_is_not_a_release_is_damaged(start_server: Start, body: Any) -> None:
    with open_walk(start_server, body) as client:
        for ask in (
            client.release,
            client.cite,
            lambda: client.link("sums"),
            client.load,
            lambda: client.watch("changes"),
            client.watches,
            client.notices,
        ):
            with pytest.raises(Damaged):
                ask()


def test_a_file_name_with_a_folder_is_refused(start_server: Start, tmp_path: Path) -> None:
    file = {"name": "../../evil.csv", "bytes": 1, "sha256": "0" * 64}
    release = {"number": 4, "digest": "0" * 64, "records": 1, "files": [file]}
    with open_walk(start_server, release) as client, pytest.raises(Damaged, match="invalid name"):
        client.download("csv", tmp_path)


def test_a_day_is_not_kept_for_offline(start_server: Start, tmp_path: Path) -> None:
    path = tmp_path / "hed-outbreaks-4.parquet"
    write_parquet([b'{"id":1}', b'{"id":2}'], path, {})
    body = path.read_bytes()
    file = {"name": path.name, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}

    def respond(path: str, _: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        if path == "/oauth/token":
            return 200, {}, TOKEN
        if "?" in path:
            return 200, {"outbreaks-release": "4"}, {"data": [], "has_more": False, "next_page": None}
        release = {"number": 4, "digest": "0" * 64, "records": 2, "files": [file]}
        return 200, {}, body if "/files/" in path else release

    url = start_server(respond)
    with Client(url, "client", "secret", cache=tmp_path / "cache") as client:
        assert client.as_of(date(2020, 3, 1)).load().to_pandas()["id"].tolist() == [1, 2]
    with Client(url, cache=tmp_path / "cache", offline=True) as offline:
        assert offline.load(4).number == 4
        with pytest.raises(Unavailable, match="Releases in the cache: 4"):
            offline.load("2020-03-01")


def test_redirects_are_not_followed(start_server: Start) -> None:
    def respond(path: str, _: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        return (200, {}, TOKEN) if path == "/oauth/token" else (302, {"location": "http://127.0.0.1:9/"}, {})

    with Client(start_server(respond), "client", "secret") as client, pytest.raises(OutbreaksError, match="http_302"):
        client.release()


def test_errors_can_be_sent_between_processes() -> None:
    error = to_error(410, b'{"code":"release_pruned","detail":"It was pruned.","request_id":"r"}')
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert isinstance(copied, Gone)
    assert (str(copied), copied.code, copied.request_id) == (str(error), "release_pruned", "r")


def test_progress_is_shown_only_to_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for progress in (None, False):
        with open_progress(progress, "file", 10) as show:
            show(10)
    assert capsys.readouterr().err == ""
    with open_progress(True, "file", 10) as show:
        show(4)
        show(10)
    assert "10.0/10.0" in capsys.readouterr().err
    calls: list[tuple[int, int]] = []
    with open_progress(lambda done, total: calls.append((done, total)), "file", 10) as show:
        show(4)
    assert calls == [(4, 10)]
