"""The errors and the warning of the package: one class for each thing that a caller can do about it."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, TypedDict

from ._summary import describe_set


class OutbreaksWarning(UserWarning):
    """The service has a warning about a request, such as a filter value that matches no records."""


class ChoiceWarning(OutbreaksWarning):
    """The service chose how to count. The text says how, and how many other ways were left out."""


class OutbreaksError(Exception):
    """The base class of all errors of the service and of damaged data."""

    def __init__(
        self,
        detail: str,
        *,
        status: int = 0,
        code: str = "",
        parameter: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        """The HTTP status; 0 if no complete response arrived or no request was sent."""
        self.code = code
        """What happened. The page Errors of the service lists the codes."""
        self.parameter = parameter
        self.request_id = request_id
        self.retry_after = retry_after
        """The number of seconds after which the service wants the next request."""

    def __str__(self) -> str:
        place = f", parameter {self.parameter}" if self.parameter else ""
        request = f" [request {self.request_id}]" if self.request_id else ""
        return f"{self.code} ({self.status}{place}): {self.detail}{request}"


class InvalidParameter(OutbreaksError):
    """The request is wrong. `parameter` names what to change."""


class Choice(TypedDict):
    """A set of records whose counts can be added up. `Client.follow` asks for it."""

    words: str
    values: dict[str, Any]
    counts: dict[str, int | None]
    records: int
    first_day: str | None
    last_day: str | None
    query: str | None
    url: str | None


_SHOWN_CHOICES: Final = 5


class NotComparable(InvalidParameter):
    """No way of counting is clearly the best. `mixed` names the fields that differ; `choices` lists comparable sets."""

    def __init__(self, detail: str, **more: Any) -> None:
        super().__init__(detail, **more)
        self.mixed: list[str] = []
        self.choices: list[Choice] = []
        self.choices_total = 0
        """The number of comparable sets, listed or not."""
        self.group_by: list[str] = []
        """The fields that separate different things, such as two diseases."""

    def __str__(self) -> str:
        shown = self.choices[:_SHOWN_CHOICES]
        lines = [f"  choices[{i}]: {describe_set(choice)}" for i, choice in enumerate(shown)]
        if self.choices_total > len(shown) > 0:
            lines.append(f"  and {self.choices_total - len(shown):,} more")
        if any(choice.get("url") for choice in shown):
            lines.append(
                "Ask for one: client.follow(error.choices[0]). All of them: side_by_side=True, without group_by."
            )
        if self.group_by:
            lines.append(f"Each of them: group_by={self.group_by[0]!r}.")
        return "\n".join([super().__str__(), *lines])


class NotAllowed(OutbreaksError):
    """The client id, the secret or the permission is wrong."""


class NotFound(OutbreaksError):
    """The service does not have it."""


class Gone(OutbreaksError):
    """The release was pruned: its records can no longer be read."""


class Unavailable(OutbreaksError):
    """No response now. The same request may succeed later."""


class Damaged(OutbreaksError):
    """The data differs from what was published. Nothing of it was returned or saved under its final name."""

    def __init__(self, detail: str, *, status: int = 200, code: str = "damaged", **more: Any) -> None:
        super().__init__(detail, status=status, code=code, **more)


_CLASSES: Final[dict[int, type[OutbreaksError]]] = {
    0: Unavailable,
    400: InvalidParameter,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    408: Unavailable,
    410: Gone,
    429: Unavailable,
}


def _choose_class(status: int, code: str, source: Literal["api", "token"]) -> type[OutbreaksError]:
    if code == "not_comparable":
        return NotComparable
    if status >= 500:
        return Unavailable
    if source == "token" and status == 400:
        return NotAllowed
    return _CLASSES.get(status, OutbreaksError)


def _parse_object(body: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def to_error(
    status: int,
    body: bytes | None,
    *,
    source: Literal["api", "token"] = "api",
    retry_after: float | None = None,
    reason: str = "",
) -> OutbreaksError:
    """The error for a response: RFC 9457 problems, RFC 6749 errors, and anything that a proxy may send."""
    problem = _parse_object(body)

    def text(name: str) -> str | None:
        value = problem.get(name)
        return value if isinstance(value, str) else None

    known = text("error") if source == "token" else text("code")
    code = known or ("no_answer" if status == 0 else f"http_{status}")
    described = text("error_description") if source == "token" else text("detail") or text("title")
    fallback = reason or ("no complete response arrived" if status == 0 else f"the response has status {status}")
    error = _choose_class(status, code, source)(
        described or fallback,
        status=status,
        code=code,
        parameter=text("parameter"),
        request_id=text("request_id"),
        retry_after=retry_after,
    )
    if isinstance(error, NotComparable):
        error.mixed = [entry["field"] for entry in problem.get("mixed", []) if "field" in entry]
        error.choices = [choice for choice in problem.get("choices", []) if {"values", "query"} <= choice.keys()]
        error.choices_total = problem.get("choices_total", len(error.choices))
        error.group_by = problem.get("group_by", [])
    return error
