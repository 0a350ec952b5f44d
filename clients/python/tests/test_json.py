"""JSON: msgspec and the standard library must read the same values, and refuse the same texts."""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import pytest

from outbreaks import _json
from outbreaks._json import parse_json, write_json

VALID = [
    b'{"data":[{"id":9007199254740993,"name":"\\u00e9\\ud83d\\ude00 \xc3\xa9","missing":null,"on":true}]}',
    b"[18446744073709551615,18446744073709551616,-9223372036854775809,123456789012345678901234567890]",
    b"[0,-0,-0.0,1.0,1e2,1E400,-1e-400,0.1,9007199254740993.0,2.2250738585072011e-308]",
    b'["\\ud800","\xed\xa0\x80","\\u0000","\\/","\x7f"]',
    b'{"a":1,"a":2}',
    b' \n{"a":[]}\r\n',
    b"\xef\xbb\xbf[1]",
    '["é"]'.encode("utf-16"),
]
INVALID = [
    *(b"", b"{", b"[1,]", b"01", b"1.", b"[NaN]", b"[Infinity]", b"-Infinity", b'{"a":1}x', b"{'a':1}"),
    *(b'"a\nb"', b'"a\x01b"', b'"\xff"', '"é"'.encode("latin-1"), b'{"data":[{"id":1},\n{"id":'),
]


@pytest.fixture(params=["msgspec", "standard library"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "standard library":
        monkeypatch.setattr(_json, "msgspec", None)
    else:
        assert "msgspec" in sys.modules


def describe(value: object) -> Any:
    """The value with its type: 1, 1.0 and True are equal in Python."""
    if isinstance(value, dict):
        return {name: describe(each) for name, each in value.items()}
    return [describe(each) for each in value] if isinstance(value, list) else repr(value)


@pytest.mark.parametrize("text", VALID)
def test_values_are_those_of_the_standard_library(text: bytes) -> None:
    assert describe(parse_json(text)) == describe(json.loads(text))


@pytest.mark.parametrize("text", INVALID)
def test_what_is_not_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_numbers_are_exact() -> None:
    draw = random.Random(1)
    numbers = [draw.uniform(-180, 180) * 10.0 ** draw.randint(-300, 300) for _ in range(5000)]
    texts = [*map(repr, numbers), *(f"{number:.25g}" for number in numbers), *(str(int(number)) for number in numbers)]
    text = f"[{','.join(texts)}]".encode()
    assert describe(parse_json(text)) == describe(json.loads(text))


def test_json_is_written_without_spaces() -> None:
    assert write_json({"a": [1, 2.5, "é"], "b": None}) == '{"a":[1,2.5,"é"],"b":null}'
