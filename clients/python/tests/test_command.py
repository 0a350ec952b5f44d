"""The command, as a process, against a real service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from conftest import Service

from outbreaks import _command


def run(service: Service, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from outbreaks._command import main; main()", *arguments]
    environment = {**os.environ, **service.environment, "MPLBACKEND": "Agg"}
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)


def test_download_and_verify(service: Service, tmp_path: Path) -> None:
    done = run(service, "download", "--format", "csv", "--release", "1", cwd=tmp_path)
    assert json.loads(done.stdout) == {"path": "hed-outbreaks-1.csv.gz"}
    assert done.stderr == ""
    assert run(service, "verify", "hed-outbreaks-1.csv.gz", "--release", "1", cwd=tmp_path).returncode == 0
    other = run(service, "verify", "hed-outbreaks-1.csv.gz", "--release", "2", cwd=tmp_path)
    assert (other.returncode, other.stdout) == (1, "")
    assert "damaged" in other.stderr
    assert json.loads(run(service, "verify", "--release", "1").stdout)["records"] == 187


def test_sync(service: Service, tmp_path: Path) -> None:
    assert json.loads(run(service, "sync", "copy", "--release", "2", cwd=tmp_path).stdout)["records"] == 3926
    table = run(service, "sync", "copy", "--release", "3", "--output", "table", cwd=tmp_path).stdout
    assert table.splitlines()[1].split()[-3:] == ["3667", "482", "59"]
    refused = run(service, "sync", "copy", "--release", "2", cwd=tmp_path)
    assert refused.returncode == 1
    assert "full=True" in refused.stderr


def test_search_series_changes_cite(service: Service, tmp_path: Path) -> None:
    assert "Avian influenza" in run(service, "search", "bird", "flu", "--output", "table").stdout.splitlines()[1]
    query = ["event=COVID-19_Global_2019", "country_code=FR", "interval=month", "--release", "6"]
    table = run(service, "series", *query, "--output", "table", "--plot", "curve.png", cwd=tmp_path).stdout
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    header, first = (line.split() for line in table.splitlines()[:2])
    assert header[:4] == ["period", "first_day", "last_day", "records"]
    assert header[4:] == ["new_cases", "new_deaths", "cumulative_cases", "cumulative_deaths", "row", "marks"]
    assert first[-1] == "base_unknown"
    assert json.loads(run(service, "series", *query).stdout)["interval"] == "month"
    assert len(run(service, "changes", "5", "6").stdout.splitlines()) == 1120
    filtered = run(service, "changes", "5", "event=Nothing", "--output", "table")
    assert filtered.stdout.split() == ["id", "change", "release", "reason", "event"]
    assert filtered.stderr.startswith("outbreaks: warning: event=Nothing")
    assert "release 6" in json.loads(run(service, "cite", "event=Lassa_Nigeria_2018").stdout)["text"]
    assert run(service, "cite", "--format", "bibtex").stdout.startswith("@")
    assert "release 2" in run(service, "cite", "release=2", "format=bibtex").stdout


def test_errors_have_an_exit_code_and_one_message(service: Service) -> None:
    wrong = run(service, "series", "evnt=x", "interval=year")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("outbreaks: unknown_parameter (400, parameter evnt)")
    assert run(service, "series", "event").returncode == 2
    assert run(service, "unknown").returncode == 2
    assert run(service, "--version").stdout == f"{version('outbreak-data')}\n"


def test_a_reader_that_has_gone_is_no_traceback(service: Service) -> None:
    command = [sys.executable, "-c", "from outbreaks._command import main; main()", "changes", "1", "6"]
    with subprocess.Popen(
        command, env={**os.environ, **service.environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_a_long_table_has_one_header(capsys: pytest.CaptureFixture[str]) -> None:
    _command._write_table(
        ({"id": number, "value": None, "flag": True} for number in range(1500)), ["id", "value", "flag"]
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1501
    assert lines[0].split() == ["id", "value", "flag"]
    assert lines[1].split() == ["0", "true"]
