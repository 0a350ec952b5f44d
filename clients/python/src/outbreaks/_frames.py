"""Rows as columns of pandas, polars and Arrow, with the same meaning in each. Only null is missing, never "NA"."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.util import find_spec
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._generated.record import CATEGORIES, COLUMNS, ColumnType
from ._json import parse_json, write_json

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


_BATCH_RECORDS = 10_000


def require(module: str, extra: str | None = None) -> None:
    """Raises an error that says what to install."""
    if find_spec(module) is None:
        raise ImportError(f"This needs {module}: pip install 'outbreak-data[{extra or module}]'", name=module)


@dataclass(frozen=True)
class Columns:
    """The values of each column as JSON has them, and its type."""

    values: dict[str, list[Any]]
    types: dict[str, ColumnType]


def _type_of(value: object) -> ColumnType:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "real"
    return "text" if isinstance(value, str) else "json"


_DAYS = frozenset({"first_day", "last_day", "report_date", "reference_date"})
_COUNTS = frozenset({"new", "cumulative", "point", "undated", "total"})


def _type_of_column(name: str, values: list[Any]) -> ColumnType:
    if name in _DAYS:
        return "date"
    if name.endswith("_share"):
        return "real"
    found = {_type_of(value) for value in values if value is not None}
    if not found:
        return "integer" if name.split("_")[0] in _COUNTS else "text"
    if found == {"integer", "real"}:
        return "real"
    return found.pop() if len(found) == 1 else "json"


def flatten(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A row without objects: the names are joined by an underscore, as in the CSV of the service."""
    cells: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            cells |= flatten(value, f"{prefix}{name}_")
        else:
            cells[prefix + name] = value
    return cells


def _transpose_batch(rows: list[dict[str, Any]]) -> Mapping[str, Sequence[Any]]:
    names = list(rows[0])
    if len(names) > 1 and all(len(row) == len(names) for row in rows):
        # As many fields, but perhaps other ones. Row by row is faster than column by column: the memory is near.
        with suppress(KeyError):
            return dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))
    found = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in found}


def _transpose(rows: Iterable[dict[str, Any]]) -> tuple[dict[str, list[Any]], int]:
    """The values of each field, and the number of rows. A field that is missing in a row is null there."""
    values: dict[str, list[Any]] = {}
    remaining, count = iter(rows), 0
    while batch := list(islice(remaining, _BATCH_RECORDS)):
        found = _transpose_batch(batch)
        for name in found:
            if name not in values:
                values[name] = [None] * count
        for name, column in values.items():
            column.extend(found.get(name) or [None] * len(batch))
        count += len(batch)
    return values, count


def _order(names: Collection[str], types: Mapping[str, ColumnType]) -> list[str]:
    return [*(name for name in types if name in names), *(name for name in names if name not in types)]


def collect(rows: Iterable[dict[str, Any]], types: dict[str, ColumnType]) -> Columns:
    """The columns of rows, first those of `types`. Other fields are kept: a later release may have added them."""
    values, count = _transpose(rows)
    if count == 0:
        return Columns({name: [] for name in types}, dict(types))
    names = _order(values, types)
    found = {name: types.get(name) or _type_of_column(name, values[name]) for name in names}
    return Columns({name: values[name] for name in names}, found)


def list_categories(name: str, values: Iterable[str | None]) -> list[str]:
    """The declared values in their order, then values that a later release has added."""
    found = dict.fromkeys([*CATEGORIES.get(name, ()), *(value for value in values if value is not None)])
    return list(found)


def _to_json(value: object) -> str | None:
    return None if value is None else write_json(value)


def to_pandas(columns: Columns) -> pandas.DataFrame:
    require("pandas")
    import numpy as np
    import pandas as pd

    def convert(name: str, kind: ColumnType, values: list[Any]) -> Any:
        if kind == "date":
            days = np.array(["NaT" if value is None else value for value in values], dtype="datetime64[D]")
            return days.astype("datetime64[s]")
        if kind == "category":
            return pd.Categorical(values, categories=list_categories(name, values))
        if kind == "json":
            return pd.Series(values, dtype="object")
        dtypes: dict[ColumnType, Any] = {"text": "string", "integer": "Int64", "real": "Float64", "boolean": "boolean"}
        return pd.Series(values, dtype=dtypes[kind])

    return pd.DataFrame({name: convert(name, columns.types[name], values) for name, values in columns.values.items()})


def to_polars(columns: Columns) -> polars.DataFrame:
    require("polars")
    import polars as pl

    def convert(name: str, kind: ColumnType, values: list[Any]) -> pl.Series:
        if kind == "date":
            return pl.Series(name, [value and date.fromisoformat(value) for value in values], dtype=pl.Date)
        if kind == "category":
            return pl.Series(name, values, dtype=pl.Enum(list_categories(name, values)))
        if kind == "json":
            return pl.Series(name, [_to_json(value) for value in values], dtype=pl.String)
        dtypes = {"text": pl.String(), "integer": pl.Int64(), "real": pl.Float64(), "boolean": pl.Boolean()}
        if kind == "real":
            values = [None if value is None else float(value) for value in values]
        return pl.Series(name, values, dtype=dtypes[kind])

    return pl.DataFrame([convert(name, columns.types[name], values) for name, values in columns.values.items()])


def has_arrow() -> bool:
    return find_spec("pyarrow") is not None


def to_arrow(columns: Columns) -> pyarrow.Table:
    require("pyarrow")
    import pyarrow as pa

    def convert(name: str, kind: ColumnType, values: list[Any]) -> Any:
        array = _to_array(kind, values)
        return _to_category(name, array) if kind == "category" else array

    return pa.table({name: convert(name, columns.types[name], values) for name, values in columns.values.items()})


def _to_array(kind: ColumnType, values: list[Any]) -> Any:
    """The values of a column in Arrow. A category is a string here: only the whole column has all its values."""
    import pyarrow as pa

    if kind == "date":
        return pa.array(values, pa.string()).cast(pa.date32())
    if kind == "json":
        return pa.array([_to_json(value) for value in values], pa.string())
    return pa.array(values, _arrow_types()["text" if kind == "category" else kind])


def _to_category(name: str, texts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(list_categories(name, texts.unique().to_pylist()), pa.string())
    return pa.DictionaryArray.from_arrays(pc.index_in(texts, known), known)


def build_table(
    pages: Iterable[Sequence[dict[str, Any]]], types: dict[str, ColumnType]
) -> tuple[pyarrow.Table, dict[str, ColumnType]]:
    """As `to_arrow` of all rows, and the type of each column. Each row must have a field.

    Each page becomes Arrow immediately: a fraction of the memory of Python objects. The type of a field that is
    not in `types` depends on all its values, so it is JSON until the end.
    """
    import pyarrow as pa

    tables = [
        pa.table({name: _to_array(types.get(name, "json"), values) for name, values in _transpose(page)[0].items()})
        for page in pages
        if page
    ]
    if not tables:
        return to_arrow(collect([], types)), types
    whole = pa.concat_tables(tables, promote_options="default").combine_chunks()
    columns: dict[str, Any] = {}
    kinds: dict[str, ColumnType] = {}
    for name in _order(whole.column_names, types):
        column = whole.column(name)
        if name in types:
            kinds[name] = types[name]
            columns[name] = _to_category(name, column.combine_chunks()) if types[name] == "category" else column
        else:
            values = [None if text is None else parse_json(text) for text in column.to_pylist()]
            kinds[name] = _type_of_column(name, values)
            columns[name] = _to_array(kinds[name], values)
    return pa.table(columns), kinds


@cache
def _arrow_types() -> dict[ColumnType, Any]:
    import pyarrow as pa

    return {
        "text": pa.string(),
        "integer": pa.int64(),
        "real": pa.float64(),
        "date": pa.date32(),
        "boolean": pa.bool_(),
        "json": pa.string(),
    }


def read_parquet(path: Path) -> pyarrow.Table:
    """A Parquet file of a release, with the types of `to_arrow`."""
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, types = pq.read_table(path), _arrow_types()

    def convert(name: str, column: Any) -> Any:
        kind = COLUMNS.get(name)
        if kind is None:
            return column
        if kind != "category":
            return column.cast(types[kind])
        return _to_category(name, column.cast(pa.string()).combine_chunks())

    return pa.table({name: convert(name, table.column(name)) for name in table.column_names})


def arrow_to_pandas(table: pyarrow.Table, types: Mapping[str, ColumnType] = COLUMNS) -> pandas.DataFrame:
    """As `to_pandas` of the same records."""
    require("pandas")
    import pandas as pd
    import pyarrow as pa

    dtypes = {
        pa.string(): pd.StringDtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    frame: pandas.DataFrame = table.to_pandas(types_mapper=dtypes.get, date_as_object=False)
    for name, kind in types.items():
        if name in frame and kind == "date":
            frame[name] = frame[name].astype("datetime64[s]")
        if name in frame and kind == "json":
            texts = table.column(name).to_pylist()
            frame[name] = pd.Series([None if text is None else parse_json(text) for text in texts], dtype="object")
    return frame


def arrow_to_polars(table: pyarrow.Table) -> polars.DataFrame:
    """As `to_polars` of the same records."""
    require("polars")
    import polars as pl
    import pyarrow as pa

    plain = {name: table.column(name) for name in table.column_names}
    categories: dict[str, list[str]] = {}
    for name, column in plain.items():
        if pa.types.is_dictionary(column.type):
            categories[name] = column.combine_chunks().dictionary.to_pylist()
            plain[name] = column.cast(pa.string())
    frame = pl.DataFrame(pl.from_arrow(pa.table(plain)))
    return frame.with_columns([pl.col(name).cast(pl.Enum(values)) for name, values in categories.items()])


def write_parquet(lines: Iterable[bytes], path: Path, metadata: dict[str, str]) -> int:
    """Writes the lines of a release as Parquet; returns their number.

    The first record has the fields of all. A field that this version of the package does not know is written as JSON.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = (json.loads(line) for line in lines)
    batch = list(islice(rows, _BATCH_RECORDS))
    kinds: dict[str, ColumnType] = {name: COLUMNS.get(name, "json") for name in batch[0]} if batch else COLUMNS
    types, records = _arrow_types(), 0
    fields = [(name, types["text" if kind == "category" else kind]) for name, kind in kinds.items()]
    schema = pa.schema(fields, metadata={f"outbreaks_{name}": text for name, text in metadata.items()})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch:
            writer.write_table(to_arrow(collect(batch, kinds)).cast(schema))
            records += len(batch)
            batch = list(islice(rows, _BATCH_RECORDS))
    return records


def read_parquet_metadata(path: Path) -> dict[str, str] | None:
    """The metadata of `write_parquet`; None if there is no such file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(path).metadata or {}
    except (FileNotFoundError, pa.ArrowInvalid):
        return None
    prefix = b"outbreaks_"
    return {
        name.removeprefix(prefix).decode(): text.decode() for name, text in found.items() if name.startswith(prefix)
    }
