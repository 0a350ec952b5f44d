"""Whether to send a request again, and when: pure functions, tested by the shared vectors."""

from __future__ import annotations

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final, Literal

ATTEMPTS: Final = 6
BASE_SECONDS: Final = 0.5
LONGEST_WAIT: Final = 120.0
_TRANSIENT: Final = frozenset({0, 408, 429, 500, 502, 503, 504})
# The service has certainly not acted on the request.
_NOT_ACTED_ON: Final = frozenset({429})
_SECONDS: Final = re.compile(r"[0-9]+")
# RFC 9110, section 5.6.7: the preferred format, which all servers send.
_HTTP_DATE: Final = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT", re.ASCII)


def parse_retry_after(text: str | None, now: datetime) -> float | None:
    """The seconds to wait; None if the header is absent or not valid."""
    if text is None:
        return None
    if _SECONDS.fullmatch(text):
        return float(text)
    if not _HTTP_DATE.fullmatch(text):
        return None
    try:
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    except ValueError:
        return None


def decide(
    status: int,
    attempt: int,
    *,
    renewed: bool,
    retry_after: str | None,
    now: datetime,
    random: float,
    once: bool = False,
) -> Literal["stop", "renew"] | float:
    """What to do after a response: stop, renew the token, or wait for some seconds.

    `status` 0 means that no complete response arrived. `attempt` counts the requests before this one. `renewed` says
    that a new token was requested after a 401 of the same request. `once` says that the service must not act on the
    request twice, such as one that creates something.
    """
    if status == 401:
        return "stop" if renewed else "renew"
    if status not in (_NOT_ACTED_ON if once else _TRANSIENT) or attempt >= ATTEMPTS - 1:
        return "stop"
    wait = parse_retry_after(retry_after, now)
    if wait is None:
        return random * BASE_SECONDS * 2.0**attempt
    return wait if wait <= LONGEST_WAIT else "stop"
