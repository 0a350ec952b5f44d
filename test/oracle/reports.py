"""New counts of one series (docs/methods.md, rules 3 and 4): the rule that takes or leaves each count of each record."""
import re
from bisect import bisect_left
from dataclasses import dataclass

from records import COUNTS, to_number

REPORTING = {
    *("counted", "difference", "since_start", "restart", "rebound", "correction", "point", "first_report", "dip", "late"),
}
DERIVED = {"difference", "since_start", "restart", "rebound", "correction", "late"}
DIP_DAYS = 7
LATE_DAYS = 7


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
    is_late: bool = False
    is_unsure: bool = False
    """Nothing tells which of several different counts of the same days is later."""

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
    starts = {record.low for record in (*series.records, *series.undated) if record.low is not None and record.day is not None and record.low < record.day}
    {"new": count_new, "cumulative": count_cumulative, "period_to_date": count_periods, "point": count_point}[
        series.kind
    ](taken, starts)
    mark_definitions([entry for entry in taken if entry.reports()])
    return sorted(entries.values(), key=lambda entry: (entry.day, entry.is_late, entry.record.id))


def merge(kind, reported):
    """Rule 3: the latest report of the same days. The others are superseded. In the order of last and first day."""
    groups = {}
    for entry in reported:
        days = (entry.day,) if kind in ("cumulative", "point") else (entry.day, entry.record.low)
        groups.setdefault(days, []).append(entry)
    taken = []
    for days in sorted(groups):
        members = groups[days]
        latest = find_latest(members)
        first = find_first(members, latest) if kind in ("cumulative", "period_to_date") else latest
        for other in members:
            if other not in (latest, first):
                other.rule = "superseded"
        latest.is_unsure = any(is_unordered(latest, other) for other in members)
        latest.is_late = first is not latest
        taken += [first, latest] if latest.is_late else [latest]
    return taken


def report_day(entry):
    return entry.record.data["date_report"] or ""


def find_latest(members):
    last = max(report_day(entry) for entry in members)
    members = [entry for entry in members if report_day(entry) == last]
    if len({frame(entry) for entry in members}) == 1:
        return max(members, key=lambda entry: (numbers(entry), entry.value, begins_first(entry), -entry.record.id))
    return max(members, key=lambda entry: (entry.value, begins_first(entry), -entry.record.id))


def begins_first(entry):
    """Of equal counts, the one with the earliest date_low; null is last."""
    return float("-inf") if entry.record.low is None else -entry.record.low


def find_first(members, latest):
    """The first published report of the same days, if the latest one was published long after it."""
    if any(entry.record.data["date_report"] is None for entry in members):
        return latest
    first = min(report_day(entry) for entry in members)
    if to_number(report_day(latest)) - to_number(first) <= LATE_DAYS:
        return latest
    return find_latest([entry for entry in members if report_day(entry) == first])


def frame(entry):
    """The name of the report without its numbers."""
    name = entry.record.data["source_report"]
    return None if name is None else re.sub("[0-9]+", "0", name)


def numbers(entry):
    return [int(number) for number in re.findall("[0-9]+", entry.record.data["source_report"] or "")]


def is_unordered(latest, other):
    if other.value == latest.value or other.record.data["date_report"] != latest.record.data["date_report"]:
        return False
    return frame(other) != frame(latest) or numbers(other) == numbers(latest)


def count_point(taken, _):
    for entry in taken:
        entry.rule = "point"


def count_new(taken, _):
    """Of reports without a common day: the most days, then the most reports, then the latest. A negative count is added."""
    for entry in taken:
        if entry.value < 0:
            entry.rule, entry.new, entry.since = "counted", entry.value, entry.record.low
    taken = [entry for entry in taken if entry.value >= 0]
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


def count_cumulative(taken, starts):
    """`starts`: a date_low is a start only if some record with it ends on a later day."""
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
    """Differences, dips, corrections and late totals of reports that count from the same start. The first report has its rule."""
    at = 1
    while at < len(segment):
        before, entry = segment[at - 1], segment[at]
        back = None
        if entry.is_late and before.day == entry.day:
            follow_late(segment, at)
            at += 1
            continue
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


def follow_late(segment, at):
    """A late total after the first total of its day."""
    first, before, entry = segment[0], segment[at - 1], segment[at]
    if first.rule == "first_report" and before is first:
        before.rule, entry.rule = "superseded", "first_report"
        return
    entry.rule, entry.new = "late", entry.value - before.value
    # The first report of a run has the day on which counting began, if it is known.
    entry.since = first.day + 1 if first.since is None else first.since


def mark_definitions(reports):
    """Marks the reports whose case definition differs from the last known one before."""
    known = None
    for entry in reports:
        new = entry.record.data["case_definition"]
        entry.definition_changed = known is not None and new is not None and known != new
        known = known if new is None else new


def is_regular(series, entries):
    """Whether the counts of a series say something about completeness: new counts, and between them no day without a record."""
    if series.kind != "new":
        return True
    counts = [entry for entry in entries if entry.reports() and entry.value >= 0]
    if len(counts) < 2:
        return False
    ends = sorted(entry.day for entry in counts)
    unknown = [entry for entry in entries if entry.value is None]
    spans = sorted((entry.record.low, entry.day) for entry in (*counts, *unknown) if entry.day > ends[0] and entry.record.low <= ends[-1])
    last = ends[0]
    for low, day in spans:
        if low > last + 1:
            return False
        last = max(last, day)
    return True

