"""Prints type, nulls and a digest of the values of every column in pandas and polars, for clients/compare/frames.ts."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from datetime import date

import pandas as pd
import polars as pl

from outbreaks import Client

NULL = "∅"


def to_text(value: object) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if pd.isna(value):  # type: ignore[call-overload]
        return NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, date):  # A Timestamp of pandas is one too.
        return f"{value:%Y-%m-%d}" if value.year >= 1000 else value.isoformat()[:10]
    return str(value)


def describe(frame: str, column: str, kind: str, values: Iterable[object]) -> None:
    texts = [to_text(value) for value in values]
    digest = hashlib.sha256("".join(text + "\n" for text in texts).encode()).hexdigest()
    line = {"frame": frame, "column": column, "type": kind, "nulls": texts.count(NULL), "values": digest}
    sys.stdout.write(json.dumps(line) + "\n")


def kind_of_pandas(series: pd.Series) -> str:
    kinds = pd.api.types
    if kinds.is_bool_dtype(series.dtype):
        return "boolean"
    if kinds.is_integer_dtype(series.dtype):
        return "integer"
    if kinds.is_float_dtype(series.dtype):
        return "real"
    return "date" if kinds.is_datetime64_any_dtype(series.dtype) else "text"


def kind_of_polars(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "real"
    return {"Boolean": "boolean", "Date": "date"}.get(str(dtype), "text")


def main() -> None:
    release = int(os.environ["FRAMES_RELEASE"])
    with Client() as client:
        loaded = client.load(release, progress=False)
        walked = client.records(release=release)
        for name, frame in (("pandas", loaded.to_pandas()), ("pandas, walked", walked.to_pandas())):
            for column in frame.columns:
                describe(name, column, kind_of_pandas(frame[column]), frame[column].tolist())
        walked = client.records(release=release)
        for name, table in (("polars", loaded.to_polars()), ("polars, walked", walked.to_polars())):
            for series in table.iter_columns():
                describe(name, series.name, kind_of_polars(series.dtype), series.to_list())


main()
