"""A walk requests the next page while it parses this one. It must have the requests and errors of one that does not."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import Respond

from outbreaks import Client, Gone

PAGES = 5


def render_page(number: int) -> bytes:
    """A page of two records as the service writes it."""
    records = ",\n".join(json.dumps({"id": 2 * number + i, "note": '],"has_more":true'}) for i in (1, 2))
    after = number + 1 < PAGES
    cursor = f'"c{number + 1}"' if after else "null"
    return f'{{"data":[{records}],"has_more":{str(after).lower()},"next_page":{cursor}}}'.encode()


class PagedService:
    """A service with five pages. `faults` has the answers that come before that of a page, or of the token endpoint."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.tokens = 0
        self.expires_in = 86_400
        self.faults: dict[str, list[tuple[int, dict[str, str], Any]]] = {}

    def respond(self, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        if path == "/oauth/token":
            self.tokens += 1
            return 200, {}, {"access_token": f"token-{self.tokens}", "expires_in": self.expires_in}
        page = path.partition("page=c")[2] or "0"
        self.requests.append(page)
        if faults := self.faults.get(page):
            return faults.pop(0)
        assert headers["authorization"] == f"Bearer token-{self.tokens}"
        return 200, {"outbreaks-release": "4"}, render_page(int(page))

    def wait_for(self, requests: int) -> None:
        deadline = time.monotonic() + 10
        while len(self.requests) < requests and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self.requests) >= requests


@pytest.fixture
def paged() -> PagedService:
    return PagedService()


@pytest.fixture
def client(paged: PagedService, start_server: Callable[[Respond], str]) -> Iterator[Client]:
    with Client(start_server(paged.respond), "client", "secret") as opened:
        yield opened


ALL = list(range(1, 2 * PAGES + 1))
EACH_ONCE = ["0", "1", "2", "3", "4"]


def read_ids(client: Client) -> list[int]:
    return [record["id"] for record in client.records()]


def test_the_next_page_is_requested_before_this_one_is_handled(paged: PagedService, client: Client) -> None:
    walk = iter(client.records())
    assert [next(walk)["id"] for _ in range(2)] == [1, 2]
    assert paged.requests == ["0"]
    assert next(walk)["id"] == 3
    paged.wait_for(3)
    assert [record["id"] for record in walk] == ALL[3:]
    assert paged.requests == EACH_ONCE


def test_a_walk_that_stops_has_sent_at_most_one_request_more(paged: PagedService, client: Client) -> None:
    walk = client.records()
    records = iter(walk)
    assert [next(records)["id"] for _ in range(3)] == [1, 2, 3]
    paged.wait_for(3)
    time.sleep(0.1)
    assert paged.requests == ["0", "1", "2"]
    # The cursor is that of the page which is not handled yet, not of the page that was requested.
    assert walk.cursor == "c1"
    assert [record["id"] for record in client.records(cursor=walk.cursor)] == ALL[2:]


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"retry-after": "0"}, {"code": "quota_exceeded", "detail": "Later."}),
        (503, {"retry-after": "0"}, b"<h1>Unavailable</h1>"),
        (200, {"outbreaks-release": "4"}, render_page(2)[:40]),
        # The end is there, but the page is not JSON: the page after it has already been requested.
        (200, {"outbreaks-release": "4"}, render_page(2).replace(b'"id"', b'"id')),
    ],
)
def test_a_page_that_fails_ahead_is_requested_again(paged: PagedService, client: Client, fault: Any) -> None:
    paged.faults["2"] = [fault, fault]
    assert read_ids(client) == ALL
    assert sorted(paged.requests) == ["0", "1", "2", "2", "2", "3", "4"]


def test_it_waits_as_long_as_the_service_says(paged: PagedService, client: Client) -> None:
    paged.faults["2"] = [(429, {"retry-after": "1"}, {"code": "quota_exceeded", "detail": "Later."})]
    start = time.monotonic()
    assert read_ids(client) == ALL
    assert time.monotonic() - start >= 1


def test_a_token_that_is_revoked_ahead_is_renewed_once(paged: PagedService, client: Client) -> None:
    paged.faults["3"] = [(401, {}, {"code": "invalid_token", "detail": "The token was revoked."})]
    assert read_ids(client) == ALL
    assert paged.tokens == 2
    assert paged.requests == ["0", "1", "2", "3", "3", "4"]


def test_a_token_that_must_be_renewed_is_not_renewed_ahead(paged: PagedService, client: Client) -> None:
    paged.expires_in = 30
    walk = iter(client.records())
    assert [next(walk)["id"] for _ in range(3)] == [1, 2, 3]
    time.sleep(0.1)
    assert (paged.requests, paged.tokens) == (["0", "1"], 2)
    assert [record["id"] for record in walk] == ALL[3:]
    assert paged.requests == EACH_ONCE


def test_an_error_ahead_is_raised_when_its_page_is_reached(paged: PagedService, client: Client) -> None:
    paged.faults["2"] = [(410, {}, {"code": "release_pruned", "detail": "It was pruned."})]
    walk, seen = client.records(), list[int]()
    with pytest.raises(Gone):
        seen.extend(record["id"] for record in walk)
    assert seen == ALL[:4]
    assert walk.cursor == "c2"


def test_without_threads_the_walk_is_complete(
    paged: PagedService, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        # The server of the test needs its threads.
        if "receive" in thread.name:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert read_ids(client) == ALL
    assert paged.requests == EACH_ONCE


def test_a_client_that_is_closed_meanwhile_ends_quietly(paged: PagedService, client: Client) -> None:
    walk = iter(client.records())
    for _ in range(3):
        next(walk)
    client.close()
    paged.wait_for(2)
