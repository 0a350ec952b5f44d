"""New counts of one series (docs/methods.md, rules 3 and 4): the rule that takes or leaves each count of each record."""
from bisect import bisect_left
from dataclasses import dataclass

from records import COUNTS

REPORTING = {
    *("counted", "difference", "since_start", "restart", "rebound", "correction", "point", "first_report", "dip"),
}
DERIVED = {"difference", "since_start", "restart", "rebound", "correction"}
DIP_DAYS = 7


@dataclass(eq=False)
class Entry:
    """What one record gives to one count."""

    record: object
    value: int | None
    rule: str
    new: int | None = None
    since: int | None = None
    """The first day that the new count may contain."""
    definition_changed: bool = False

    @property
    def day(self):
        return self.record.day

    def reports(self):
        return self.rule in REPORTING


def analyse(series):
    """By count: the entries of all dated records, in the order of their days."""
    if not hasattr(series, "entries"):
        series.entries = {count: analyse_count(series, count) for count in COUNTS}
    return series.entries


def analyse_count(series, count):
    entries = {record.id: Entry(record, record.data[count], "not_reported") for record in series.records}
    reported = [entry for entry in entries.values() if entry.value is not None]
    taken = merge(series.kind, reported)
    {"new": count_new, "cumulative": count_cumulative, "period_to_date": count_periods, "point": count_point}[
        series.kind
    ](taken, reported)
    mark_definitions([entry for entry in taken if entry.reports()])
    return sorted(entries.values(), key=lambda entry: (entry.day, entry.record.id))


def merge(kind, reported):
    """Rule 3: the latest report of the same days. The others are superseded. In the order of last and first day."""
    groups = {}
    for entry in reported:
        days = (entry.day,) if kind in ("cumulative", "point") else (entry.day, entry.record.low)
        groups.setdefault(days, []).append(entry)
    taken = []
    for days in sorted(groups):
        *others, latest = sorted(groups[days], key=lateness)
        for other in others:
            other.rule = "superseded"
        taken.append(latest)
    return taken


def lateness(entry):
    return (*known_days(entry.record), entry.value, -entry.record.id)


def count_point(taken, _):
    for entry in taken:
        entry.rule = "point"


def count_new(taken, _):
    """Of reports without a common day: the most days, then the most reports, then the latest."""
    last_days = [entry.day for entry in taken]
    best = [(0, 0)]  # the most days and reports among the first n reports
    choice = []
    for n, entry in enumerate(taken):
        before = bisect_left(last_days, entry.record.low)  # the reports that end before this one begins
        # A report before `before` ends earlier; all of them are among the first n.
        with_it = (best[before][0] + entry.day - entry.record.low + 1, best[before][1] + 1)
        # A set with the last report comes later in the order than each set without it.
        choice.append((with_it >= best[n], before))
        best.append(max(with_it, best[n]))
    n = len(taken)
    for entry in taken:
        entry.rule = "overlap"
    while n > 0:
        is_taken, before = choice[n - 1]
        if is_taken:
            entry = taken[n - 1]
            entry.rule, entry.new, entry.since = "counted", entry.value, entry.record.low
            n = before
        else:
            n -= 1


def count_cumulative(taken, reported):
    # A date_low is a start only if some report with it ends on a later day.
    starts = {entry.record.low for entry in reported if entry.record.low is not None and entry.day > entry.record.low}
    segment, restarted = [], None
    for entry in taken:
        start = entry.record.low if entry.record.low in starts else None
        if restarted is not None and start is not None and start < restarted:
            entry.rule = "earlier_start"
        elif segment and start is not None and start > segment[-1].day:
            compare(segment)
            segment, restarted = [entry], start
            entry.rule, entry.new, entry.since = "restart", entry.value, start
        elif segment:
            segment.append(entry)
        else:
            segment = [entry]
            if start is None:
                entry.rule = "first_report"
            else:
                entry.rule, entry.new, entry.since = "since_start", entry.value, start
    compare(segment)


def count_periods(taken, _):
    periods = sorted({entry.record.low for entry in taken})
    for low in periods:
        segment = []
        for entry in taken:
            if entry.record.low != low:
                continue
            if any(low < later <= entry.day for later in periods):
                entry.rule = "earlier_start"
            else:
                segment.append(entry)
        if segment:
            segment[0].rule, segment[0].new, segment[0].since = "since_start", segment[0].value, low
        compare(segment)


def compare(segment):
    """Differences, dips and corrections of reports that count from the same start. The first report has its rule."""
    at = 1
    while at < len(segment):
        before, entry = segment[at - 1], segment[at]
        back = None
        if entry.value < before.value:
            back = next(
                (
                    later
                    for later in range(at + 1, len(segment))
                    if (later == at + 1 or segment[later].day - entry.day <= DIP_DAYS)
                    and segment[later].value >= before.value
                ),
                None,
            )
        if back is not None:
            for low in segment[at:back]:
                low.rule = "dip"
            at, entry = back, segment[back]
            entry.rule = "rebound"
        else:
            entry.rule = "correction" if entry.value < before.value else "difference"
        entry.new, entry.since = entry.value - before.value, before.day + 1
        at += 1


def mark_definitions(reports):
    """Marks the reports whose case definition differs from that of the report before."""
    for before, entry in zip(reports, reports[1:]):
        old, new = (report.record.data["case_definition"] for report in (before, entry))
        entry.definition_changed = old is not None and new is not None and old != new


def known_days(record):
    return [(record.data[name] is not None, record.data[name] or "") for name in ("date_report", "source_report")]
