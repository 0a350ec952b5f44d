"""Answers questions about series, sums, vintages, events, mixtures and numbers of records (docs/methods.md, rules 5 to 11)."""
import copy
import dataclasses
import json

from comparable import (
    GUARDED,
    NEVER_ADDED,
    STRATA,
    choose_comparable,
    counted_records,
    find_contained,
    find_mixed,
    guarded_fields,
    is_container,
    leave_contained,
    pattern_of,
)
from cover import choose_cover, in_scope, paths_of, within_place
from figures import describe_days, explain, make_figures, records_within
from intervals import INTERVALS, interval_of
from recommended import SUBJECT, CountedSet, Refused, choose, choose_sets, is_curve, total_of
from records import COUNTS, PLACE_FIELDS, to_day, to_number

ALL_LEVELS = ("global", "region", "multi_country", "country", "admin1", "admin2", "admin3", "locality")
ABOVE = {
    **dict.fromkeys(("country_code", "who_region", "un_region"), ()),
    **dict.fromkeys(("al1_code", "admin_l1"), ("country",)),
    "admin_l2": ("country", "admin1"),
}


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
    except Refused as refusal:
        return {"refused": "not_comparable", "doubts": refusal.doubts}


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


def split_levels(matching, question):
    """Rule 7: the series of the table, and those of places that contain the groups."""
    names = question.get("group_by", ())
    places = [name for name in names if name in ABOVE or name == "place"]
    if not places or "location_granularity" in names:
        return matching, []
    window = window_of(question)
    reporting = [series for series in matching if counted_records(series, *window)]
    above = {level for name in places if name != "place" for level in ABOVE[name]}
    if "place" in places:
        sites = {level: set() for level in ALL_LEVELS}
        for series in reporting:
            if not is_container(series):
                sites[series.fields["location_granularity"]].add(series.site)
        most = max(len(own) for own in sites.values())
        kept = next(level for level in ALL_LEVELS if len(sites[level]) == most)
        above = {level for level in ALL_LEVELS if level != kept}

    def is_beside(series):
        return is_container(series) or series.fields["location_granularity"] in above

    beside = [series for series in matching if is_beside(series)]
    if all(is_beside(series) for series in reporting) or not any(is_beside(series) for series in reporting):
        return matching, []
    return [series for series in matching if not is_beside(series)], beside


def find_beside(beside, question):
    """One figure for each place beside the table; None if one of them is mixed."""
    groups = split_groups(beside, ["place"])
    asked = {name: value for name, value in question.items() if name not in ("place", "explain")} | {"group_by": ["place"]}
    asked |= {"kind": "sums"}
    try:
        selections, _ = recommend([(value, Selection(group, asked)) for value, group in groups], asked)
    except (NotComparable, Refused):
        return None
    return [{**value, **row} for value, selection in selections for row in rows_of(selection, None)]


class Selection:
    """The series of one group in the days of the answer: comparable, and without places that others cover."""

    def __init__(self, group, question):
        window = window_of(question)
        place = question.get("place")
        paths = {}
        if place is not None:
            group = within_place(group, place)
            paths = paths_of(group)
        self.group, self.window, self.question = group, window, question
        fields, across = guarded_fields(question), question.get("across", ())
        self.mixed = find_mixed(group, fields, across, *window)
        self.counted, self.covered, self.is_partial = group, set(), False
        if place is not None:
            # Each event and each group of people has a cover of its own.
            counted = {}
            for series in group:
                counted.setdefault(tuple(series.fields[name] for name in (*SUBJECT, *STRATA)), []).append(series)
            covers = [choose_cover(own, paths, *window) for own in counted.values()]
            self.places = {}
            for places, left_out, is_partial in covers:
                for path, own in places.items():
                    self.places.setdefault(path, []).extend(own)
                self.covered |= set(left_out)
                self.is_partial |= is_partial
            # With a place, the numbers of records and series are about the places that are used, if there are any.
            used = [series for own in self.places.values() for series in own]
            self.counted = used or group
        used = self.counted if place is None or self.counted is not group else []
        self.used = choose_comparable(used, fields, across, window)
        if not self.mixed:
            contained = leave_contained(used, self.used, window)
            self.covered |= contained
            self.counted = [series for series in self.counted if series not in contained]
            self.used = [series for series in self.used if series not in contained]
        self.spans = []
        self.judged = [pattern_of(series, fields, across) for series in self.counted if any(record.has_count for record in series.undated)]

    def records(self):
        return [record for series in self.counted for record in records_within(series, *self.window)]

    def undated(self):
        return sorted(record.id for series in self.counted for record in series.undated)

    def figures(self, ranges):
        """Of each range: the figure and, if wanted, the explanation."""
        figures, self.spans = make_figures(self.used, ranges)
        if self.is_partial:
            for figure in figures:
                for completeness in figure["completeness"].values():
                    completeness["share"] = None
        if self.question.get("explain"):
            for figure, days in zip(figures, ranges):
                figure["explain"] = explain(self.group, self.covered, *days)
        return figures

    def undated_counts(self):
        """Rule 2: of each series the greatest of each count, added up; None if they must not be added up."""
        if len(set(self.judged)) != 1:
            return None
        counts = {}
        for series in self.counted:
            for count in COUNTS:
                known = [record.data[count] for record in series.undated if record.data[count] is not None]
                counts[count] = counts.get(count) if not known else (counts.get(count) or 0) + max(known)
        return counts

    def cover(self):
        """The places with their records in the days of the answer; 0 if only earlier counts are used."""
        known = {series for series in self.used if records_within(series, None, self.window[1])}
        counted, made_of = set(self.counted), []
        for own in self.places.values():
            own = [series for series in own if series in counted]
            records = sum(len(records_within(series, *self.window)) for series in own)
            if records > 0 or known.intersection(own):
                made_of.append({"location_granularity": own[0].fields["location_granularity"], "records": records})
        return {"made_of": made_of}

    def summary(self):
        series = sum(1 for series in self.counted if records_within(series, *self.window))
        summary = {"records": len(self.records()), "series": series, "undated": len(self.undated())}
        summary["undated_counts"] = self.undated_counts()
        if self.question.get("place") is not None:
            summary["cover"] = self.cover()
        return summary


class Chosen(Selection):
    """The chosen sets of one group, added up. `others` are undated records of subjects that have no set."""

    def __init__(self, parts, question, others=()):
        self.window, self.question, self.spans = window_of(question), question, []
        self.group = [series for part in parts for series in part.group]
        # Ages in common are never added up, also of two sets.
        strata = [name for name in STRATA if name in question.get("across", ())]
        self.mixed = find_mixed(self.group, strata, strata, *self.window)
        if self.mixed:
            raise NotComparable(self.mixed)
        self.counted = [*(series for part in parts for series in part.counted), *others]
        self.used = [series for part in parts for series in part.used]
        self.covered = {series for part in parts for series in part.covered}
        fields, across = guarded_fields(question), question.get("across", ())
        self.judged = [values for part in parts for values in part.judged]
        self.judged += [pattern_of(series, fields, across) for series in others if any(record.has_count for record in series.undated)]
        if counts_undated(question):
            self.judged = self.judged[:1]  # how each was counted was chosen
        self.is_partial = any(part.is_partial for part in parts)
        self.places = {}
        for part in parts if question.get("place") is not None else ():
            for path, own in part.places.items():
                self.places.setdefault(path, []).extend(own)
        # The counts of records without a day are in undated_counts only.
        days = (None, self.window[1])
        self.kinds = {part.group[0].kind for part in parts if any(records_within(series, *days) for series in part.counted)}

    def figures(self, ranges):
        figures = super().figures(ranges)
        for figure in figures if len(self.kinds) > 1 else ():
            figure |= {"cumulative": dict.fromkeys(COUNTS), "point": dict.fromkeys(COUNTS)}
        return figures


def counts_undated(question):
    """In a total of all days, a record without a day counts too."""
    days = [question.get("date_from"), question.get("date_to"), question.get("place")]
    return not is_curve(question) and all(value is None for value in days)


def has_known(series, window, question):
    """Whether the series has a record that counts in this question."""
    undated = counts_undated(question) and any(record.has_count for record in series.undated)
    return undated or bool(counted_records(series, *window))


def is_mixed(selection, question):
    """Whether the records that count must not be added up."""
    fields, across = guarded_fields(question), question.get("across", ())
    known = {pattern_of(series, fields, across) for series in selection.group if has_known(series, selection.window, question)}
    return bool(selection.mixed) or len(known) > 1


def sets_in(selection, question):
    """The sets of a group: the records with a count in the range that agree in all fields."""
    sets = []
    for members in by_set(selection.group, question).values():
        if any(has_known(series, selection.window, question) for series in members):
            own = Selection(members, question)
            undated = None
            if counts_undated(question):
                contained = find_contained(members)
                undated = greatest_undated([series for series in members if series not in contained])
            # The name of a part of a country can have its code from another set: then this set has no series in the place.
            if any(has_known(series, selection.window, question) for series in own.counted):
                sets.append(CountedSet(own, question, undated))
    return sets


def set_key(series, question):
    """The subject, and the values of rule 6. Fields that are added up on purpose (`across`) do not tell sets apart."""
    values = pattern_of(series, guarded_fields(question), question.get("across", ()))
    return tuple(series.fields[name] for name in SUBJECT), values


def subject_of(series):
    return tuple(series.fields[name] for name in SUBJECT)


def undated_only(group, known):
    """The undated records of subjects without a set."""
    others = [copy.copy(series) for series in group if series.undated and subject_of(series) not in known]
    for series in others:
        series.records = []
        for name in ("entries", "record_days"):
            series.__dict__.pop(name, None)
    return others


def by_set(group, question):
    members = {}
    for series in group:
        members.setdefault(set_key(series, question), []).append(series)
    return members


def recommend(groups, question):
    """Rule 11: each group with its chosen sets, and what was chosen and left out. With strict=true a mixture is refused."""
    if question.get("strict"):
        refuse_mixtures(selection for _, selection in groups)
    if question.get("strict") or not any(is_mixed(selection, question) for _, selection in groups):
        refuse_mixtures(selection for _, selection in groups)
        return groups, {"chosen": [], "reasons": [], "left_out_total": 0}
    answered, chosen, reasons, doubts, answerable = [], [], [], [], False
    for value, selection in groups:
        sets = sets_in(selection, question)
        best, left_out, doubtful = choose_sets(sets, question)
        # Age groups with an age in common are never added up.
        refuse_mixtures(own.selection for own in best)
        others = undated_only(selection.group, {subject_of(series) for own in sets for series in own.series})
        selection = Chosen([own.selection for own in best], question, others)
        doubts += doubtful.values()
        reasons += left_out.values()
        answerable |= bool(best)
        chosen += [describe_set(own, value) for own in best]
        if best or others:
            answered.append((value, selection))
    if doubts and not answerable:
        raise Refused(doubts)
    return answered, {"chosen": chosen, "reasons": sorted(reasons), "left_out_total": len(reasons)}


def describe_set(own, value):
    values = {name: own.fields[name] for name in GUARDED}
    for name in STRATA:
        if name in own.question.get("across", ()) and values[name] is not None:
            values[name] = "groups added up"
    if own.level is None:
        del values["location_granularity"]
    first, last = own.days or (None, None)
    days = {"first_day": to_day(first), "last_day": to_day(last)}
    return {"group": value, "values": values, "records": len(own.records), **days, "counts": own.totals}


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
        begins = figure.pop("begins")
        start = min(days) if begins is None else min(begins, *days)
        shown = describe_days(start if first is None else first, max(days) if last is None else last)
        rows.append({"period": key[2], "reference_date": to_day(key[1]), **shown, "records": len(days), **figure})
    return rows


def series_answer(all_series, question):
    names = question.get("group_by", [])
    matching, beside = split_levels(select(all_series, question), question)
    groups = [(value, Selection(group, question)) for value, group in split_groups(matching, names)]
    groups, recommended = recommend(groups, question)
    if not names:
        selection = groups[0][1] if groups else Selection([], question)
        points = rows_of(selection, question["interval"])
        return {**recommended, **selection.summary(), "points": points, "spans": selection.spans}
    answered = []
    for value, selection in groups:
        points = rows_of(selection, question["interval"])
        answered.append({"group": value, **selection.summary(), "points": points, "spans": selection.spans})
    kept = [group for group in answered if group["records"] or group["undated"]]
    result = {**recommended, "groups": kept, "beside": find_beside(beside, question)}
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
    matching, beside = split_levels(select(all_series, question), question)
    groups = split_groups(matching, [name for name in names if name != period])
    selections = [(value, Selection(group, question)) for value, group in groups]
    selections, recommended = recommend(selections, question)
    result = {"records": 0, "series": 0, "undated": 0}
    data, covers, spans, undated = [], [], [], []
    for value, selection in selections:
        summary = selection.summary()
        for name in result:
            result[name] += summary[name]
        for row in rows_of(selection, period):
            last = to_number(row["last_day"])
            is_part = period is not None or question.get("date_from") is not None
            total = row["new"] if is_part else total_of(selection.used, last)
            data.append({"group": value | ({period: row["period"]} if period else {}), "total": total, **row})
        covers.append({"group": value, **summary.get("cover", {})})
        spans += [{"group": value, **span} for span in selection.spans]
        if summary["undated_counts"] is not None:
            undated.append({"group": value, "records": summary["undated"], "counts": summary["undated_counts"]})
    if question.get("place") is not None:
        result["covers"] = covers
    others = {"spans": spans, "undated_counts": undated, "beside": find_beside(beside, question)}
    return {**recommended, **result, "groups": len(data), "data": data, **others}


def vintages_answer(releases, question):
    """Rules 9 and 11. If a release has several ways of counting, all have those of the last one. A refusal is about the last such release."""
    numbers = [number for number in sorted(releases) if (question.get("from") or 0) <= number <= (question.get("to") or number)]
    wanted = {number: Selection(select(releases[number]["series"], question), question) for number in numbers}
    recommended = {"chosen": []}
    if question.get("strict"):
        for number in reversed(numbers):
            refuse_mixtures([wanted[number]])
    elif any(selection.mixed for selection in wanted.values()):
        [(_, last)], recommended = recommend([({}, wanted[numbers[-1]])], question)
        keys = {set_key(series, question) for series in last.group if counted_records(series, *last.window)}
        wanted = {number: restrict(selection, keys, question) for number, selection in wanted.items()}
    data = []
    for number, selection in wanted.items():
        for point in rows_of(selection, question["interval"]):
            row = {"release": number, "report_date": releases[number]["as_of"]}
            row |= {name: point[name] for name in ("period", "reference_date", "records", "revision")}
            data.append(row | {name: point[name][question["count"]] for name in ("new", "cumulative", "point")})
    return {**recommended, "data": data}


def restrict(selection, keys, question):
    """The series of a selection that are in these sets."""
    members = by_set(selection.group, question)
    return Chosen([Selection(own, question) for key, own in members.items() if key in keys], question)


def events_answer(all_series, question):
    """The figures of each event: one for each combination of the fields of rule 6."""
    events = {}
    for series in all_series:
        events.setdefault(series.fields["event"], []).append(series)
    headlines = {event: headline_of(group) for event, group in events.items()}
    return {"events": {event: event_figures(group) for event, group in events.items()}, "headlines": headlines}


def headline_of(group):
    """Rule 11: the set that is chosen from all sets of an event as for a total; null if there is a doubt."""
    question = {"kind": "events"}
    sets = []
    for members in by_set(group, question).values():
        if any(record.has_count for series in members for record in (*series.records, *series.undated)):
            contained = find_contained(members)
            undated = greatest_undated([series for series in members if series not in contained])
            sets.append(CountedSet(Selection(members, question), question, undated))
    # Counts at a moment have no total.
    sets = [own for own in sets if any(total is not None for total in own.totals.values())]
    if not sets:
        return {"headline": None, "doubt": None}
    if len({tuple(own.fields[name] for name in SUBJECT) for own in sets}) > 1:
        return {"headline": None, "doubt": "subjects"}
    best, left_out, doubt = choose(sets, question)
    if doubt is not None:
        return {"headline": None, "doubt": doubt}
    values = {name: best.fields[name] for name in NEVER_ADDED}
    return {"headline": {**best.totals, **values, "left_out": len(left_out)}, "doubt": None}


def event_figures(group):
    combinations = {}
    for series in group:
        key = (*(series.fields[name] for name in GUARDED), series.site if is_container(series) else None)
        combinations.setdefault(key, []).append(series)
    figures = []
    last_day = max((day for series in group for record in (*series.records, *series.undated) for day in days_in(record)), default=None)
    for everything in combinations.values():
        contained = find_contained(everything)
        members = [series for series in everything if series not in contained]
        records = [record for series in everything for record in (*series.records, *series.undated)]
        days = [day for record in records for day in days_in(record)]
        [figure], _ = make_figures(members, [(None, None)])
        values = {name: members[0].fields[name] for name in GUARDED if members[0].fields[name] is not None}
        kept = {"records": len(records), "first_day": min(days, default=None), "last_day": max(days, default=None)}
        kept |= {"new": figure["new"], "cumulative": figure["cumulative"], "undated": greatest_undated(members)}
        is_total = members[0].kind == "cumulative"
        kept["interim"] = is_total and (figure["interim"] or (kept["last_day"] or "") < (last_day or ""))
        figures.append({**values, "places": len({series.site for series in members}), **kept})
    return figures


def days_in(record):
    return [day for day in (record.data["date_low"], record.data["date_high"]) if day is not None]


def greatest_undated(members):
    counts = dict.fromkeys(COUNTS)
    for series in members:
        for count in COUNTS:
            known = [record.data[count] for record in series.undated if record.data[count] is not None]
            if known:
                counts[count] = (counts[count] or 0) + max(known)
    return counts


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
    """Whether a list of records would be refused with strict=true. Its filters are about records, not about series."""
    listed = []
    for series in all_series:
        records = [record for record in series.records if matches_record(record.data, question)]
        if records:
            listed.append(dataclasses.replace(series, records=records))
    refuse_mixtures([Selection(listed, {**question, "date_from": None, "date_to": None})])
    return {}
