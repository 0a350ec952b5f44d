"""The pure cases of the shared vectors: digest, changes, retries, errors."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import outbreaks
from outbreaks import Damaged, NotComparable, OutbreaksError, apply_changes, digest_lines
from outbreaks._retry import ATTEMPTS, BASE_SECONDS, LONGEST_WAIT, decide
from outbreaks.errors import to_error

VECTORS = Path(__file__).parents[2] / "vectors"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VECTORS / name).read_text(encoding="utf-8"))
    return found


def about(case: dict[str, Any]) -> str:
    return str(case.get("about", ""))


def to_bytes(lines: list[str]) -> list[bytes]:
    return [line.encode() for line in lines]


@pytest.mark.parametrize("case", read("digest.json")["cases"], ids=about)
def test_digest(case: dict[str, Any]) -> None:
    lines = to_bytes(case["lines"])
    if case.get("error"):
        with pytest.raises(Damaged):
            digest_lines(lines)
    else:
        assert digest_lines(lines) == case["digest"]


@pytest.mark.parametrize("case", read("changes.json")["cases"], ids=about)
def test_changes(case: dict[str, Any]) -> None:
    lines, changes = to_bytes(case["lines"]), to_bytes(case["changes"])
    if case.get("error"):
        with pytest.raises(Damaged):
            list(apply_changes(lines, changes))
    else:
        after = list(apply_changes(lines, changes))
        assert after == to_bytes(case["after"])
        assert digest_lines(after) == case["digest"]


RETRY = read("retry.json")


@pytest.mark.parametrize(
    "case",
    RETRY["cases"],
    ids=lambda case: f"{case['status']}-{case['attempt']}-{case['retry_after']}{'-once' * case.get('once', False)}",
)
@pytest.mark.parametrize("random", [0.0, 0.5, 1.0])
def test_retry(case: dict[str, Any], random: float) -> None:
    decision = decide(
        case["status"],
        case["attempt"],
        renewed=case["renewed"],
        once=case.get("once", False),
        retry_after=case["retry_after"],
        now=datetime.fromisoformat(RETRY["now"]),
        random=random,
    )
    expected = case["decision"]
    if isinstance(expected, str):
        assert decision == expected
    elif isinstance(expected["wait"], list):
        low, high = expected["wait"]
        assert not isinstance(decision, str)
        assert low <= decision <= high
    else:
        assert decision == expected["wait"]


def test_the_limits_are_those_of_the_vectors() -> None:
    limits = {"attempts": ATTEMPTS, "base_seconds": BASE_SECONDS, "longest_wait": LONGEST_WAIT}
    assert limits == RETRY["limits"]


ERRORS = read("errors.json")


@pytest.mark.parametrize(
    "case", ERRORS["cases"], ids=lambda case: f"{case['from']}-{case['status']}-{case['error']['code']}"
)
def test_error(case: dict[str, Any]) -> None:
    body = None if case["body"] is None else case["body"].encode()
    error = to_error(case["status"], body, source=case["from"])
    expected = case["error"]
    assert type(error).__name__ == expected["class"]
    assert error.status == case["status"]
    for text in expected["message_has"]:
        assert text in str(error)
    for name in expected.keys() - {"class", "message_has"}:
        assert getattr(error, name) == expected[name]


def test_the_package_has_the_error_classes() -> None:
    for name in ERRORS["classes"]:
        assert issubclass(getattr(outbreaks, name), OutbreaksError)
    assert issubclass(NotComparable, outbreaks.InvalidParameter)
