"""JSON as Python values. If msgspec is installed, it reads them in less than half the time, with equal results."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

try:
    import msgspec
except ImportError:
    msgspec = None  # type: ignore[assignment]


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_STANDARD: Final = json.JSONDecoder(parse_constant=_reject_constant)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def parse_json(content: bytes | str) -> Any:
    """The value; ValueError if it is not one. NaN and Infinity are not JSON.

    What msgspec reads has the values of the standard library, also integers of more than 64 bits. It rejects more, for
    instance a half of a surrogate pair. Then the standard library decides.
    """
    if msgspec is not None:
        try:
            return msgspec.json.decode(content)
        except (msgspec.MsgspecError, UnicodeError):
            pass
    if isinstance(content, bytes):
        content = content.decode(json.detect_encoding(content), "surrogatepass")
    return _STANDARD.decode(content)


def write_json(value: object) -> str:
    """The text without spaces."""
    return _ENCODER.encode(value)
