"""The exchange cases of the shared vectors: each verb against the scripted server, with broken answers."""

from __future__ import annotations

import base64
import json
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from outbreaks import Client, NotComparable, OutbreaksError, OutbreaksWarning, Walk

VECTORS = Path(__file__).parents[2] / "vectors"
ANSWERS: dict[str, Any] = json.loads((VECTORS / "answers.json").read_text(encoding="utf-8"))


def body_of(answer: str) -> bytes:
    body = str(ANSWERS[answer]["body"])
    return base64.b64decode(body) if ANSWERS[answer].get("base64") else body.encode()


def at_pointer(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def resolve(members: dict[str, Any]) -> Any:
    """An object of the vectors; for a reference, the body of the answer or what is at this pointer of it."""
    if "body_of" not in members:
        return members
    body = body_of(members["body_of"])
    return at_pointer(json.loads(body), members["at"]) if "at" in members else body.decode()


EXCHANGES: dict[str, Any] = json.loads((VECTORS / "exchanges.json").read_text(encoding="utf-8"), object_hook=resolve)
# The HTTP library does not show trailers, and coverage() has a default for `by`.
CASES = [case for case in EXCHANGES["cases"] if case.get("needs") not in ("trailers", "optional_by")]


class Result:
    """What a call has returned or left behind, also if it failed."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.walk: Walk[Any] | None = None
        self.value: Any = None


def start_walk(client: Client, asked: dict[str, Any]) -> Walk[Any]:
    match asked["verb"]:
        case "changes":
            return client.changes(asked["from"], asked["to"])
        case "history":
            return client.history(asked["id"])
        case "releases":
            return client.releases()
        case "events":
            return client.events(**asked.get("filters", {}), release=asked.get("release"))
    return client.records(**asked.get("filters", {}), release=asked.get("release"), cursor=asked.get("cursor"))


def call_for_file(client: Client, asked: dict[str, Any], directory: Path, result: Result) -> None:
    if asked["verb"] == "download":
        name = f"hed-outbreaks-4.{asked['format']}.gz"
        if "have" in asked:
            have = asked["have"]
            part = body_of(have["answer"])[: have.get("bytes")] + have.get("extra", "").encode()
            (directory / f"{name}.part").write_bytes(part)
        client.download(asked["format"], directory, release=asked.get("release"))
    elif asked["verb"] == "records_file":
        records = client.records(**asked.get("filters", {}), release=asked.get("release"))
        path = records.save(directory / f"records.{asked['format']}")
        result.items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        result.walk = records
    elif asked["verb"] == "verify":
        result.value = client.verify(asked["release"])
    else:
        result.value = client.sync(directory / "copy", release=asked["to"])


def call_watch(client: Client, asked: dict[str, Any], result: Result) -> None:
    filters = asked.get("filters", {})
    match asked["verb"]:
        case "watch":
            result.value = client.watch(asked["when"], name=asked["name"], **filters)
        case "preview_watch":
            result.value = client.preview_watch(asked["when"], releases=asked["releases"], **filters)
        case "watches":
            result.items = client.watches()["data"]
        case "change_watch":
            result.value = client.change_watch(asked["watch"], **asked["change"])
        case "delete_watch":
            client.delete_watch(asked["watch"])
        case "notices":
            result.value = client.notices(asked.get("watch"), after=asked.get("after", 0), wait=asked.get("wait", 0))


def call(client: Client, case: dict[str, Any], directory: Path, result: Result) -> None:
    asked = case["call"]
    verb, filters, release = asked["verb"], asked.get("filters", {}), asked.get("release")
    if verb in ("records", "events", "releases", "changes", "history"):
        result.walk = start_walk(client, asked)
        for item in result.walk:
            result.items.append(item)
    elif verb in ("series", "sums", "facets", "coverage"):
        result.value = getattr(client, verb)(**filters, release=release)
    elif verb == "vintages":
        result.value = client.vintages(**filters)
    elif verb == "search":
        result.value = client.search(asked["q"], release=release)
    elif verb == "release":
        result.value = client.release(asked["number"])
    elif verb == "cite":
        result.value = client.cite(**filters, release=release, format=asked.get("format"))
    elif "watch" in verb or verb == "notices":
        call_watch(client, asked, result)
    else:
        call_for_file(client, asked, directory, result)


def check_error(error: OutbreaksError, expected: dict[str, Any]) -> None:
    assert type(error).__name__ == expected["class"], str(error)
    for name in expected.keys() - {"class", "choices"}:
        assert getattr(error, name) == expected[name]
    if "choices" in expected:
        assert isinstance(error, NotComparable)
        assert [choice["query"] for choice in error.choices] == expected["choices"]


def check_files(directory: Path, expected: dict[str, Any]) -> None:
    files = [path for path in directory.iterdir() if path.is_file() and path.suffix != ".part"]
    if "file" in expected and expected["file"] is None:
        assert files == []
    elif "file" in expected:
        [data] = [path.read_bytes() for path in files]
        assert data == body_of(expected["file"])
    parts = [path.stat().st_size for path in directory.glob("*.part")]
    assert parts in ([], [0]) if "part_bytes" not in expected else parts == [expected["part_bytes"]]


def put_copy(directory: Path, copy: dict[str, Any]) -> None:
    digest = json.loads(body_of(f"release-{copy['release']}"))["digest"]
    state = directory / "copy/.outbreaks"
    state.mkdir(parents=True)
    (state / f"{copy['release']}-{digest}.ndjson").write_bytes(body_of(copy["answer"]))


def check_copy(directory: Path, copy: dict[str, Any], done: Any, expected: dict[str, Any] | None) -> None:
    [lines] = (directory / "copy/.outbreaks").glob("*.ndjson")
    if expected is None:
        assert lines.read_bytes() == body_of(copy["answer"])
        assert not (directory / "copy/records.parquet").exists()
        return
    assert lines.read_bytes() == body_of(expected["answer"])
    for name in expected.keys() - {"answer"}:
        assert getattr(done, name) == expected[name]
    assert pq.read_table(done.path).num_rows == lines.read_bytes().count(b"\n")


def check_result(result: Result, expected: dict[str, Any]) -> None:
    ids = [item["id"] for item in result.items] if "ids" in expected or "ids_before_error" in expected else []
    if "ids" in expected:
        assert ids == expected["ids"]
    if "ids_before_error" in expected:
        assert ids == expected["ids_before_error"]
    if "items" in expected:
        assert len(result.items) == len(expected["items"])
        for item, members in zip(result.items, expected["items"], strict=True):
            assert item.items() >= members.items()
    if "cursor" in expected:
        assert result.walk is not None
        assert result.walk.cursor == expected["cursor"]
    if "release" in expected:
        answer = result.value if result.walk is None else result.walk
        assert answer.release == expected["release"]
    for pointer, value in expected.get("values", {}).items():
        assert at_pointer(result.value, pointer) == value
    if "text" in expected:
        assert result.value == expected["text"]


@pytest.fixture
def report(scripted_server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the case; afterwards the requests must have been exactly those of the script."""
    address = f"{scripted_server}/cases/{request.getfixturevalue('case')['name']}"
    yield address
    with urllib.request.urlopen(address, timeout=10) as response:  # noqa: S310
        found = json.load(response)
    assert found["passed"], found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_exchange(case: dict[str, Any], report: str, tmp_path: Path) -> None:
    expected, result = case["expect"], Result()
    if "copy" in case["call"]:
        put_copy(tmp_path, case["call"]["copy"])
    with (
        Client(report, "client", "secret", cache=tmp_path / "cache") as client,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        asked = client.as_of(case["call"]["as_of"]) if "as_of" in case["call"] else client
        if "error" in expected:
            with pytest.raises(OutbreaksError) as raised:
                call(asked, case, tmp_path, result)
            check_error(raised.value, expected["error"])
        else:
            call(asked, case, tmp_path, result)
    check_result(result, expected)
    check_files(tmp_path, expected)
    if "copy" in expected:
        check_copy(tmp_path, case["call"]["copy"], result.value, expected["copy"])
    assert [str(warning.message) for warning in caught] == expected.get("warnings", [])
    assert all(warning.category is OutbreaksWarning for warning in caught)
