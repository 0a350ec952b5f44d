"""What may be added up (docs/methods.md, rule 6): which fields of the records of an answer are mixed."""
from figures import records_within
from records import to_day

NEVER_ADDED = (
    *("location_granularity", "case_status", "count_kind", "source_name", "date_type", "composite", "location_type"),
)
ADDED_ON_PURPOSE = ("event", "pathogen", "disease", "host")
STRATA = ("age_group", "sex", "population")
GUARDED = (*NEVER_ADDED, *ADDED_ON_PURPOSE, *STRATA)


def is_user_assigned(code):
    """XA to XZ: ships, and reports about several countries."""
    return len(code) == 2 and code[0] == "X" and "A" <= code[1] <= "Z"


def is_container(series):
    """A place that may contain other places."""
    level = series.fields["location_granularity"]
    if level == "country":
        return is_user_assigned(series.latest["country_code"])
    return level in ("global", "region", "multi_country")


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
