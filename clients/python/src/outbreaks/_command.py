"""The command `outbreaks`. Results go to stdout as a table or as JSON, everything else to stderr."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from itertools import islice
from typing import Any

from .client import Client
from .errors import OutbreaksError

_EPILOG = """\
FILTER is a parameter of the service, such as event=Cholera_Haiti_2010 or country_code=HT. Repeat it for several values.
The variables OUTBREAKS_URL, OUTBREAKS_CLIENT_ID and OUTBREAKS_CLIENT_SECRET configure the command.
"""
_FLAGS = (
    "revision",
    "base_unknown",
    "definition_changed",
    "includes_earlier_days",
    "overlapping",
    "inexact",
    "interim",
    "in_span",
)
_TABLE_BATCH = 1000


def _parse_filters(texts: Sequence[str]) -> dict[str, Any]:
    filters: dict[str, list[str]] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not name or not separator:
            raise argparse.ArgumentTypeError(f"{text} is not of the form name=value")
        filters.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in filters.items()}


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="outbreaks",
        description="Reads outbreak data from an Outbreak Data Service.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version("outbreak-data"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--output", choices=["table", "json"], help="default: table on a terminal, otherwise JSON")
        if name != "changes":
            command.add_argument("--release", help="a number, a day or latest (default)")
        return command

    download = add("download", "download a whole release, verified")
    download.add_argument("--format", choices=["parquet", "csv", "ndjson"], default="parquet")
    download.add_argument("--directory", default=".")
    verify = add("verify", "compare the records of a release, or a file, with the published digest")
    verify.add_argument("file", nargs="?")
    sync = add("sync", "keep a copy of the latest release up to date")
    sync.add_argument("directory")
    sync.add_argument("--full", action="store_true", help="download the whole release instead of the changes")
    add("search", "find events, diseases, pathogens, places and sources by name").add_argument("words", nargs="+")
    series = add("series", "counts over time")
    series.add_argument("--plot", metavar="FILE", help="draw the epidemic curve into a file, such as curve.png")
    changes = add("changes", "what changed between two releases, and why")
    changes.add_argument("from_release", metavar="FROM")
    changes.add_argument("to_release", metavar="TO", nargs="?", default="latest")
    cite = add("cite", "the citation of a query")
    cite.add_argument("--format", choices=["text", "bibtex", "csl-json"], default="text")
    for command in (series, changes, cite):
        command.add_argument("filters", metavar="FILTER", nargs="*")
    return parser


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _write_json(value: object) -> None:
    _write(json.dumps(value, ensure_ascii=False, default=str))


def _to_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def _write_table(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    """Aligned columns, numbers to the right. Rows are written in batches, because there may be millions."""
    remaining, is_first = iter(rows), True
    while (batch := list(islice(remaining, _TABLE_BATCH))) or is_first:
        cells = [[_to_cell(row.get(name)) for name in columns] for row in batch]
        is_number = [all(isinstance(row.get(name), int | float | None) for row in batch) for name in columns]
        lines = [list(columns), *cells] if is_first else cells
        widths = [max((len(line[i]) for line in [list(columns), *cells]), default=0) for i in range(len(columns))]
        for line in lines:
            padded = [
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(line, widths, is_number, strict=True)
            ]
            _write("  ".join(padded).rstrip())
        is_first = False


def _write_series(rows: list[dict[str, Any]]) -> None:
    rows = [{**row, "marks": " ".join(flag for flag in _FLAGS if row.get(flag))} for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    hidden = ("completeness_", "place_", "derived", "counted", *_FLAGS)
    shown = [name for name in names if not name.startswith(hidden)]
    counts = ("new_", "cumulative_", "point_", "undated_")
    _write_table(rows, [n for n in shown if not n.startswith(counts) or any(row.get(n) is not None for row in rows)])


def _run(client: Client, given: argparse.Namespace, *, as_table: bool) -> None:
    texts = getattr(given, "filters", [])
    if given.command == "changes" and "=" in given.to_release:
        given.to_release, texts = "latest", [given.to_release, *texts]
    filters = _parse_filters(texts)
    # As a person would write it: release=6 is --release 6.
    for name in ("release", "format"):
        if name in filters and hasattr(given, name):
            setattr(given, name, filters.pop(name))
    match given.command:
        case "download":
            path = client.download(given.format, given.directory, release=given.release)
            _write(str(path)) if as_table else _write_json({"path": str(path)})
        case "verify" | "sync":
            done = (
                client.verify(given.release, file=given.file)
                if given.command == "verify"
                else vars(client.sync(given.directory, release=given.release, full=given.full))
            )
            _write_table([done], list(done)) if as_table else _write_json(done)
        case "search":
            found = client.search(" ".join(given.words), release=given.release)
            hits = found["data"] or found["suggestions"]
            columns = ["parameter", "value", "label", "match", "records", "first_day", "last_day"]
            _write_table(hits, columns) if as_table else _write_json(found)
        case "series":
            series = client.series(release=given.release, **filters)
            if given.plot is not None:
                axes = series.plot()
                (axes[0] if isinstance(axes, list) else axes).figure.savefig(given.plot, dpi=150)
            _write_series(list(series.rows())) if as_table else _write_json(series)
        case "changes":
            changes = client.changes(given.from_release, given.to_release, **filters)
            rows = ({**row, "event": (row["after"] or row["before"])["event"]} for row in changes)
            if as_table:
                _write_table(rows, ["id", "change", "release", "reason", "event"])
            else:
                # One change on each line: there may be more than fit into memory.
                for change in changes:
                    _write_json(change)
        case "cite":
            text = client.cite(release=given.release, format=given.format, **filters).rstrip("\n")
            _write(text) if as_table or given.format != "text" else _write_json({"text": text})


def main(arguments: Sequence[str] | None = None) -> None:
    """Exit codes: 0 success, 1 an error of the service or damaged data, 2 a wrong command."""
    parser = _build_parser()
    given = parser.parse_args(arguments)
    as_table = given.output == "table" or (given.output is None and sys.stdout.isatty())
    warnings.showwarning = lambda message, *_, **__: print(f"outbreaks: warning: {message}", file=sys.stderr)  # noqa: T201
    try:
        with Client() as client:
            _run(client, given, as_table=as_table)
        sys.stdout.flush()
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    except BrokenPipeError:
        # The reader has gone. Python would report it once more when it flushes stdout at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except (OutbreaksError, OSError, ImportError) as error:
        notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", []))
        sys.exit(f"outbreaks: {error}{notes}")
