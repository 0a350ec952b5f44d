"""Which places make up a coarser place (docs/methods.md, rule 8)."""
from comparable import counted_records
from records import first_level, is_wide

LEVELS = ("country", "admin1", "admin2", "admin3", "locality")


def in_scope(series, place):
    """Whether the series is of the place, or of a place in it or its country, of a level that is used."""
    data = series.latest
    if series.fields["location_granularity"] == "global":
        return place == "world"
    if is_wide(data):
        return False
    if place == "world":
        return True
    if len(place) == 2 or place[2:3] == "-":
        return data["country_code"] == place[:2]
    return place in (data["who_region"], data["un_region"])


def codes_of(group):
    """The codes of the names of the first level that occur with a code, of any day. Of several codes, the first."""
    named = {}
    for data in (series.latest for series in group):
        code, name = data["al1_code"], (data["country_code"], data["admin_l1"])
        if code is not None and data["admin_l1"] is not None:
            named[name] = min(code, named.get(name, code))
    return named


def own_path(series, codes):
    """The names from the country down. A place without a name of its own is a leaf below the last level it names."""
    level = series.fields["location_granularity"]
    if level == "global":
        return ()
    data = series.latest
    depth = LEVELS.index(level)
    first = data["al1_code"] or codes.get((data["country_code"], data["admin_l1"])) or first_level(data) or data["admin_l1"]
    names = [data["country_code"], first, data["admin_l2"], data["admin_l3"], data["locality"]]
    path = tuple(f"{LEVELS[at]} {name}" for at, name in enumerate(names[: depth + 1]) if name is not None)
    return path if names[depth] is not None else (*path, f"{level} {data['place_id'] or ''}")


def paths_of(group):
    """The path of each series. Series with one place_id have one path, the first of theirs; so have places within them."""
    codes = codes_of(group)
    paths = {series: own_path(series, codes) for series in group}
    by_id = {}
    for series, path in paths.items():
        number = series.latest["place_id"]
        if number is not None and path:
            by_id[number] = min(path, by_id.get(number, path), key=joined)
    renamed = {path: by_id[series.latest["place_id"]] for series, path in paths.items() if path and series.latest["place_id"] in by_id}

    def rename(path):
        for length in range(len(path), 0, -1):
            if path[:length] in renamed:
                return (*renamed[path[:length]], *path[length:])
        return path

    return {series: rename(path) for series, path in paths.items()}


def joined(path):
    return " \0 ".join(path)


def within_place(group, place):
    """The series of a group that are in the requested place. A part of a country is found by its code."""
    if place[2:3] != "-":
        return group
    paths = paths_of(group)
    start = (f"country {place[:2]}", f"admin1 {place}")
    return [series for series in group if paths[series][:2] == start]


def choose_cover(group, paths, first, last):
    """By place: the series that are used; the series that are left out; whether a known place is left out for others."""
    places = {}
    for series in group:
        places.setdefault(paths[series], []).append(series)
    reporting = {path for path, own in places.items() if any(counted_records(series, first, last) for series in own)}
    known = {path for path, own in places.items() if any(counted_records(series, None, last) for series in own)}
    nodes = {path[:length] for path in places for length in range(len(path) + 1)}
    used, partial = {}, []

    def has(path, among):
        return any(other[: len(path)] == path for other in among)

    def look_at(path):
        if path in reporting or (path in known and not has(path, reporting)):
            used[path] = places[path]
            return
        if path in known:
            partial.append(path)
        children = [node for node in nodes if len(node) == len(path) + 1 and node[: len(path)] == path]
        levels = {}
        for child in children:
            levels.setdefault(LEVELS.index(child[-1].split(" ")[0]), []).append(child)
        ranked = [(among, level) for among in (reporting, known) for level in sorted(levels) if any(has(child, among) for child in levels[level])]
        for level, members in levels.items():
            if ranked and level != ranked[0][1]:
                partial.extend(child for child in members if has(child, known))
            else:
                for child in members:
                    look_at(child)

    look_at(())
    left_out = [
        series
        for path, own in places.items()
        if path not in used and (path in known or any(path[:length] in used for length in range(len(path))))
        for series in own
    ]
    return used, left_out, bool(partial)
