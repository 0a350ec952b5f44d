"""Reads the records of a release and sorts them into series (docs/methods.md, rules 1 and 2).

Written from docs/methods.md only. It shares no code with the service. Standard library only.
"""
import datetime
import json
import os
import unicodedata
from dataclasses import dataclass, field

COUNTS = ("cases", "deaths", "hospitalised", "recovered", "tested")
SERIES_FIELDS = (
    *("event", "pathogen", "disease", "host", "location_granularity", "location_type", "case_status", "count_kind"),
    *("date_type", "age_group", "sex", "population", "composite", "source_name"),
)
PLACE_FIELDS = (
    *("place_id", "country_code", "al1_code", "admin_l1", "admin_l2", "admin_l3", "locality"),
    "location_granularity",
)


def to_number(day):
    return None if day is None else datetime.date.fromisoformat(day).toordinal()


def to_day(number):
    return None if number is None else datetime.date.fromordinal(number).isoformat()


@dataclass(eq=False)
class Record:
    """One record: `low` and `day` are the days that its count covers; both are None if it is undated."""

    data: dict
    low: int | None
    day: int | None

    def __post_init__(self):
        self.id = self.data["id"]
        self.has_count = any(self.data[count] is not None for count in COUNTS)


EARLIER_NAMES = [("IN-OD", "Orissa"), ("IN-PY", "Pondicherry"), ("IN-UK", "Uttaranchal"), ("ID-AC", "Nanggroe Aceh Darussalam"), ("TR-33", "İçel")]
WIDE = ("global", "region", "multi_country")


def fold(name):
    """Without case, accents and punctuation."""
    letters = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in letters if unicodedata.category(letter)[0] in "LN").lower()


def read_subdivisions():
    """The codes of ISO 3166-2 by country and folded name; None if several parts have the name. The table is data, not code."""
    path = os.environ.get("SUBDIVISIONS")
    listed = []
    if path is not None:
        with open(path, encoding="utf-8") as file:
            listed = [(entry["code"], entry["name"]) for entry in json.load(file) if entry["parent"] == entry["code"][:2]]
    codes = {}
    for code, name in [*listed, *EARLIER_NAMES]:
        key = (code[:2], fold(name))
        codes[key] = code if codes.get(key, code) == code else None
    return codes


SUBDIVISIONS = read_subdivisions()


def first_level(data):
    """The code of the first level, given or by its name; None without."""
    if data["al1_code"] is not None or data["admin_l1"] is None:
        return data["al1_code"]
    return SUBDIVISIONS.get((data["country_code"], fold(data["admin_l1"])))


def is_user_code(code):
    """XA to XZ without Kosovo: ships, and reports about several countries."""
    return len(code) == 2 and code[0] == "X" and "A" <= code[1] <= "Z" and code != "XK"


def is_wide(data):
    """A place that may contain other places."""
    level = data["location_granularity"]
    return level in WIDE or (level == "country" and is_user_code(data["country_code"]))


def place_of(data):
    """Rule 1: what identifies the place."""
    level, code = data["location_granularity"], first_level(data)
    first = ("code", code) if code is not None else ("name", data["admin_l1"])
    names = (data["country_code"], first, data["admin_l2"], data["admin_l3"], data["locality"])
    if is_wide(data):
        return names if data["place_id"] is None else ("id", data["country_code"], data["place_id"])
    if level == "country":
        return ("country", data["country_code"])
    if level == "admin1" and code is not None:
        return ("code", code)
    return names if data["place_id"] is None else ("id", data["place_id"])


def days_of(data):
    """Rule 2: the first and the last day that the count covers; (None, None) if the record is undated."""
    low, high = to_number(data["date_low"]), to_number(data["date_high"])
    kind = data["count_kind"]
    if kind == "new":
        if low is None or high is None:
            only = low if high is None else high
            return only, only
        return low, high
    if kind == "cumulative":
        return (None, None) if high is None else (low, high)
    if kind == "period_to_date":
        return (None, None) if low is None or high is None else (low, high)
    day = low if high is None else high
    return day, day


@dataclass(eq=False)
class Series:
    key: tuple
    place: tuple
    fields: dict
    records: list = field(default_factory=list)
    undated: list = field(default_factory=list)
    latest: dict | None = None
    """The latest record: it has the names of the place as they are now."""

    @property
    def kind(self):
        return self.fields["count_kind"]

    @property
    def site(self):
        """The place with its level."""
        return (self.place, self.fields["location_granularity"])

    def value(self, name):
        return self.fields[name] if name in self.fields else self.latest[name]


def order_in_day(record):
    return record.data["date_report"] or "", record.id


def read_release(path):
    """All series of a release, from a file with one record in each line."""
    with open(path, encoding="utf-8") as lines:
        return make_series(json.loads(line) for line in lines)


def make_series(rows):
    series = {}
    for data in rows:
        place = place_of(data)
        key = (place, *(data[name] for name in SERIES_FIELDS))
        if key not in series:
            series[key] = Series(key, place, {name: data[name] for name in SERIES_FIELDS})
        low, day = days_of(data)
        own = series[key]
        (own.undated if day is None else own.records).append(Record(data, low, day))
    for own in series.values():
        own.records.sort(key=lambda record: (record.day, record.id))
        own.undated.sort(key=lambda record: record.id)
        own.latest = max(own.records or own.undated, key=lambda record: (record.day or 0, *order_in_day(record))).data
    return list(series.values())
