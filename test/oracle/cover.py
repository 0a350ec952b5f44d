"""Which places make up a coarser place (docs/methods.md, rule 8)."""
from comparable import counted_records, is_user_assigned

LEVELS = ("country", "admin1", "admin2", "admin3", "locality")


def in_scope(series, place):
    """Whether the series is of the place or of a place in it, of a level that is used."""
    level, data = series.fields["location_granularity"], series.latest
    if level == "global":
        return place == "world"
    if level not in LEVELS or (level == "country" and is_user_assigned(data["country_code"])):
        return False
    if place == "world":
        return True
    if len(place) == 2:
        return data["country_code"] == place
    if len(place) > 3 and place[2] == "-":
        return data["al1_code"] == place
    return place in (data["who_region"], data["un_region"])


def codes_of(group):
    """The codes of the names of the first level that occur with a code, of any day. Of several codes, the first."""
    named = {}
    for data in (series.latest for series in group):
        code, name = data["al1_code"], (data["country_code"], data["admin_l1"])
        if code is not None and data["admin_l1"] is not None:
            named[name] = min(code, named.get(name, code))
    return named


def path_of(series, codes):
    """The names from the country down. A place without a name of its own is a leaf below the last level it names."""
    level = series.fields["location_granularity"]
    if level == "global":
        return ()
    data = series.latest
    depth = LEVELS.index(level)
    first = data["al1_code"] or codes.get((data["country_code"], data["admin_l1"])) or data["admin_l1"]
    names = [data["country_code"], first, data["admin_l2"], data["admin_l3"], data["locality"]]
    path = tuple((at, name) for at, name in enumerate(names[: depth + 1]) if name is not None)
    return path if names[depth] is not None else (*path, (depth, None, series.place))


def choose_cover(group, first, last):
    """By place: the series that are used; and the series that are left out because other places are used."""
    codes = codes_of(group)
    places = {}
    for series in group:
        places.setdefault(path_of(series, codes), []).append(series)
    reporting = {path for path, own in places.items() if any(counted_records(series, first, last) for series in own)}
    known = {path for path, own in places.items() if any(counted_records(series, None, last) for series in own)}
    parents = {path[:length] for path in places for length in range(len(path) + 1)}
    used = {}

    def look_at(path):
        has_report_within = any(other[: len(path)] == path for other in reporting)
        if path in reporting or (path in known and not has_report_within):
            used[path] = places[path]
            return
        for child in parents:
            if len(child) == len(path) + 1 and child[: len(path)] == path:
                look_at(child)

    look_at(())

    def is_replaced(path):
        above = any(path[:length] in used for length in range(len(path)))
        return path not in used and (above or any(other[: len(path)] == path for other in used))

    return used, [series for path, own in places.items() if is_replaced(path) for series in own]
