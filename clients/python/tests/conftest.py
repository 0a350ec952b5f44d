"""The processes that the tests need: the scripted server of the vectors and a real service with six releases."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def scripted_server() -> Iterator[str]:
    """The address of the scripted server."""
    node = shutil.which("node")
    assert node is not None, "the tests need Node 24"
    command = [node, str(ROOT / "clients/vectors/server.ts")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http"), "the tests need Node 24"
        yield address
        process.terminate()
