"""Data frames: the same values in pandas, polars and Arrow, and nothing lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from outbreaks import CATEGORIES, COLUMNS
from outbreaks._frames import (
    arrow_to_pandas,
    arrow_to_polars,
    build_table,
    collect,
    flatten,
    read_parquet,
    read_parquet_metadata,
    require,
    to_arrow,
    to_pandas,
    to_polars,
    write_parquet,
)

ROWS: list[dict[str, Any]] = [
    {
        "id": 9_007_199_254_740_991,
        "country_code": "NA",
        "event": "Null",
        "sex": "female",
        "cases": None,
        "latitude": -22,
        "date_low": "1861-05-01",
        "composite": True,
        "extra": {"note": "é", "values": [1, 2.5]},
    },
    {
        "id": 2,
        "country_code": "FR",
        "event": "",
        "sex": "a value of a later release",
        "cases": 0,
        "latitude": None,
        "date_low": None,
        "composite": False,
        "extra": {},
    },
]


def test_pandas_keeps_every_value() -> None:
    frame = to_pandas(collect(ROWS, dict(COLUMNS)))
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        "id": "Int64",
        "event": "string",
        "country_code": "string",
        "sex": "category",
        "cases": "Int64",
        "latitude": "Float64",
        "date_low": "datetime64[s]",
        "composite": "boolean",
        "extra": "object",
    }
    assert frame["id"].tolist() == [9_007_199_254_740_991, 2]
    assert frame["country_code"].tolist() == ["NA", "FR"]
    assert frame["event"].tolist() == ["Null", ""]
    assert frame["cases"].isna().tolist() == [True, False]
    assert frame["cases"].sum() == 0
    assert frame["sex"].tolist() == ["female", "a value of a later release"]
    assert list(frame["sex"].cat.categories) == [*CATEGORIES["sex"], "a value of a later release"]
    assert frame["date_low"][0] == pd.Timestamp("1861-05-01")
    assert frame["date_low"].isna().tolist() == [False, True]
    assert frame["extra"].tolist() == [{"note": "é", "values": [1, 2.5]}, {}]


def test_polars_keeps_every_value() -> None:
    frame = to_polars(collect(ROWS, dict(COLUMNS)))
    assert frame.schema["sex"] == pl.Enum([*CATEGORIES["sex"], "a value of a later release"])
    assert frame.schema["date_low"] == pl.Date
    assert frame.schema["cases"] == pl.Int64
    rows = frame.to_dicts()
    assert [row["country_code"] for row in rows] == ["NA", "FR"]
    assert [row["cases"] for row in rows] == [None, 0]
    assert [row["latitude"] for row in rows] == [-22.0, None]
    assert json.loads(rows[0]["extra"]) == ROWS[0]["extra"]


def test_arrow_and_the_other_two_agree() -> None:
    columns = collect(ROWS, dict(COLUMNS))
    table = to_arrow(columns)
    assert table.schema.field("sex").type == pa.dictionary(pa.int32(), pa.string())
    pd.testing.assert_frame_equal(arrow_to_pandas(table), to_pandas(columns))
    assert arrow_to_polars(table).equals(to_polars(columns))


def test_a_parquet_file_has_the_same_records(tmp_path: Path) -> None:
    path, metadata = tmp_path / "records.parquet", {"release": "4", "digest": "abc"}
    assert write_parquet((json.dumps(row).encode() for row in ROWS), path, metadata) == 2
    assert read_parquet_metadata(path) == metadata
    in_file_order = {name: COLUMNS[name] for name in ROWS[0]}
    assert read_parquet(path).equals(to_arrow(collect(ROWS, in_file_order)))
    assert read_parquet_metadata(tmp_path / "other.parquet") is None
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    assert read_parquet_metadata(tmp_path / "broken.parquet") is None


def test_a_release_without_records_is_a_parquet_file_with_all_columns(tmp_path: Path) -> None:
    assert write_parquet([], tmp_path / "empty.parquet", {}) == 0
    assert read_parquet(tmp_path / "empty.parquet").column_names == list(COLUMNS)


def test_without_records_the_columns_and_types_are_there() -> None:
    columns = collect([], dict(COLUMNS))
    assert list(to_pandas(columns)) == list(to_polars(columns).columns) == to_arrow(columns).column_names
    assert str(to_pandas(columns)["cases"].dtype) == "Int64"


def test_a_field_of_a_later_release_is_kept() -> None:
    columns = collect(
        [{"id": 1, "new_field": 5, "other": None}, {"id": 2, "new_field": 2.5, "other": None}], dict(COLUMNS)
    )
    assert columns.types == {"id": "integer", "new_field": "real", "other": "text"}


def test_a_field_that_is_missing_in_a_row_is_null() -> None:
    columns = collect([{"id": 1}, {"id": 2, "more": True}, {"id": 3}], {})
    assert columns.values == {"id": [1, 2, 3], "more": [None, True, None]}
    assert collect([{"value": 1}, {"value": "x"}], {}).types == {"value": "json"}


def test_objects_become_columns() -> None:
    row = {"period": "2024-W01", "new": {"cases": None}, "completeness": {"cases": {"share": None}}, "first_day": None}
    columns = collect([flatten(row)], {})
    assert columns.types == {
        "period": "text",
        "new_cases": "integer",
        "completeness_cases_share": "real",
        "first_day": "date",
    }


def test_a_missing_library_is_named_with_its_extra() -> None:
    require("pandas")
    with pytest.raises(ImportError, match=r"no_such_library: pip install 'outbreak-data\[plot\]'"):
        require("no_such_library", "plot")


PAGES: list[list[dict[str, Any]]] = [
    ROWS,
    [],
    [{**ROWS[1], "new_field": {"a": [1]}, "day": "2020-01-01"}, {**ROWS[0], "sex": "another one", "new_field": 1}],
    [{"id": 7, "count": 2**40, "first_day": "2020-02-29"}, {"id": 8, "count": None, "new_field": None}],
    # As many fields, but other ones.
    [{"id": 9, "event": "x"}, {"id": 10, "ratio": 1}],
    [{"ratio": 2.5}],
]


@pytest.mark.parametrize("pages", [PAGES, PAGES[:2], PAGES[3:], [[], []], []])
def test_pages_become_the_frames_of_all_their_rows(pages: list[list[dict[str, Any]]]) -> None:
    columns = collect([row for page in pages for row in page], dict(COLUMNS))
    table, kinds = build_table(pages, dict(COLUMNS))
    assert kinds == columns.types
    assert table.equals(to_arrow(columns))
    table.validate(full=True)
    pd.testing.assert_frame_equal(arrow_to_pandas(table, kinds), to_pandas(columns))
    assert arrow_to_polars(table).equals(to_polars(columns))


def test_a_day_that_is_not_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="2020-02-30"):
        build_table([[{"id": 1, "date_low": "2020-02-30"}]], dict(COLUMNS))
