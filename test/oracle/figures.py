"""The figures of a set of comparable series in ranges of days (docs/methods.md, rule 5)."""
from bisect import bisect_left, bisect_right

from records import COUNTS, to_day
from reports import DERIVED, analyse

FLAGS = ("derived", "revision", "base_unknown", "definition_changed", "includes_earlier_days", "overlapping", "inexact")


def make_figures(group, ranges):
    """The figures of comparable series in each range. The ranges are in order and have no common day.

    The reports of all series are read once in the order of their days, so that many ranges cost no more than one.
    """
    members = ("new", "cumulative", "point", "completeness")
    figures = [{**{name: {} for name in members}, **dict.fromkeys(FLAGS, False)} for _ in ranges]
    for count in COUNTS:
        running = Running(group, count)
        for figure, (first, last) in zip(figures, ranges):
            running.fill(figure, first, last)
    return figures


class Running:
    """What is known of one count up to a day."""

    def __init__(self, group, count):
        self.group, self.count, self.at = group, count, 0
        entries = [(entry, number) for number, series in enumerate(group) for entry in analyse(series)[count] if entry.value is not None]
        self.entries = sorted(entries, key=lambda pair: pair[0].day)
        self.latest, self.totals, self.known = {}, {}, set()

    def take(self, entry, number):
        """Adds a report to what is known."""
        series = self.group[number]
        self.latest[number] = entry.value
        is_level = series.kind in ("cumulative", "point")
        self.totals[number] = entry.value if is_level else self.totals.get(number, 0) + (entry.new or 0)
        self.known.add(series.site)

    def fill(self, figure, first, last):
        reports = []
        while self.at < len(self.entries) and (last is None or self.entries[self.at][0].day <= last):
            entry, number = self.entries[self.at]
            self.at += 1
            is_in_range = first is None or entry.day >= first
            if entry.reports():
                self.take(entry, number)
                if is_in_range:
                    reports.append((entry, number))
            if is_in_range:
                figure["overlapping"] |= entry.rule == "overlap"
        for entry, _ in reports:
            set_flags(figure, entry, first)
        reporting = {number: entry.value for entry, number in reports}  # the last report of each series
        kinds = {number: self.group[number].kind for number in self.latest}
        figure["new"][self.count] = add_up([entry.new for entry, _ in reports if entry.new is not None])
        figure["cumulative"][self.count] = add_up([value for number, value in self.latest.items() if kinds[number] == "cumulative"])
        figure["point"][self.count] = add_up([value for number, value in reporting.items() if kinds[number] == "point"])
        total = sum(max(own, 0) for own in self.totals.values())
        share = sum(max(self.totals[number], 0) for number in reporting)
        figure["completeness"][self.count] = {
            "places_known": len(self.known),
            "places_reporting": len({self.group[number].site for number in reporting}),
            "share": round(share / total, 4) if total > 0 else None,
        }


def set_flags(flags, entry, first):
    """The flags of one report in the range."""
    flags["derived"] |= entry.rule in DERIVED
    flags["revision"] |= entry.rule in ("dip", "rebound", "correction") or (entry.new is not None and entry.new < 0)
    flags["base_unknown"] |= entry.rule == "first_report"
    flags["definition_changed"] |= entry.definition_changed
    flags["inexact"] |= entry.record.data["count_qualifier"] != "exact"
    flags["includes_earlier_days"] |= entry.new is not None and first is not None and entry.since < first


def add_up(counts):
    return sum(counts) if counts else None


def describe_days(first, last):
    return {"first_day": to_day(first), "last_day": to_day(last)}


def within(series, items, first, last):
    """The items of a series in the range: its records, or the entries of a count, which have the same order."""
    if not hasattr(series, "record_days"):
        series.record_days = [record.day for record in series.records]
    begin = 0 if first is None else bisect_left(series.record_days, first)
    end = len(items) if last is None else bisect_right(series.record_days, last)
    return items[begin:end]


def records_within(series, first, last):
    return within(series, series.records, first, last)


def explain(group, covered, first, last):
    """The records of the range in the order of their ids, with the rule and the new count of each count."""
    listed = {}
    for series in group:
        for count in COUNTS:
            for entry in within(series, analyse(series)[count], first, last):
                line = listed.setdefault(entry.record.id, {"id": entry.record.id, "rules": {}, "new": {}})
                is_covered = series in covered
                line["rules"][count] = "covered" if is_covered else entry.rule
                line["new"][count] = None if is_covered else entry.new
    return [listed[number] for number in sorted(listed)]
