"""Requests to the service: tokens, retries, complete responses only. The only file that knows the HTTP library."""

from __future__ import annotations

import platform
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version
from typing import Any, Final, Literal, TypeVar
from urllib.parse import urlencode

import httpx2

from ._json import parse_json
from ._retry import decide, parse_retry_after
from .errors import InvalidParameter, Unavailable, to_error

Result = TypeVar("Result")
Value = str | int | float | bool | date
Params = Mapping[str, Any]
"""The parameters of a request: text, numbers, booleans, days, or several of them."""
Method = Literal["GET", "POST", "PATCH", "DELETE"]

_JSON: Final = "application/json"
_RENEW_BEFORE_SECONDS: Final = 60
_TIMEOUT: Final = httpx2.Timeout(60.0, connect=15.0)
# These parameters take one text with commas; the others are repeated.
_JOINED: Final = frozenset({"fields", "bbox", "columns"})


def _encode_value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime) or not isinstance(value, str | int | float | date):
        raise InvalidParameter(f"{value!r} cannot be sent", code="invalid_parameter", parameter=name)
    return value.isoformat() if isinstance(value, date) else str(value)


def encode_params(params: Params) -> list[tuple[str, str]]:
    """The query. None and an empty list are rejected: without the filter the response would be the whole dataset."""
    query: list[tuple[str, str]] = []
    for key, value in params.items():
        # Python reserves some names: from_ is sent as from.
        name = key.removesuffix("_")
        values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        if value is None or not values:
            detail = (
                f"{value!r} selects nothing. Leave {name} out, or use missing={name!r} for records without a value."
            )
            raise InvalidParameter(detail, code="invalid_parameter", parameter=name)
        texts = [_encode_value(name, each) for each in values]
        query += [(name, ",".join(texts))] if name in _JOINED else [(name, text) for text in texts]
    return query


@dataclass(frozen=True)
class Answer:
    """A complete response. The body is None if the service sends none."""

    body: Any
    headers: Mapping[str, str]

    @property
    def release(self) -> int | None:
        number = self.headers.get("outbreaks-release", "")
        return int(number) if number.isdigit() else None

    @property
    def warning(self) -> str | None:
        return self.headers.get("outbreaks-warning")


class Failure(Exception):
    """An attempt that failed. It stays inside the package: `Attempts` retries it or raises an error for the caller."""

    def __init__(
        self, status: int, body: bytes | None = None, retry_after: str | None = None, reason: str = ""
    ) -> None:
        super().__init__(reason)
        self.status, self.body, self.retry_after, self.reason = status, body, retry_after, reason


def _read_failure(response: httpx2.Response) -> Failure:
    return Failure(response.status_code, response.read(), response.headers.get("retry-after"))


def _read_json(content: bytes, read: Callable[[bytes], Any] = parse_json) -> Any:
    # A truncated gzip body is no error for the HTTP library, but what is left of it is not JSON.
    try:
        return read(content)
    except ValueError as error:
        raise Failure(0, reason=f"the response is not complete JSON ({error})") from error


@dataclass(frozen=True)
class Sent:
    """A request that a thread has sent with this token, and what becomes of it: a response or a `Failure`."""

    token: str
    response: Future[httpx2.Response]


class Attempts:
    """The attempts of one request. `fail` waits or renews the token, or raises the error."""

    def __init__(self, connection: Connection, source: Literal["api", "token"] = "api", *, once: bool = False) -> None:
        self._connection, self._source, self._once = connection, source, once
        self.restart()

    def restart(self) -> None:
        """Data arrived: the next failure is the first one again."""
        self._attempt = 0
        self._renewed = self._source == "token"

    def fail(self, failure: Failure, token: str = "") -> None:
        now = datetime.now(UTC)
        decision = decide(
            failure.status,
            self._attempt,
            renewed=self._renewed,
            once=self._once,
            retry_after=failure.retry_after,
            now=now,
            random=random.random(),
        )
        if decision == "stop":
            raise to_error(
                failure.status,
                failure.body,
                source=self._source,
                retry_after=parse_retry_after(failure.retry_after, now),
                reason=failure.reason,
            ) from failure.__cause__
        if decision == "renew":
            self._renewed = True
            self._connection.renew_token(token)
            return
        self._attempt += 1
        time.sleep(decision)


class Connection:
    """One service and one client. Threads can share it."""

    def __init__(self, base_url: str, client_id: str, client_secret: str, *, dataset: str, offline: bool) -> None:
        self.base_url, self.dataset, self.offline = base_url, dataset, offline
        self._id, self._secret = client_id, client_secret
        self._lock = threading.Lock()
        self._token, self._expires = "", 0.0
        agent = f"outbreak-data-python/{version('outbreak-data')} (Python {platform.python_version()})"
        self._http = httpx2.Client(timeout=_TIMEOUT, headers={"user-agent": agent})

    def close(self) -> None:
        self._http.close()

    def _request_token(self) -> None:
        body = {
            "client_id": self._id,
            "client_secret": self._secret,
            "audience": self.base_url,
            "grant_type": "client_credentials",
        }
        attempts = Attempts(self, "token")
        while True:
            try:
                try:
                    response = self._http.post(f"{self.base_url}/oauth/token", json=body)
                except httpx2.RequestError as error:
                    raise Failure(0, reason=_describe(error)) from error
                if response.status_code != 200:
                    raise _read_failure(response)
                found = _read_json(response.content)
                try:
                    self._token, self._expires = str(found["access_token"]), time.time() + float(found["expires_in"])
                except (KeyError, TypeError, ValueError) as error:
                    raise Failure(0, reason="the response has no token") from error
                return
            except Failure as failure:
                attempts.fail(failure)

    def token(self) -> str:
        """The token, renewed 60 s before its end. One thread requests it, the others wait for it."""
        if self.offline:
            raise Unavailable("OUTBREAKS_OFFLINE is set: no request is sent", code="offline")
        with self._lock:
            if not self._is_valid():
                self._request_token()
            return self._token

    def _is_valid(self) -> bool:
        return self._token != "" and time.time() <= self._expires - _RENEW_BEFORE_SECONDS

    def renew_token(self, rejected: str) -> None:
        """Requests a new token, unless another thread has already replaced the rejected one."""
        with self._lock:
            if self._token == rejected:
                self._request_token()

    @contextmanager
    def _open(
        self,
        path: str,
        query: list[tuple[str, str]],
        headers: Mapping[str, str],
        token: str,
        *,
        follow: bool = False,
        method: Method = "GET",
        body: Mapping[str, Any] | None = None,
    ) -> Iterator[httpx2.Response]:
        url = f"{self.base_url}/v2/{self.dataset}/{path}"
        sent = {**headers, "authorization": f"Bearer {token}"}
        try:
            params = tuple(query) or None
            with self._http.stream(
                method, url, params=params, json=body, headers=sent, follow_redirects=follow
            ) as response:
                if response.status_code not in (200, 201, 204, 206):
                    raise _read_failure(response)
                yield response
        except httpx2.RequestError as error:
            raise Failure(0, reason=_describe(error)) from error

    def _receive(
        self,
        path: str,
        query: list[tuple[str, str]],
        accept: str,
        token: str,
        method: Method = "GET",
        body: Mapping[str, Any] | None = None,
    ) -> httpx2.Response:
        with self._open(path, query, {"accept": accept}, token, method=method, body=body) as response:
            response.read()
            return response

    def _repeat(self, receive: Callable[[str], Result], *, once: bool = False) -> Result:
        """What a function of the token receives, which is called until it succeeds or must not be repeated."""
        attempts = Attempts(self, once=once)
        while True:
            token = self.token()
            try:
                return receive(token)
            except Failure as failure:
                attempts.fail(failure, token)

    def send(self, path: str, params: Params) -> Sent | None:
        """Sends a request for JSON in a thread, once. For `get` it is the first attempt, so a failure is retried there.

        None if nothing was sent. That is so if a new token is needed first: requesting it may take long, or fail.
        """
        query, token = encode_params(params), self._token
        if not self._is_valid():
            return None
        response: Future[httpx2.Response] = Future()

        def receive() -> None:
            try:
                response.set_result(self._receive(path, query, _JSON, token))
            except BaseException as error:
                response.set_exception(error)

        # A daemon: the program may end before the response arrives.
        thread = threading.Thread(target=receive, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # The system has no thread left, or the interpreter is ending.
            return None
        return Sent(token, response)

    def get(
        self, path: str, params: Params, *, sent: Sent | None = None, read: Callable[[bytes], Any] = parse_json
    ) -> Answer:
        """A complete response with JSON. `sent` is the request if it was already sent."""
        query, attempts = encode_params(params), Attempts(self)
        while True:
            token = self.token() if sent is None else sent.token
            try:
                response = self._receive(path, query, _JSON, token) if sent is None else sent.response.result()
                return Answer(_read_json(response.content, read), response.headers)
            except Failure as failure:
                sent = None
                attempts.fail(failure, token)

    def address(self, path: str, params: Params) -> str:
        """The path and the query of a request, without the address of the service."""
        return f"/v2/{self.dataset}/{path}?{urlencode(encode_params(params))}"

    def get_text(self, path: str, params: Params) -> str:
        """A complete response with a text."""
        query = encode_params(params)
        return self._repeat(lambda token: self._receive(path, query, "*/*", token).text)

    def request(
        self, method: Method, path: str, body: Mapping[str, Any] | None = None, *, once: bool = False
    ) -> Answer:
        """The response to a request that is not a GET.

        With `once`, it is repeated only if the service has certainly not acted on it: after 401 and 429.
        """

        def receive(token: str) -> Answer:
            response = self._receive(path, [], _JSON, token, method, body)
            content = None if response.status_code == 204 else _read_json(response.content)
            return Answer(content, response.headers)

        return self._repeat(receive, once=once)

    @contextmanager
    def open_lines(self, path: str, params: Params, media_type: str, token: str) -> Iterator[httpx2.Response]:
        """One attempt at a response that is too large for memory. The caller retries a `Failure` with `Attempts`."""
        with self._open(path, encode_params(params), {"accept": media_type}, token) as response:
            yield response

    @contextmanager
    def open_file(self, path: str, begin: int, sha256: str, token: str) -> Iterator[tuple[int, Iterator[bytes]]]:
        """One attempt at a file from a byte on: where the response begins, and its bytes."""
        headers = {"accept-encoding": "identity", "accept": "*/*"}
        if begin > 0:
            headers |= {"range": f"bytes={begin}-", "if-range": f'"{sha256}"'}
        # A service may redirect to its object store. The library does not send the token to another host.
        with self._open(path, [], headers, token, follow=True) as response:
            is_part = response.status_code == 206
            if is_part and not response.headers.get("content-range", "").startswith(f"bytes {begin}-"):
                raise Failure(0, reason="the response has another range than requested")
            yield (begin if is_part else 0), response.iter_raw()


def _describe(error: httpx2.RequestError) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
