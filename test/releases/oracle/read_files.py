"""Reads a file of a release with DuckDB and prints the types of its columns, then each record as a line of JSON.

A CSV or a file of JSON lines is read with the types that are given; a Parquet file says its types itself.
"""
import datetime
import json
import sys

import duckdb

file, types = sys.argv[1], json.loads(sys.argv[2])
columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in types.items()) + "}"
source = {
    "csv": f"read_csv(?, header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', new_line = '\\r\\n', columns = {columns})",
    "ndjson": f"read_json(?, format = 'newline_delimited', columns = {columns})",
    "parquet": "read_parquet(?)",
}[file.rsplit(".", 1)[1]]

rows = duckdb.execute(f"select * from {source}", [file])
described = {column[0]: str(column[1]) for column in rows.description}
print(json.dumps(described))
while batch := rows.fetchmany(10_000):
    for row in batch:
        values = (value.isoformat() if isinstance(value, datetime.date) else value for value in row)
        print(json.dumps(dict(zip(described, values))))
