"""What may be added up (docs/methods.md, rule 6): which fields of the records of an answer are mixed."""
import re

from figures import records_within
from records import first_level, is_wide, to_day

NEVER_ADDED = (
    *("location_granularity", "case_status", "count_kind", "source_name", "date_type", "composite", "location_type"),
)
ADDED_ON_PURPOSE = ("event", "pathogen", "disease", "host")
STRATA = ("age_group", "sex", "population")
GUARDED = (*NEVER_ADDED, *ADDED_ON_PURPOSE, *STRATA)


def is_container(series):
    """A place that may contain other places."""
    return is_wide(series.latest)


def guarded_fields(question):
    """The fields that must agree: without the grouped ones and, for a place with its parts, without level and place."""
    exempt = set(question.get("group_by", ()))
    if question.get("place") is not None:
        exempt |= {"location_granularity", "place"}
    return [name for name in (*GUARDED, "place") if name not in exempt]


def counted_records(series, first, last):
    return [record for record in records_within(series, first, last) if record.has_count]


def find_mixed(group, fields, across, first, last):
    """By mixed field: its values with the number of records and their days."""
    answered = [(series, counted_records(series, first, last)) for series in group]
    answered = [(series, records) for series, records in answered if records]
    mixed = {}
    for name in fields:
        values = {}
        for series, records in answered:
            value = series.site if name == "place" else series.fields[name]
            values.setdefault(value, []).extend(records)
        if name == "place":
            is_mixed = len(values) > 1 and any(is_container(series) for series, _ in answered)
        elif name in across:
            is_mixed = name in STRATA and len(values) > 1 and None in values
            is_mixed = is_mixed or (name == "age_group" and ages_overlap([value for value in values if value is not None]))
        else:
            is_mixed = len(values) > 1
        if is_mixed:
            mixed[name] = [
                {
                    "value": value,
                    "records": len(records),
                    "first_day": to_day(min(record.day for record in records)),
                    "last_day": to_day(max(record.day for record in records)),
                }
                for value, records in values.items()
            ]
    return mixed


def choose_comparable(group, fields, across, window):
    """The series of the group that agree with the records of the answer. Without such records there is nothing to agree with."""
    patterns = {pattern_of(series, fields, across) for series in group if counted_records(series, *window)}
    return [series for series in group if patterns == {pattern_of(series, fields, across)}]


def pattern_of(series, fields, across):
    """The values in which comparable series agree."""
    values = []
    for name in fields:
        if name == "place":
            values.append(series.site if is_container(series) else None)
        elif name not in across:
            values.append(series.fields[name])
        elif name in STRATA:
            values.append(series.fields[name] is None)
    return tuple(values)


def ages_of(group):
    """The first and the last age of a group; None if it has no numbers."""
    text = re.sub(r"\s*(years?|yrs?|y)( old| of age)?$", "", group.lower()).strip()
    if found := re.fullmatch(r"(\d+)\s*(?:-|–|to)\s*(\d+)", text):
        return int(found[1]), int(found[2])
    if found := re.fullmatch(r"(?:<|under)\s*(\d+)", text):
        return 0, int(found[1]) - 1
    if re.fullmatch(r"\d+", text):
        return int(text), int(text)
    if found := re.fullmatch(r"(?:>=|≥)?\s*(\d+)\s*(?:\+|and (?:over|above|older))?", text):
        return int(found[1]), float("inf")
    return None


def ages_overlap(groups):
    ages = sorted(span for span in map(ages_of, groups) if span is not None)
    return any(later[0] <= before[1] for before, later in zip(ages, ages[1:]))


SEPARATORS = r"\s*[,;/&]\s*|\s+and\s+"
OWN_NAMES = {"country": "country_code", "admin1": "admin_l1", "admin2": "admin_l2", "admin3": "admin_l3", "locality": "locality"}


def own_name(series):
    name = OWN_NAMES.get(series.fields["location_granularity"])
    return ((series.latest[name] if name else None) or "").lower()


def names_in(name):
    return [part for part in re.split(SEPARATORS, name) if part]


def is_list(series):
    return len(names_in(own_name(series))) > 1


def coarser_names(series):
    levels = list(OWN_NAMES)
    level, data = series.fields["location_granularity"], series.latest
    above = levels[: levels.index(level)] if level in levels else levels
    first = first_level(data) or data["admin_l1"]
    return tuple(first if name == "admin1" else data[OWN_NAMES[name]] for name in above)


def find_contained(group):
    """Rule 6: the series whose place another place of the same country and level contains by its name."""
    contained = set()
    kinds = {}
    for series in group:
        counted = tuple(series.fields[name] for name in (*ADDED_ON_PURPOSE, *STRATA))
        kinds.setdefault((counted, series.fields["location_granularity"], coarser_names(series)), []).append(series)
    for members in kinds.values():
        names = {own_name(series) for series in members}
        used = {}  # the names in lists that are used, with the last name of the list
        lists = sorted({own_name(series) for series in members if is_list(series)}, key=lambda name: (-len(names_in(name)), name))
        left_out = set()
        for name in lists:
            parts = names_in(name)
            known = [part for part in parts if part in names]
            is_part = known == [parts[-1]] and "," in name
            if is_part or any(part in used and not (part == parts[-1] == used[part]) for part in parts):
                left_out.add(name)
            else:
                used |= dict.fromkeys(parts, parts[-1])
        left_out |= {name for name in names if len(names_in(name)) == 1 and name in used}
        contained |= {series for series in members if own_name(series) in left_out}
    return contained


def leave_contained(group, agreeing, window):
    """The series of a group that are left out because of names. `agreeing` may be part of the answer."""
    reporting = [series for series in group if counted_records(series, *window)]
    silent = [series for series in agreeing if series not in reporting and counted_records(series, None, window[1])]
    left_out = find_contained(reporting)
    kept = [series for series in reporting if series not in left_out]
    for series in filter(is_list, silent):
        if find_contained([series, *kept]):
            left_out.add(series)
        else:
            kept.append(series)
    return left_out | find_contained([*kept, *(series for series in silent if not is_list(series))])
