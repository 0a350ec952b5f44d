"""Judges watches from the records of two releases: what each must say. It shares no code with the service.

judge.py NUMBER=FILE...   FILE has the records of release NUMBER, one in each line, as the service publishes them.
Each line of stdin is a watch: {"question": …, "kind": …, "count": …, "value": …}, and each line of stdout says what it says about
the releases after the first: {"2": null, "3": {"type": …, …}, …}
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "oracle"))

from answers import answer, select  # noqa: E402
from records import COUNTS, read_release  # noqa: E402

ASSIGNED = ("revision", "first_release", "last_release")


def content_of(data):
    return {name: value for name, value in data.items() if name not in ASSIGNED}


class Release:
    def __init__(self, path):
        self.series = read_release(path)
        self.content = {}
        for series in self.series:
            for record in (*series.records, *series.undated):
                self.content[record.id] = content_of(record.data)

    def matching(self, question, with_days):
        """The records of the series that match, and that overlap the days. The world has every record, also those of regions that
        its figures leave out: what is counted here is what /changes lists."""
        if question.get("place") == "world":
            question = {**question, "place": None}
        found = {}
        for series in select(self.series, question):
            for record in (*series.records, *series.undated):
                if not with_days or overlaps(record.data, question):
                    found[record.id] = record.data
        return found


def overlaps(data, question):
    low, high = data["date_low"] or data["date_high"], data["date_high"] or data["date_low"]
    first, last = question.get("date_from"), question.get("date_to")
    if (first or last) and low is None:
        return False
    return (first is None or high >= first) and (last is None or low <= last)


def figures_of(releases, number, question, counts):
    """The values, and those of records without a day; None for a refusal."""
    everything = {key: {"series": release.series, "as_of": None} for key, release in releases.items()}
    result = answer(everything, {**question, "kind": "sums", "release": number})
    if "refused" in result:
        return None, None
    rows = result["data"]
    values = dict.fromkeys(counts)
    if rows:
        for count in counts:
            total, point = rows[0]["total"][count], rows[0]["point"][count]
            values[count] = point if total is None else total
    undated = result["undated_counts"]
    undated = {count: undated[0]["counts"].get(count) for count in counts} if undated else dict.fromkeys(counts)
    return values, undated


def state_of(values, count):
    if values is None:
        return "refused"
    return "unknown" if values[count] is None else "known"


def changes_between(before, after, question):
    changes = {"added": 0, "corrected": 0, "withdrawn": 0}
    matching = (before.matching(question, True), after.matching(question, True))
    for record in matching[0].keys() | matching[1].keys():
        was, now = before.content.get(record), after.content.get(record)
        if was == now:
            continue
        changes["added" if was is None else "withdrawn" if now is None else "corrected"] += 1
    return {kind: number for kind, number in changes.items() if number > 0}


def judge(releases, number, watch, known):
    before, after, question = releases[number - 1], releases[number], watch["question"]
    kind, count = watch["kind"], watch.get("count")
    changes = changes_between(before, after, question)
    if kind == "corrects":
        is_said = "corrected" in changes or "withdrawn" in changes
        return {"type": "records.corrected", "changes": changes} if is_said else None
    if kind == "appears":
        events = [{data["event"] for data in release.matching(question, True).values()} for release in (before, after)]
        new = sorted(events[1] - events[0], key=lambda name: name.encode())
        return {"type": "event.appeared", "events": new, "changes": changes} if new else None
    counts = [count] if count else list(COUNTS)
    for one in (number - 1, number):
        if one not in known:
            known[one] = figures_of(releases, one, question, counts)
    (was, was_undated), (now, now_undated) = known[number - 1], known[number]
    if not changes and (was, was_undated) == (now, now_undated):
        return None
    said = {"changes": changes, "before": was, "after": now}
    states = {one: (state_of(was, one), state_of(now, one)) for one in counts}
    if any(first != last and "known" in (first, last) for first, last in states.values()):
        return {"type": "question.not_comparable", **said}
    if kind == "changes" and count is None:
        return {"type": "question.changed", **said}
    if states[count] != ("known", "known"):
        return None
    if kind == "changes":
        return {"type": "question.changed", **said} if abs(now[count] - was[count]) >= watch["value"] else None
    crossed = (was[count] >= watch["value"]) != (now[count] >= watch["value"])
    return {"type": "question.crossed", **said} if crossed else None


def main(arguments):
    releases = {}
    for argument in arguments:
        number, path = argument.split("=")
        releases[int(number)] = Release(path)
    for line in sys.stdin:
        watch, known = json.loads(line), {}
        said = {number: judge(releases, number, watch, known) for number in sorted(releases) if number > 1}
        print(json.dumps(said), flush=True)


main(sys.argv[1:])
