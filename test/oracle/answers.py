"""Answers questions about series, sums, vintages, events, mixtures and numbers of records (docs/methods.md, rules 5 to 10)."""
import json

from comparable import GUARDED, choose_comparable, find_mixed, guarded_fields, is_container
from cover import choose_cover, in_scope
from figures import describe_days, explain, make_figures, records_within
from intervals import INTERVALS, interval_of
from records import COUNTS, PLACE_FIELDS, to_day, to_number


class NotComparable(Exception):
    def __init__(self, mixed):
        super().__init__("not_comparable")
        self.mixed = mixed


def answer(releases, question):
    """`releases` has for each number the series and the day of publication."""
    kinds = {"series": series_answer, "sums": sums_answer, "events": events_answer, "count": count_answer, "guard": guard_answer}
    try:
        if question["kind"] == "vintages":
            return vintages_answer(releases, question)
        release = question.get("release") or max(releases)
        return kinds[question["kind"]](releases[release]["series"], question)
    except NotComparable as refusal:
        return {"refused": "not_comparable", "mixed": refusal.mixed}


def select(all_series, question):
    """The series that match the filters. Filters name fields that are the same for a whole series."""
    place = question.get("place")

    def matches(series):
        if place is not None and not in_scope(series, place):
            return False
        if any(series.value(name) is not None for name in question.get("missing", ())):
            return False
        return all(series.value(name) in values for name, values in question.get("filters", {}).items())

    return [series for series in all_series if matches(series)]


def window_of(question):
    return to_number(question.get("date_from")), to_number(question.get("date_to"))


def cut(first, last, window):
    """The days of an interval that are in the window."""
    return max(first, window[0] or first), min(last, window[1] or last)


def group_value(series, name):
    return {field: series.latest[field] for field in PLACE_FIELDS} if name == "place" else series.value(name)


def group_key(series, name):
    return series.site if name == "place" else series.value(name)


def split_groups(matching, names):
    """The groups by the values of the fields, in ascending order with null last."""
    groups = {}
    for series in matching:
        groups.setdefault(tuple(group_key(series, name) for name in names), []).append(series)

    def order(key):
        return [(value is None, json.dumps(value) if isinstance(value, (tuple, bool)) else value or "") for value in key]

    keys = sorted(groups, key=order)
    return [({name: group_value(groups[key][-1], name) for name in names}, groups[key]) for key in keys]


class Selection:
    """The series of one group in the days of the answer: comparable, and without places that others cover."""

    def __init__(self, group, question):
        window = window_of(question)
        self.group, self.window, self.question = group, window, question
        fields, across = guarded_fields(question), question.get("across", ())
        self.mixed = find_mixed(group, fields, across, *window)
        self.counted, self.covered = group, set()
        if question.get("place") is None:
            self.used = choose_comparable(group, fields, across, window)
        else:
            self.places, left_out = choose_cover(group, *window)
            self.covered = set(left_out)
            # With a place, the numbers of records and series are about the places that are used, if there are any.
            used = [series for own in self.places.values() for series in own]
            self.counted = used or group
            self.used = choose_comparable(used, fields, across, window)

    def records(self):
        return [record for series in self.counted for record in records_within(series, *self.window)]

    def undated(self):
        return sorted(record.id for series in self.counted for record in series.undated)

    def figures(self, ranges):
        """Of each range: the figure and, if wanted, the explanation."""
        figures = make_figures(self.used, ranges)
        if self.question.get("explain"):
            for figure, days in zip(figures, ranges):
                figure["explain"] = explain(self.group, self.covered, *days)
        return figures

    def cover(self):
        """The places with their records in the days of the answer; 0 if only earlier counts are used."""
        known = {series for series in self.used if records_within(series, None, self.window[1])}
        made_of = []
        for own in self.places.values():
            records = sum(len(records_within(series, *self.window)) for series in own)
            if records > 0 or known.intersection(own):
                made_of.append({"location_granularity": own[0].fields["location_granularity"], "records": records})
        return {"made_of": made_of}

    def summary(self):
        series = sum(1 for series in self.counted if records_within(series, *self.window))
        summary = {"records": len(self.records()), "series": series, "undated": len(self.undated())}
        if self.question.get("place") is not None:
            summary["cover"] = self.cover()
        return summary


def refuse_mixtures(selections):
    mixed = {}
    for selection in selections:
        for name, values in selection.mixed.items():
            mixed.setdefault(name, []).extend(values)
    if mixed:
        raise NotComparable(mixed)


def rows_of(selection, interval):
    """One row for each interval in which a record has its day; without an interval one row for all days."""
    ranges = {}
    for record in selection.records():
        if interval is None:
            key = (*selection.window, "")
        else:
            name, first, last = interval_of(interval, record.day)
            key = (first, last, name)
        ranges.setdefault(key, []).append(record.day)
    keys = sorted(ranges)
    cuts = [key[:2] if interval is None else cut(*key[:2], selection.window) for key in keys]
    rows = []
    for key, (first, last), figure in zip(keys, cuts, selection.figures(cuts)):
        days = ranges[key]
        shown = describe_days(min(days) if first is None else first, max(days) if last is None else last)
        rows.append({"period": key[2], "reference_date": to_day(key[1]), **shown, "records": len(days), **figure})
    return rows


def series_answer(all_series, question):
    names = question.get("group_by", [])
    matching = select(all_series, question)
    groups = [(value, Selection(group, question)) for value, group in split_groups(matching, names)]
    refuse_mixtures(selection for _, selection in groups)
    if not names:
        selection = groups[0][1] if groups else Selection([], question)
        return {**selection.summary(), "points": rows_of(selection, question["interval"])}
    answered = [
        {"group": value, **selection.summary(), "points": rows_of(selection, question["interval"])}
        for value, selection in groups
    ]
    result = {"groups": [group for group in answered if group["records"] or group["undated"]]}
    if names == ["source_name"]:
        result["range"] = range_of(answered)
    return result


def range_of(groups):
    """The smallest and the largest count of the groups in each interval."""
    periods = {}
    for group in groups:
        for point in group["points"]:
            periods.setdefault((point["first_day"], point["last_day"], point["period"]), []).append(point)

    def extent(points, member, count):
        counts = [point[member][count] for point in points if point[member][count] is not None]
        return {"min": min(counts), "max": max(counts)} if counts else None

    return [
        {
            **{"period": name, "first_day": first, "last_day": last},
            **{member: {count: extent(points, member, count) for count in COUNTS} for member in ("new", "cumulative")},
        }
        for (first, last, name), points in sorted(periods.items())
    ]


def sums_answer(all_series, question):
    names = question.get("group_by", [])
    period = next((name for name in names if name in INTERVALS), None)
    groups = split_groups(select(all_series, question), [name for name in names if name != period])
    selections = [(value, Selection(group, question)) for value, group in groups]
    refuse_mixtures(selection for _, selection in selections)
    result = {"records": 0, "series": 0, "undated": 0}
    data, covers = [], []
    for value, selection in selections:
        summary = selection.summary()
        for name in result:
            result[name] += summary[name]
        for row in rows_of(selection, period):
            data.append({"group": value | ({period: row["period"]} if period else {}), **row})
        covers.append({"group": value, **summary.get("cover", {})})
    if question.get("place") is not None:
        result["covers"] = covers
    return {**result, "groups": len(data), "data": data}


def vintages_answer(releases, question):
    data = []
    count = question["count"]
    for number in sorted(releases):
        if not (question.get("from") or 0) <= number <= (question.get("to") or number):
            continue
        release = releases[number]
        for point in series_answer(release["series"], question | {"group_by": []})["points"]:
            row = {"release": number, "report_date": release["published"]}
            row |= {name: point[name] for name in ("period", "reference_date", "records", "revision")}
            data.append(row | {name: point[name][count] for name in ("new", "cumulative", "point")})
    return {"data": data}


def events_answer(all_series, question):
    """The figures of each event: one for each combination of the fields of rule 6."""
    events = {}
    for series in all_series:
        events.setdefault(series.fields["event"], []).append(series)
    return {"events": {event: event_figures(group) for event, group in events.items()}}


def event_figures(group):
    combinations = {}
    for series in group:
        key = (*(series.fields[name] for name in GUARDED), series.site if is_container(series) else None)
        combinations.setdefault(key, []).append(series)
    figures = []
    for members in combinations.values():
        records = [record for series in members for record in (*series.records, *series.undated)]
        days = [day for record in records for day in (record.data["date_low"], record.data["date_high"]) if day is not None]
        [figure] = make_figures(members, [(None, None)])
        values = {name: members[0].fields[name] for name in GUARDED if members[0].fields[name] is not None}
        kept = {"records": len(records), "first_day": min(days, default=None), "last_day": max(days, default=None)}
        kept |= {"new": figure["new"], "cumulative": figure["cumulative"]}
        figures.append({**values, "places": len({series.site for series in members}), **kept})
    return figures


def count_answer(all_series, question):
    """The number of records that match. The days of a record overlap the window; a null end is open."""
    number = 0
    for series in all_series:
        for record in (*series.records, *series.undated):
            number += matches_record(record.data, question)
    return {"count": number}


def matches_record(data, question):
    if any(data[name] is not None for name in question.get("missing", ())):
        return False
    if not all(data[name] in values for name, values in question.get("filters", {}).items()):
        return False
    low, high = data["date_low"] or data["date_high"], data["date_high"] or data["date_low"]
    first, last = question.get("date_from"), question.get("date_to")
    if first is None and last is None:
        return True
    if low is None:
        return False
    return (first is None or high >= first) and (last is None or low <= last)


def guard_answer(all_series, question):
    """Whether a list of records would be refused with strict=true."""
    refuse_mixtures([Selection(select(all_series, question), question)])
    return {}
