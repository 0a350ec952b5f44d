"""The figures of a set of comparable series in ranges of days (docs/methods.md, rule 5)."""
from bisect import bisect_left, bisect_right

from records import COUNTS, to_day, to_number
from reports import DERIVED, analyse, is_regular

FLAGS = (
    *("derived", "revision", "base_unknown", "definition_changed", "includes_earlier_days", "overlapping", "inexact"),
    *("interim", "in_span"),
)
EARLIER_DAYS = 6
FINAL_DAYS = 42


def belongs(entry, first, last):
    """Rule 5: whether a new count belongs to the range in which it has its day."""
    if first is None or entry.since >= first:
        return True
    return entry.since >= first - EARLIER_DAYS and (last is None or entry.day - entry.since <= last - first)


def make_figures(group, ranges):
    """The figures of comparable series in each range, and the spans. The ranges are in order and have no common day.

    The reports of all series are read once in the order of their days, so that many ranges cost no more than one.
    """
    members = ("new", "cumulative", "point", "completeness")
    figures = [{**{name: {} for name in members}, **dict.fromkeys(FLAGS, False), "begins": None} for _ in ranges]
    spans = {}
    for count in COUNTS:
        running = Running(group, count)
        for figure, (first, last) in zip(figures, ranges):
            for entry in running.fill(figure, first, last):
                span = spans.setdefault((entry.since, entry.day), {"records": set(), "new": {}})
                span["records"].add(entry.record.id)
                span["new"][count] = span["new"].get(count, 0) + entry.new
    for figure, (first, last) in zip(figures, ranges):
        figure["interim"] = any(is_interim(series, first, last) for series in group)
        low, high = to_ends(first, last)
        figure["in_span"] = any(since <= high and day >= low for since, day in spans)
    return figures, [
        {**describe_days(since, day), "records": len(span["records"]), "new": {count: span["new"].get(count) for count in COUNTS}}
        for (since, day), span in sorted(spans.items(), key=lambda item: (item[0][1], item[0][0]))
    ]


def to_ends(first, last):
    return (float("-inf") if first is None else first), (float("inf") if last is None else last)


def is_interim(series, first, last):
    """Whether the last total of the series is in the range and was published soon after its last day."""
    day, published = to_number(series.latest["date_high"]), to_number(series.latest["date_report"])
    if series.kind != "cumulative" or day is None or published is None:
        return False
    low, high = to_ends(first, last)
    return low <= day <= high and published - day < FINAL_DAYS


class Running:
    """What is known of one count up to a day."""

    def __init__(self, group, count):
        self.group, self.count, self.at = group, count, 0
        entries = [(entry, number) for number, series in enumerate(group) for entry in analyse(series)[count] if entry.value is not None]
        self.entries = sorted(entries, key=lambda pair: (pair[0].day, pair[0].is_late))
        self.latest, self.totals, self.known = {}, {}, set()
        self.regular = [is_regular(series, analyse(series)[count]) for series in group]

    def take(self, entry, number):
        """Adds a report to what is known."""
        series = self.group[number]
        self.latest[number] = entry.value
        if not self.regular[number]:
            return
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
        spans = [entry for entry, _ in reports if entry.new is not None and not belongs(entry, first, last)]
        own = [entry for entry, _ in reports if entry.new is not None and belongs(entry, first, last)]
        for entry, _ in reports:
            set_flags(figure, entry)
        for entry in own:
            figure["includes_earlier_days"] |= first is not None and entry.since < first
            figure["begins"] = entry.since if figure["begins"] is None else min(figure["begins"], entry.since)
        last_counts = {number: entry.value for entry, number in reports}  # the last report of each series
        reporting = [number for number in last_counts if self.regular[number]]
        kinds = {number: self.group[number].kind for number in self.latest}
        figure["new"][self.count] = add_up([entry.new for entry in own])
        figure["cumulative"][self.count] = add_up([value for number, value in self.latest.items() if kinds[number] == "cumulative"])
        figure["point"][self.count] = add_up([value for number, value in last_counts.items() if kinds[number] == "point"])
        total = sum(max(own, 0) for own in self.totals.values())
        share = sum(max(self.totals[number], 0) for number in reporting)
        figure["completeness"][self.count] = {
            "places_known": len(self.known),
            "places_reporting": len({self.group[number].site for number in reporting}),
            "share": round(share / total, 4) if total > 0 else None,
        }
        return spans


def set_flags(flags, entry):
    """The flags of one report in the range."""
    flags["derived"] |= entry.rule in DERIVED
    flags["revision"] |= entry.rule in ("dip", "rebound", "correction", "late") or (entry.new is not None and entry.new < 0)
    flags["base_unknown"] |= entry.rule == "first_report"
    flags["definition_changed"] |= entry.definition_changed
    flags["inexact"] |= entry.record.data["count_qualifier"] != "exact" or entry.is_unsure


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
                is_span = entry.new is not None and not belongs(entry, first, last)
                line["rules"][count] = "covered" if is_covered else "span" if is_span else entry.rule
                line["new"][count] = None if is_covered else entry.new
    return [listed[number] for number in sorted(listed)]
