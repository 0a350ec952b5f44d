"""What the verbs return: lists read page by page, and single responses. Both become data frames."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, cast

from . import _frames
from ._files import MEDIA_TYPES, save_query
from ._generated.record import COLUMNS, ColumnType, OutbreakRecord
from ._http import Answer, Connection, Params, Sent
from ._json import parse_json
from ._plot import plot_series
from ._summary import Row, describe_choice, name_counted, summarise_series, write_html, write_text
from .errors import ChoiceWarning, Damaged, InvalidParameter, OutbreaksWarning

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Item = TypeVar("Item")
Count = Literal["cases", "deaths", "hospitalised", "recovered", "tested"]
Figure = Literal["new", "cumulative", "point"]
FileFormat = Literal["csv", "ndjson", "geojson", "parquet", "arrow"]
_PAGE_SIZE = 1000
# The end of a page as the service writes it. A text inside a record cannot look like this: its quotes have backslashes.
_NEXT_PAGE: Final = re.compile(rb'\],"has_more":true,"next_page":"([A-Za-z0-9_-]+)"\}\s*\Z')
_LONGEST_END = 1000


def emit_warning(text: str, kind: type[OutbreaksWarning] = OutbreaksWarning) -> None:
    """A Python warning that points at the caller of the package, where Python can find it."""
    if sys.version_info >= (3, 12):
        warnings.warn(text, kind, skip_file_prefixes=(str(Path(__file__).parent),))
    else:
        warnings.warn(text, kind, stacklevel=4)


class _Frames:
    """Rows that become data frames with the right types."""

    def rows(self) -> Iterable[dict[str, Any]]:
        """The rows of the data frame."""
        raise NotImplementedError

    def _types(self) -> dict[str, ColumnType]:
        return {}

    def _columns(self) -> _frames.Columns:
        return _frames.collect(self.rows(), self._types())

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame: nullable integers, days, and categories that keep values which are not listed."""
        return _frames.to_pandas(self._columns())

    def to_polars(self) -> polars.DataFrame:
        """A polars data frame. A JSON object is a string."""
        return _frames.to_polars(self._columns())

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table. A JSON object is a string."""
        return _frames.to_arrow(self._columns())


class _Ahead:
    """Requests the page after the one that is read, so that the service and the client work at the same time."""

    def __init__(self, send: Callable[[str], Sent | None]) -> None:
        self._send = send
        self._cursor: str | None = None
        self._sent: Sent | None = None

    def read(self, content: bytes) -> Any:
        """Parses a page. Its end has the cursor of the next one, which is requested first."""
        found = _NEXT_PAGE.search(content, max(0, len(content) - _LONGEST_END))
        if found is not None and self._cursor != (cursor := found[1].decode()):
            self._cursor, self._sent = cursor, self._send(cursor)
        return parse_json(content)

    def take(self, cursor: str | None) -> Sent | None:
        """The request for a page, if it was sent."""
        return self._sent if cursor is not None and cursor == self._cursor else None


class Walk(_Frames, Generic[Item]):
    """Items of one release, requested page by page. Each iteration starts at the first page.

    `cursor` says where a program that stopped can go on: all items before it were delivered. It is None at the end
    (`finished` is True) and before the first page was delivered.
    """

    def __init__(self, connection: Connection, path: str, params: Params, cursor: str | None = None) -> None:
        self._connection, self._path, self._params = connection, path, params
        self._start = self.cursor = cursor
        self.finished = False
        self.release: int | None = None
        self.warnings: list[str] = []

    def _params_of(self, cursor: str | None) -> Params:
        page = {} if cursor is None else {"page": cursor}
        size = {} if "num" in self._params else {"num": _PAGE_SIZE}
        return {**self._params, **size, **page}

    def _fetch(self, ahead: _Ahead, read: Callable[[bytes], Any]) -> tuple[list[Item], str | None]:
        answer = self._connection.get(self._path, self._params_of(self.cursor), sent=ahead.take(self.cursor), read=read)
        body = answer.body
        if not isinstance(body, dict) or not isinstance(body.get("data"), list) or "has_more" not in body:
            raise Damaged("the response is not a page")
        items, cursor = body["data"], body["next_page"] if body["has_more"] else None
        if body["has_more"] and not isinstance(cursor, str):
            raise Damaged("the page has no cursor, but there are more pages")
        if self.release is not None and answer.release != self.release:
            raise Damaged(f"the page is of release {answer.release}, and the first page of release {self.release}")
        self.release = answer.release
        if answer.warning is not None and answer.warning not in self.warnings:
            self._warn(answer.warning)
        return items, cursor

    def _warn(self, text: str) -> None:
        self.warnings.append(text)
        emit_warning(text)

    def _walk(self) -> Iterator[tuple[list[Item], str | None]]:
        self.cursor, self.finished, self.release, self.warnings = self._start, False, None, []
        ahead = _Ahead(lambda cursor: self._connection.send(self._path, self._params_of(cursor)))
        # A program that reads only a few items sends one request: nothing is requested ahead of the second page.
        read: Callable[[bytes], Any] = parse_json
        while not self.finished:
            items, cursor = self._fetch(ahead, read)
            read = ahead.read
            yield items, cursor
            # The memory of this page is free before the next one is parsed.
            del items
            self.cursor, self.finished = cursor, cursor is None

    def pages(self) -> Iterator[list[Item]]:
        """The pages. While a page is handled, `cursor` is already that of the next one."""
        for items, cursor in self._walk():
            self.cursor = cursor
            yield items

    def __iter__(self) -> Iterator[Item]:
        for items, _ in self._walk():
            # The cursor moves when the last item was handled: a program that stops before reads this page again.
            yield from items
            del items

    def rows(self) -> Iterable[dict[str, Any]]:
        return (item if isinstance(item, dict) else {} for item in self)


class Events(Walk[dict[str, Any]]):
    """A summary of each event. A data frame has the number to quote in `headline_cases`, `headline_words` and so on."""

    def rows(self) -> Iterable[dict[str, Any]]:
        for event in self:
            headline = event.get("headline") or {}
            yield {**without(event, "headline"), **{f"headline_{name}": value for name, value in headline.items()}}


class Records(Walk[OutbreakRecord]):
    """Records that match the filters, in ascending order of id unless `sort` chooses another order."""

    def _types(self) -> dict[str, ColumnType]:
        fields = self._params.get("fields")
        if fields is None:
            return dict(COLUMNS)
        names = fields.split(",") if isinstance(fields, str) else list(fields)
        return {name: kind for name, kind in COLUMNS.items() if name in names}

    def _read_rows(self) -> Iterator[list[dict[str, Any]]]:
        for items, _ in self._walk():
            if not all(isinstance(item, dict) and item for item in items):
                raise Damaged("the page has a record without fields")
            yield cast("list[dict[str, Any]]", items)

    def _read_table(self) -> tuple[pyarrow.Table, dict[str, ColumnType]]:
        return _frames.build_table(self._read_rows(), self._types())

    def to_pandas(self) -> pandas.DataFrame:
        _frames.require("pandas")
        return _frames.arrow_to_pandas(*self._read_table()) if _frames.has_arrow() else super().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        _frames.require("polars")
        return _frames.arrow_to_polars(self._read_table()[0]) if _frames.has_arrow() else super().to_polars()

    def to_arrow(self) -> pyarrow.Table:
        _frames.require("pyarrow")
        return self._read_table()[0]

    def save(self, path: str | Path, format: FileFormat | None = None) -> Path:
        """Saves all records as one file: CSV, NDJSON, GeoJSON, Parquet or Arrow, by default as the suffix says.

        The service sends them in one answer. The file gets its name only if it is complete.
        """
        target = Path(path)
        chosen = format or target.suffix.removeprefix(".")
        if chosen not in MEDIA_TYPES or self._start is not None:
            detail = f"the formats are {', '.join(MEDIA_TYPES)}, and a file cannot begin at a cursor"
            raise InvalidParameter(detail, code="invalid_parameter", parameter="format")
        headers = save_query(self._connection, self._params, target, chosen)
        number = headers.get("outbreaks-release", "")
        self.release = int(number) if number.isdigit() else None
        self.warnings = []
        if "outbreaks-warning" in headers:
            self._warn(headers["outbreaks-warning"])
        return target


class Table(dict[str, Any], _Frames):
    """A response with all its members, and `release` and `warnings`. A data frame has a line for each row.

    `notice` says how it was counted and how many other ways were left out; `["chosen"]` and `["left_out"]` list them.
    It is None if there is only one way to count.
    """

    release: int | None
    warnings: list[str]
    filters: dict[str, Any]
    notice: str | None = None

    def rows(self) -> Iterable[dict[str, Any]]:
        return [_frames.flatten(row) for row in self["data"]]


class _Figures(Table):
    """Counts, which are shown by their totals."""

    def _summarise(self) -> tuple[str, list[Row]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return write_text(*self._summarise(), self.notice)

    def _repr_html_(self) -> str:
        return write_html(*self._summarise(), self.notice, self.get("left_out", []))

    def _counted(self, group: dict[str, Any]) -> str | None:
        return name_counted(self, without(group, "period"))

    def _name(self) -> str:
        return str(self["title"])


class Sums(_Figures):
    """Totals by group. A data frame has the lines and columns of the CSV of the service.

    Its column `row` says what a line is: a `figure` for each group, then each `span`, a count over more days than were
    requested, and the counts without a day (`undated`). `["beside"]` has the places that contain the groups.
    `total_cases` and the like are the numbers to quote.
    """

    def _summarise(self) -> tuple[str, list[Row]]:
        rows = [Row(row["label"], row["total"], row["first_day"], row["last_day"]) for row in self["data"]]
        return f"Sums of {self._name()}, release {self.release}", rows

    def rows(self) -> Iterable[dict[str, Any]]:
        return _to_lines(
            [(row["group"], {name: row[name] for name in _FIRST if name in row} | row) for row in self["data"]],
            [(span["group"], without(span, "group")) for span in self.get("spans", [])],
            [(each["group"], each["records"], each["counts"]) for each in self.get("undated_counts", [])],
            self._counted,
        )


class Series(_Figures):
    """Counts over time. A data frame has the lines and columns of the CSV of the service.

    Its column `row` says what a line is: a `figure` for each interval, then each `span`, a count over several intervals
    such as the total of an outbreak, and the counts without a day (`undated`). A curve has the lines with `figure`.
    """

    def plot(self, count: Count = "cases", *, figure: Figure = "new", title: str | None = None, ax: Any = None) -> Any:
        """Draws the epidemic curve with matplotlib; returns its axes, or a list of them if there are groups.

        Intervals without a known count are hatched: unknown is not zero. A count over several intervals is an outline
        over its days. Revisions, first reports and changes of the case definition are marked. The caption says how it
        was counted.
        """
        caption = f"release {self.release}", self.notice
        return plot_series(self, self._name() if title is None else title, caption, count, figure, ax)

    def _summarise(self) -> tuple[str, list[Row]]:
        is_window = "date_from" in self.filters
        rows = [
            summarise_series(group, group.get("label", ""), is_window=is_window) for group in self.get("groups", [self])
        ]
        return f"Series of {self._name()} by {self['interval']}, release {self.release}", rows

    def rows(self) -> Iterable[dict[str, Any]]:
        named = [(group.get("group", {}), group) for group in self.get("groups", [self])]
        return _to_lines(
            [(name, point) for name, group in named for point in group["points"]],
            [({**name, "period": None}, span) for name, group in named for span in group.get("spans", [])],
            [
                ({**name, "period": None}, group["undated"], group["undated_counts"])
                for name, group in named
                if group.get("undated_counts") is not None
            ],
            self._counted,
        )


class Coverage(Table):
    """The number of records by value and period. A data frame has a line for each."""

    def rows(self) -> Iterable[dict[str, Any]]:
        return [{"value": group["value"], **period} for group in self["data"] for period in group["periods"]]


class Facets(Table):
    """The values that records have, with their numbers of records. A data frame has a line for each value."""

    def rows(self) -> Iterable[dict[str, Any]]:
        return [
            {**value, "field": field, "value": _to_text(value["value"]), "distinct": found["distinct"]}
            for field, found in self.items()
            for value in found["values"]
        ]

    def _types(self) -> dict[str, ColumnType]:
        return {"field": "text", "value": "text", "records": "integer", "distinct": "integer"}


_Named = tuple[dict[str, Any], dict[str, Any]]


def _to_lines(
    figures: list[_Named],
    spans: list[_Named],
    undated: list[tuple[dict[str, Any], int, dict[str, Any]]],
    name: Callable[[dict[str, Any]], str | None],
) -> list[dict[str, Any]]:
    """The lines of a table, as the CSV of the service has them."""
    no_days = {"first_day": None, "last_day": None}
    lines = [
        *((group, without(figure, "group", "label") | {"row": "figure"}) for group, figure in figures),
        *((group, span | {"row": "span"}) for group, span in spans),
        *((group, {**no_days, "records": n, "undated": counts, "row": "undated"}) for group, n, counts in undated),
    ]
    return [_frames.flatten({**group, **line, "counted": name(group)}) for group, line in lines]


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in names}


def _to_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


_FIRST = ("first_day", "last_day", "records")


TableType = TypeVar("TableType", bound=Table)


def to_table(answer: Answer, kind: type[TableType], filters: Params) -> TableType:
    if not isinstance(answer.body, dict):
        raise Damaged("the response is not an object")
    table = kind(answer.body)
    table.release, table.filters = answer.release, dict(filters)
    table.warnings = [] if answer.warning is None else [answer.warning]
    for text in table.warnings:
        emit_warning(text)
    table.notice = describe_choice(table)
    if table.notice is not None and table.get("left_out_total"):
        emit_warning(table.notice, ChoiceWarning)
    return table
