"""What changed between revisions of a published table, computed from its original files alone.

revisions.py long KEY_COLUMNS VALUE_COLUMNS FILE...    one line a step: records, added, corrected, withdrawn, falls
revisions.py wide FIRST_DATE_COLUMN FILE...            the same for a matrix of places by days, a record for each cell
revisions.py overlap MATRIX TABLE                      where a matrix and a table of countries by days differ
Columns are given with commas between them. A value column with a + behind its name counts since the beginning: where it is
lower than on the last earlier day of the same series that has a value (the last key column is the day), the record falls.
A record that falls where it did not in the revision before, or the other way round, is a corrected one. `falls` counts the
added and corrected records that fall. Standard library only.
"""
import csv
import datetime
import json
import sys


def rows_of(file, encoding="utf-8-sig"):
    with open(file, encoding=encoding) as handle:
        text = handle.read()  # every kind of line end has become one
    header, *rows = [row for row in csv.reader(text.split("\n")) if row]
    return [[name.removeprefix("\u00ef\u00bb\u00bf") for name in header], *rows]


def long_table(file, key_columns, value_columns):
    header, *rows = rows_of(file)
    records = {}
    for row in rows:
        cells = dict(zip(header, row))
        key = tuple(cells[name] for name in key_columns)
        assert key not in records, key
        records[key] = tuple(cells[name.rstrip("+")] for name in value_columns)
    return mark_falls(records, [place for place, name in enumerate(value_columns) if name.endswith("+")])


def mark_falls(records, places):
    marked, known = {}, {}
    for key in sorted(records, key=lambda key: key[-1]):
        values = records[key]
        last = known.setdefault(key[:-1], {})
        fell = False
        for place in places:
            if values[place] != "":
                count = int(values[place])
                fell = fell or count < last.get(place, count)
                last[place] = count
        marked[key] = (*values, fell)
    return marked


def matrix(file, first):
    header, *rows = rows_of(file)
    records = {}
    for row in rows:
        for name, cell in list(zip(header, row))[first:]:
            key = (row[0], row[1], datetime.datetime.strptime(name, "%m/%d/%y").date().isoformat())
            assert key not in records, key
            records[key] = (cell,)
    return mark_falls(records, [0])


def steps(tables):
    before = {}
    answer = []
    for table in tables:
        both = before.keys() & table.keys()
        answer.append(
            {
                "records": len(table),
                "added": len(table.keys() - before.keys()),
                "corrected": sum(before[key] != table[key] for key in both),
                "withdrawn": len(before.keys() - table.keys()),
                "falls": sum(values[-1] for key, values in table.items() if before.get(key) != values),
            }
        )
        before = table
    return answer


def overlap(matrix_file, table_file):
    cells = matrix(matrix_file, 4)
    divided = {country for province, country, _ in cells if province}
    table = long_table(table_file, ["Country", "Date"], ["Confirmed"])
    same, differ, absent = 0, {}, {}
    for (_, country, day), value in cells.items():
        if country in divided:
            continue
        other = table.get((country, day))
        if other is None:
            absent[country] = absent.get(country, 0) + 1
        elif other[0] == value[0]:
            same += 1
        else:
            differ[country] = differ.get(country, 0) + 1
    return {"same": same, "differ": differ, "absent": absent}


def main(command, *arguments):
    if command == "long":
        keys, values, *files = arguments
        return steps(long_table(file, keys.split(","), values.split(",")) for file in files)
    if command == "wide":
        first, *files = arguments
        return steps(matrix(file, int(first)) for file in files)
    if command == "overlap":
        return overlap(*arguments)
    raise SystemExit(__doc__)


print(json.dumps(main(*sys.argv[1:])))
