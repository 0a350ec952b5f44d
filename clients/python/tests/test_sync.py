"""A copy that is kept up to date, also by a program that is killed at any time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Service

from outbreaks import Client, Damaged, InvalidParameter
from outbreaks._frames import read_parquet, read_parquet_metadata

KILL_ROUNDS = int(os.environ.get("KILL_ROUNDS", "4"))


def test_the_copy_follows_the_releases(client: Client, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    first = client.sync(copy, release=2)
    assert (first.release, first.from_release, first.records) == (2, None, 3926)
    second = client.sync(copy, release=3)
    assert (second.from_release, second.added, second.corrected, second.withdrawn) == (2, 3667, 482, 59)
    third = client.sync(copy)
    assert (third.release, third.from_release, third.records) == (6, 3, 14525)
    assert read_parquet(third.path).equals(client.load(6).to_arrow())
    again = client.sync(copy)
    assert (again.added, again.corrected, again.withdrawn) == (0, 0, 0)
    assert sorted(path.name for path in (copy / ".outbreaks").iterdir()) == [f"6-{third.digest}.ndjson", "lock"]


def test_a_copy_that_was_changed_is_refused_and_can_be_made_again(client: Client, tmp_path: Path) -> None:
    done = client.sync(tmp_path, release=2)
    before = done.path.read_bytes()
    [lines] = (tmp_path / ".outbreaks").glob("*.ndjson")
    lines.write_bytes(lines.read_bytes().replace(b'"cases":1,', b'"cases":2,', 1))
    with pytest.raises(Damaged, match="digest") as raised:
        client.sync(tmp_path, release=3)
    assert "full=True" in raised.value.__notes__[0]
    assert done.path.read_bytes() == before
    assert client.sync(tmp_path, release=3, full=True).from_release is None
    assert read_parquet(done.path).equals(client.load(3).to_arrow())


def test_a_copy_does_not_go_back_by_changes(client: Client, tmp_path: Path) -> None:
    client.sync(tmp_path, release=3)
    with pytest.raises(InvalidParameter) as raised:
        client.sync(tmp_path, release=2)
    assert "full=True" in raised.value.__notes__[0]
    assert client.sync(tmp_path, release=2, full=True).release == 2


SYNC = "import sys; from outbreaks import Client; Client(cache=sys.argv[1]).sync(sys.argv[2], release=sys.argv[3])"


def test_killed_at_any_time_the_copy_is_the_old_or_the_new_release(
    service: Service, client: Client, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    environment = {**os.environ, **service.environment}
    whole = {number: client.load(number).to_arrow() for number in (2, 6)}
    client.sync(copy, release=2)
    started = time.monotonic()
    command = [sys.executable, "-c", SYNC, str(tmp_path / "cache"), str(copy)]
    subprocess.run([*command, "6"], env=environment, check=True)
    longest = time.monotonic() - started
    found: list[str] = []
    for number in range(KILL_ROUNDS):
        client.sync(copy, release=2, full=True)
        with subprocess.Popen([*command, "6"], env=environment) as process:
            time.sleep((0.2 + 0.8 * number / KILL_ROUNDS) * longest)
            process.kill()
        metadata = read_parquet_metadata(copy / "records.parquet")
        assert metadata is not None
        assert read_parquet(copy / "records.parquet").equals(whole[int(metadata["release"])])
        found.append(metadata["release"])
        # Whatever was left behind, the next run finishes.
        assert client.sync(copy, release=6).release == 6
        assert read_parquet(copy / "records.parquet").equals(whole[6])
    assert "2" in found


# Kills itself before the Nth operation on a file of the copy.
SYNC_AND_DIE = """
import os, signal, sys
from outbreaks import Client
cache, copy, release, last = sys.argv[1:]
remaining = int(last)
def count(event, arguments):
    global remaining
    if event in ("open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir") and copy in str(arguments[0]):
        remaining -= 1
        if remaining == 0:
            os.kill(os.getpid(), signal.SIGKILL)
client = Client(cache=cache)
sys.addaudithook(count)
client.sync(copy, release=release)
"""


def test_killed_before_each_operation_on_a_file_the_copy_is_whole(
    service: Service, client: Client, tmp_path: Path
) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    environment = {**os.environ, **service.environment}
    whole = {number: client.load(number).to_arrow() for number in (5, 6)}
    client.sync(original, release=5)
    found: list[int] = []
    for operation in range(1, 100):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(original, copy)
        command = [sys.executable, "-c", SYNC_AND_DIE, str(tmp_path / "cache"), str(copy), "6", str(operation)]
        done = subprocess.run(command, env=environment, check=False)
        assert done.returncode in (0, -signal.SIGKILL)
        metadata = read_parquet_metadata(copy / "records.parquet")
        assert metadata is not None
        number = int(metadata["release"])
        assert read_parquet(copy / "records.parquet").equals(whole[number])
        found.append(number)
        if done.returncode == 0:
            break
        assert client.sync(copy, release=6).release == 6
        assert read_parquet(copy / "records.parquet").equals(whole[6])
    assert found == sorted(found)
    assert found.count(5) > 5
    assert found[-1] == 6
