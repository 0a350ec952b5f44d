"""The processes that the tests need: the scripted server of the vectors, and a service with the sample releases."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from outbreaks import Client

ROOT = Path(__file__).parents[3]


def find_node() -> str:
    node = shutil.which("node")
    assert node is not None, "the tests need Node 24"
    return node


@pytest.fixture(scope="session")
def scripted_server() -> Iterator[str]:
    """The address of the scripted server."""
    command = [find_node(), str(ROOT / "clients/vectors/server.ts")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http"), "the tests need Node 24"
        yield address
        process.terminate()


@dataclass(frozen=True)
class Service:
    url: str
    client_id: str
    client_secret: str

    @property
    def environment(self) -> dict[str, str]:
        return {
            "OUTBREAKS_URL": self.url,
            "OUTBREAKS_CLIENT_ID": self.client_id,
            "OUTBREAKS_CLIENT_SECRET": self.client_secret,
        }

    def open(self, cache: Path) -> Client:
        return Client(self.url, self.client_id, self.client_secret, cache=cache)


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A real service with the six sample releases. OUTBREAKS_TEST_SERVICE names one that runs: "URL ID SECRET"."""
    running = os.environ.get("OUTBREAKS_TEST_SERVICE")
    if running is not None:
        yield Service(*running.split())
        return
    port = find_free_port()
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("OUTBREAKS_", "DATABASE_"))}
    command = [find_node(), str(ROOT / "dev/start.ts")]
    with subprocess.Popen(
        command, env={**environment, "OUTBREAKS_PORT": str(port)}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        found: dict[str, str] = {}
        for line in process.stdout:
            found |= dict(re.findall(r'"(client_id|client_secret)": "([^"]+)"', line))
            if line.startswith("Press Ctrl-C"):
                break
        assert len(found) == 2, "the service did not start"
        # Nothing else may fill the pipe while the tests run.
        Thread(target=process.stdout.read, daemon=True).start()
        yield Service(f"http://127.0.0.1:{port}", **found)
        process.send_signal(signal.SIGTERM)


@pytest.fixture
def client(service: Service, tmp_path: Path) -> Iterator[Client]:
    with service.open(tmp_path / "cache") as opened:
        yield opened


Respond = Callable[[str, dict[str, str]], tuple[int, dict[str, str], Any]]


@pytest.fixture
def start_server() -> Iterator[Callable[[Respond], str]]:
    """Starts an HTTP server that answers each GET and POST with a function of path and headers."""
    servers: list[ThreadingHTTPServer] = []

    def start(respond: Respond) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                status, headers, value = respond(self.path, {name.lower(): text for name, text in self.headers.items()})
                body = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, text)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
