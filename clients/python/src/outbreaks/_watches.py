"""Watched questions: the requests, and what a watch says as rows."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final, Literal, TypedDict
from urllib.parse import quote, urlencode

from . import _frames
from ._answers import Table, emit_warning, to_table, without
from ._generated.record import ColumnType
from ._http import Answer, Connection, Params, encode_params
from .errors import Damaged

_POLL_SECONDS: Final = 5.0
_FIRST: Final[dict[str, ColumnType]] = {"release": "integer", "time": "text", "type": "text", "title": "text"}
_ENVELOPE: Final = ("specversion", "source", "datacontenttype", "data")
_NESTED: Final = ("before", "after", "links")


class WatchChange(TypedDict, total=False):
    """What can be changed of a watch. What is left out stays as it is."""

    state: Literal["active", "paused"]
    name: str
    # The id of an endpoint; None ends the delivery.
    endpoint: str | None


class Notices(Table):
    """What a watch said, or would have said, or what happened to the dataset. A data frame has a line for each notice.

    `["next_after"]` is the `after` of the next request; a preview has `["judged"]`, the releases that it is about.
    """

    def _types(self) -> dict[str, ColumnType]:
        counts: dict[str, ColumnType] = {
            f"{side}_{count}": "integer"
            for side in ("before", "after")
            for notice in self["data"]
            for count in notice["data"].get(side) or {}
        }
        return {**_FIRST, **counts}

    def rows(self) -> Iterable[dict[str, Any]]:
        for notice in self["data"]:
            said = notice["data"]
            nested = {name: said.get(name) or {} for name in _NESTED}
            yield {**without(notice, *_ENVELOPE), **without(said, *_NESTED), **_frames.flatten(nested)}


def _path_of(watch: str) -> str:
    return f"watches/{quote(watch, safe='')}"


def _require_members(answer: Answer, *names: str) -> Answer:
    if not isinstance(answer.body, dict) or not set(names) <= answer.body.keys():
        raise Damaged("the answer is not one about watches")
    for text in answer.body.get("warnings", []):
        emit_warning(text)
    return answer


def _write_question(question: Params) -> str:
    return urlencode(encode_params(question))


def create_watch(connection: Connection, question: Params, members: dict[str, str | None]) -> dict[str, Any]:
    given = {name: value for name, value in members.items() if value is not None}
    body = {"question": _write_question(question), **given}
    # A second request would create a second watch.
    answer = connection.request("POST", "watches", body, once=True)
    return dict(_require_members(answer, "id", "state").body)


def preview_watch(connection: Connection, question: Params, when: str, releases: int | None) -> Notices:
    body = {"question": _write_question(question), "when": when}
    answer = connection.request("POST", "watches/preview", body if releases is None else {**body, "releases": releases})
    return to_table(_require_members(answer, "data", "judged"), Notices, question)


def list_watches(connection: Connection) -> Table:
    return to_table(_require_members(connection.get("watches", {}), "data"), Table, {})


def change_watch(connection: Connection, watch: str, change: WatchChange) -> dict[str, Any]:
    return dict(_require_members(connection.request("PATCH", _path_of(watch), change), "id", "state").body)


def delete_watch(connection: Connection, watch: str) -> None:
    # A second request would find no watch.
    connection.request("DELETE", _path_of(watch), once=True)


def read_notices(connection: Connection, watch: str | None, after: int, wait: float) -> Notices:
    """All notices after a number. If there are none, asks again until there are, or until the seconds have passed."""
    path = "notices" if watch is None else f"{_path_of(watch)}/notices"
    deadline = time.monotonic() + wait
    while True:
        found = _read_pages(connection, path, after)
        remaining = deadline - time.monotonic()
        if found["data"] or remaining <= 0:
            return found
        time.sleep(min(_POLL_SECONDS, remaining))


def _read_pages(connection: Connection, path: str, after: int) -> Notices:
    data: list[Any] = []
    while True:
        answer = _require_members(connection.get(path, {"after": after}), "data", "has_more", "next_after")
        data += answer.body["data"]
        if not answer.body["has_more"]:
            return to_table(Answer({**answer.body, "data": data}, answer.headers), Notices, {})
        if answer.body["next_after"] <= after:
            raise Damaged("there are more notices, but the answer does not say after which")
        after = answer.body["next_after"]
