"""Which way of counting is chosen where there are several (docs/methods.md, rule 11)."""
from comparable import GUARDED, STRATA, counted_records, is_container
from figures import make_figures
from intervals import INTERVALS
from records import COUNTS
from reports import analyse

SUBJECT = ("event", "pathogen", "disease", "host")
LEVELS = ("global", "region", "multi_country", "country", "admin1", "admin2", "admin3", "locality")
SOURCE_TYPES = {"official": 0, "international": 0, "composite": 1, "literature": 2, "media": 3, None: 4}
STATUSES = ("total", "confirmed", "probable", "suspected", "discarded")
KINDS = ("new", "period_to_date", "cumulative", "point")
DATE_TYPES = ("onset", "specimen", "lab", "care", "notification", "report", None)
LOCATION_TYPES = (None, "residence", "report", "care", "exposure")
NO_DOUBT = ("count", "everyone", "composite")
CURVE_DAYS = 3
WHOLE_PERCENT = 90
AGREE_PERCENT = 15


class CountedSet:
    """Records of one group that agree in what and how was counted. `selection` has the series that are used.

    `undated` has the counts of undated records, if these count too.
    """

    def __init__(self, selection, question, undated=None):
        self.selection, self.question = selection, question
        # Without the places that a list or the cover has already.
        self.series = [series for series in selection.counted if known_records(series, selection.window, undated)]
        self.fields = self.series[0].fields
        self.records = [record for series in self.series for record in known_records(series, selection.window, undated)]
        self.level = None if question.get("place") is not None else self.fields["location_granularity"]
        self.status, self.kind = self.fields["case_status"], self.fields["count_kind"]
        self.days_with_count = len({record.day for record in self.records if record.day is not None})
        self.site = self.series[0].site if is_container(self.series[0]) and self.level is not None else None
        self.places = {series.site for series in self.series}
        self.countries = {series.latest["country_code"] for series in self.series if not is_container(series)}
        self.totals = total_of(selection.used, selection.window[1])
        for count in COUNTS:
            if all(record.data[count] is None for record in self.records):
                self.totals[count] = None
        if undated is not None:
            self.totals = {count: undated[count] if total is None else total for count, total in self.totals.items()}
        self.total = self.totals[counted(question)]
        self.days = self.find_days()

    def entries(self, first, last):
        """The counts from a day to a day, of all series that the total has."""
        for series in self.selection.used:
            for count in COUNTS:
                for entry in analyse(series)[count]:
                    if entry.value is not None and (first is None or entry.day >= first) and (last is None or entry.day <= last):
                        yield entry

    def is_exact(self):
        return not any(entry.is_unsure and entry.reports() for entry in self.entries(*self.selection.window))

    def find_days(self):
        """From the first day that a count up to the last day may contain; None if all records are undated."""
        last = max((record.day for record in self.records if record.day is not None), default=None)
        if last is None:
            return None
        known = [entry for entry in self.entries(None, last) if entry.reports()]
        return min([last, *(entry.day if entry.since is None else entry.since for entry in known)]), last

    def source_rank(self):
        return min(SOURCE_TYPES[record.data["source_type"]] for record in self.records)

    def name(self):
        values = [self.fields[name] for name in GUARDED]
        return [(value is None, str(value).lower() if isinstance(value, bool) else value or "") for value in values] + [str(self.site)]

    def share_in(self, other):
        """The share of the days of this set that are days of the other. Nothing tells that of an undated set."""
        if self.days is None or other.days is None:
            return 1
        common = min(self.days[1], other.days[1]) - max(self.days[0], other.days[0]) + 1
        return max(common, 0) / (self.days[1] - self.days[0] + 1)


def known_records(series, window, undated):
    """The records with a count in the range; undated ones too, if they count."""
    others = () if undated is None else (record for record in series.undated if record.has_count)
    return [*counted_records(series, *window), *others]


def counted(question):
    """The count of the question."""
    return question.get("count") or (question.get("sort") or "cases").split("_")[-1]


def total_of(used, last):
    """Everything that is known up to a day: last totals, or new counts that are added up."""
    totals = dict.fromkeys(COUNTS)
    for kind, member in (("cumulative", "cumulative"), ("new", "new"), ("period_to_date", "new")):
        own = [series for series in used if series.kind == kind]
        [figure], _ = make_figures(own, [(None, last)])
        for count in COUNTS:
            if figure[member][count] is not None:
                totals[count] = (totals[count] or 0) + figure[member][count]
    return totals


def is_curve(question):
    return question["kind"] in ("series", "vintages") or any(name in INTERVALS for name in question.get("group_by", ()))


def steps(question, curve, is_one_country):
    """Each step: its name, and the rank of a set among others. The sets with the lowest rank stay."""

    def rank_composite(own, others):
        """The curator's own series; for a curve only if none of the other sets has more days."""
        sources = [other for other in others if not other.fields["composite"]]
        is_beaten = curve and any(other.days_with_count > own.days_with_count for other in sources)
        return is_beaten or not own.fields["composite"]

    def rank_level(own):
        """If all sets together have one country, its level comes first."""
        if own.level is None or (is_one_country and own.level == "country"):
            return -1
        return LEVELS.index(own.level)

    def is_part_of_another_kind(own, others):
        """One that differs only in the kind of count has a greater total."""

        def describe(one):
            across = one.question.get("across", ())
            unlike = ("count_kind", "location_granularity", *across)
            return [*(one.fields[name] for name in GUARDED if name not in unlike), one.level, one.site, *(one.fields[name] is None for name in across if name in STRATA)]

        return any(describe(other) == describe(own) and number(other) > number(own) for other in others)

    def rank_curve(own, others):
        longest = max(other.days_with_count for other in others)
        return longest >= CURVE_DAYS and own.days_with_count * 2 < longest

    return [
        ("count", lambda own, _: own.total is None),
        ("everyone", lambda own, _: sum(own.fields[name] is not None for name in STRATA)),
        ("exact", lambda own, _: not own.is_exact()),
        *([("curve", rank_curve)] if curve else []),
        ("composite", rank_composite),
        ("location_granularity", lambda own, _: rank_level(own)),
        ("place", lambda own, _: own.site is not None),
        ("source_type", lambda own, _: own.source_rank()),
        ("deaths", lambda own, _: own.totals["deaths"] is None),
        ("case_status", lambda own, _: STATUSES.index(own.status)),
        *([] if curve else [("count_kind", is_part_of_another_kind)]),
        ("count_kind", lambda own, _: KINDS.index(own.kind)),
        ("date_type", lambda own, _: DATE_TYPES.index(own.fields["date_type"])),
        ("location_type", lambda own, _: LOCATION_TYPES.index(own.fields["location_type"])),
        ("last_day", lambda own, _: 0 if curve else -(own.days[1] if own.days else 0)),
        ("days", lambda own, _: -own.days_with_count),
        ("records", lambda own, _: -len(own.records)),
        ("name", lambda own, _: own.name()),
    ]


def run_steps(sets, question, curve):
    """The best set, the step that left out each other, and the doubt."""
    left_out = {}
    is_one_country = len({code for own in sets for code in own.countries}) == 1
    for name, rank in steps(question, curve, is_one_country):
        ranks = [rank(own, sets) for own in sets]
        best = min(ranks)
        left_out |= {own: name for own, its in zip(sets, ranks) if its != best}
        sets = [own for own, its in zip(sets, ranks) if its == best]
    return sets[0], left_out, find_doubt(sets[0], left_out, curve)


def choose(sets, question):
    """The best set, by set the step that left it out, and the doubt."""
    curve = run_steps(sets, question, is_curve(question))
    whole = run_steps(sets, question, False)
    return whole if number(curve[0]) * 100 < number(whole[0]) * WHOLE_PERCENT else curve


def number(own):
    """The total; one that is not known counts as 0."""
    return own.total or 0


def agree(one, other):
    return abs(number(one) - number(other)) * 100 <= max(number(one), number(other)) * AGREE_PERCENT


def find_doubt(best, left_out, curve):
    others = [own for own, step in left_out.items() if step not in NO_DOUBT]
    total = number(best)

    def hides_people(own, step):
        """Nobody counted everyone, so one group of people is no answer."""
        across = best.question.get("across", ())
        groups = [name for name in STRATA if name not in across]
        return step not in ("count", "everyone") and any(own.fields[name] != best.fields[name] for name in groups)

    if any(hides_people(own, step) for own, step in left_out.items()):
        return "people"

    def hides_place(own):
        return best.site is not None and own.level == best.level and own.site != best.site

    agreeing = [own for own in others if own.level == best.level and own.status == best.status and agree(own, best)]

    def hides_places(own):
        if own.level != best.level or best.level is None or LEVELS.index(best.level) <= LEVELS.index("country"):
            return False
        if own.places <= best.places:
            return False
        if any(own.places <= other.places and own.fields["source_name"] == other.fields["source_name"] for other in agreeing):
            return False
        return own.status == best.status or best.status != "total" or number(own) > total

    def hides_count(own):
        if own.status != best.status:
            return False
        if own.level in LEVELS and LEVELS.index(own.level) > LEVELS.index(best.level):
            return number(own) > total and not agree(own, best)
        return number(own) > 2 * total

    def are_more():
        """Two that agree with each other, with less than half of the total."""
        alike = [own for own in others if own.level == best.level and own.status == best.status]
        smaller = [own for own in alike if total > 2 * number(own)]
        return not curve and any(agree(one, other) for i, one in enumerate(smaller) for other in smaller[i + 1 :])

    def hides_status(own):
        return own.status != best.status and number(own) > 0 and number(own) >= (10 if own.status == "total" else 20) * total

    def has_other_days(own):
        if own.level != best.level or own.status != best.status:
            return False
        return own.share_in(best) < (0.1 if agree(own, best) else 0.5)

    missed = sum(number(own) for own in others if has_other_days(own))

    if any(map(hides_place, others)):
        return "place"
    if any(map(hides_places, others)):
        return "places"
    if any(map(hides_count, others)) or are_more():
        return "count"
    if any(map(hides_status, others)):
        return "status"
    if not curve and total * 100 < (total + missed) * WHOLE_PERCENT:
        return "days"
    return None


def find_inside(best_of, sets_of, doubtful):
    """The subjects whose people another subject has too. By subject: the best set, and all sets."""

    def countries_of(subject):
        """The countries of all sets of the subject."""
        return {code for own in sets_of[subject] for code in own.countries}

    def has(one, other):
        """Whether the subject `one` has the people of `other`."""
        a, b = best_of[one], best_of[other]
        if a.level != b.level:
            if a.level == "global":
                return True
            if LEVELS.index(a.level) > LEVELS.index(b.level) or b.share_in(a) < 0.5:
                return False
            return not countries_of(one) or b.countries <= countries_of(one)
        is_below = LEVELS.index(a.level) > LEVELS.index("country")
        has_two_names = is_below and agree(a, b) and a.countries & b.countries
        is_same_place = a.places & b.places or has_two_names
        if not is_same_place or (a.share_in(b) < 0.5 and b.share_in(a) < 0.5):
            return False
        return number(a) > number(b) or (number(a) == number(b) and name_of(one) < name_of(other))

    return {other for other in best_of if any(one != other and one not in doubtful and has(one, other) for one in best_of)}


def name_of(subject):
    return [(value is None, value or "") for value in subject]


def fixed_fields(question):
    """The fields of which a group has one value."""
    given = [name for name, values in question.get("filters", {}).items() if len(values) == 1]
    return {*given, *question.get("missing", ()), *question.get("group_by", ())}


class Refused(Exception):
    """`doubts` says why nothing is chosen."""

    def __init__(self, doubts):
        super().__init__("not_comparable")
        self.doubts = doubts


def choose_sets(sets, question):
    """The chosen sets of a group, the others with the reason, and the subjects in doubt."""
    by_subject = {}
    for own in sets:
        by_subject.setdefault(tuple(own.fields[name] for name in SUBJECT), []).append(own)
    best_of, left_out, doubtful = {}, {}, {}
    for subject, members in by_subject.items():
        best_of[subject], others, doubt = choose(members, question)
        left_out |= others
        if doubt is not None:
            doubtful[subject] = doubt
            left_out |= dict.fromkeys(members, doubt)
    across, is_fixed = question.get("across", ()), fixed_fields(question)
    differing = [name for at, name in enumerate(SUBJECT) if len({subject[at] for subject in best_of}) > 1]
    is_asked = all(name in across for name in differing)
    if not is_asked:
        # Events without a disease may be of two.
        has_no_disease = "disease" not in is_fixed and any(subject[SUBJECT.index("disease")] is None for subject in best_of)
        others = [name for name in differing if name not in ("event", "pathogen", *across) or name == "disease"]
        if others or has_no_disease or question.get("place") is not None:
            raise Refused(["several subjects"])
    inside = set() if is_asked else find_inside(best_of, by_subject, doubtful)
    doubtful = {subject: doubt for subject, doubt in doubtful.items() if subject not in inside}
    # Of an event within another only the best set is named.
    left_out = {own: step for own, step in left_out.items() if not any(own in by_subject[subject] for subject in inside)}
    left_out |= {best_of[subject]: "inside" for subject in inside}
    chosen = [subject for subject in best_of if subject not in inside and subject not in doubtful]
    # Null is everyone, and never added to a group.
    people = [[best_of[subject].fields[name] is None if name in across else best_of[subject].fields[name] for name in STRATA] for subject in chosen]
    if any(own != people[0] for own in people):
        raise Refused(["several groups of people"])
    return [best_of[subject] for subject in chosen], left_out, doubtful
