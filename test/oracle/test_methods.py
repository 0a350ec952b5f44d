"""Every example of docs/methods.md, answered by this implementation. Run: python3 -m unittest test_methods"""
import itertools
import random
import unittest

from answers import answer
from intervals import interval_of
from records import make_series, to_number
from reports import Entry, analyse, count_new

DEFAULTS = {
    **dict.fromkeys(("disease", "host", "al1_code", "admin_l1", "admin_l2", "admin_l3", "locality", "place_id", "location_type")),
    **dict.fromkeys(("date_low", "date_high", "date_report", "date_type", "case_definition", "age_group", "sex", "population")),
    **dict.fromkeys(("cases", "deaths", "hospitalised", "recovered", "tested", "source_report", "who_region", "un_region", "source_type")),
    **{"event": "E", "pathogen": "P", "country_code": "IT", "location_granularity": "country", "case_status": "confirmed"},
    **{"count_kind": "cumulative", "count_qualifier": "exact", "composite": False, "source_name": "S"},
}


def rows(*values):
    return [{**DEFAULTS, "id": number, **value} for number, value in enumerate(values, 1)]


def ask(values, kind="series", **question):
    question = {"kind": kind, "interval": "day", **question}
    return answer({1: {"series": make_series(rows(*values)), "as_of": "2026-01-01"}}, question)


def points(values, **question):
    return {point["period"]: point for point in ask(values, **question)["points"]}


def total(values, **question):
    return ask(values, "sums", **question)["data"][0]


def cumulative(*counts, **fields):
    return [{"date_high": day, "cases": count, **fields} for day, count in counts]


def period(low, high, cases, kind="new", **fields):
    return {"date_low": low, "date_high": high, "cases": cases, "count_kind": kind, **fields}


WEEKS = [("2021-02-01", "2021-02-07", 20), ("2021-02-08", "2021-02-14", 30), ("2021-02-15", "2021-02-21", 25)]
LAST_WEEK = ("2021-02-22", "2021-02-28", 15)
MONTH = ("2021-02-01", "2021-02-28", 90)
FRANCE = cumulative(("2020-11-03", 1_597_139), ("2020-11-04", 1_549_838), ("2020-11-05", 1_607_147))


class Examples(unittest.TestCase):
    def test_rule_2_an_undated_record_is_not_used(self):
        result = ask([period("2016-01-01", None, 37_417, "period_to_date")])
        self.assertEqual((result["undated"], result["points"], result["undated_counts"]["cases"]), (1, [], 37_417))

    def test_rule_3_counts_of_one_day_are_merged(self):
        both = points([{"date_high": "2020-05-02", "cases": 130}, {"date_high": "2020-05-02", "deaths": 9}])
        self.assertEqual((both["2020-05-02"]["cumulative"]["cases"], both["2020-05-02"]["cumulative"]["deaths"]), (130, 9))

    def test_rule_3_the_later_report_of_a_day_is_taken(self):
        reports = cumulative(("2020-05-01", 100), ("2020-05-02", 130), ("2020-05-02", 128))
        reports[1]["date_report"], reports[2]["date_report"] = "2020-05-02", "2020-05-03"
        point = points(reports)["2020-05-02"]
        self.assertEqual((point["cumulative"]["cases"], point["new"]["cases"], point["revision"]), (128, 28, False))

    def test_rule_4_four_weeks_and_their_month(self):
        figure = total([period(*days) for days in (*WEEKS, LAST_WEEK, MONTH)], explain=True)
        self.assertEqual((figure["new"]["cases"], figure["overlapping"]), (90, True))
        self.assertEqual([line["rules"]["cases"] for line in figure["explain"]], ["counted"] * 4 + ["overlap"])

    def test_rule_4_three_weeks_and_the_month(self):
        figure = total([period(*days) for days in (*WEEKS, MONTH)], explain=True)
        self.assertEqual(figure["new"]["cases"], 90)
        self.assertEqual([line["rules"]["cases"] for line in figure["explain"]], ["overlap"] * 3 + ["counted"])

    def test_rule_1_an_id_that_is_added_later(self):
        reports = [*cumulative(("2020-05-01", 100)), *cumulative(("2020-05-08", 150), place_id="geonames:3017382")]
        self.assertEqual(total(reports)["cumulative"]["cases"], 150)

    def test_rule_1_a_renamed_province(self):
        place = {"country_code": "IN", "location_granularity": "admin1"}
        reports = [*cumulative(("2011-05-01", 150), admin_l1="Orissa", **place), *cumulative(("2012-05-01", 210), admin_l1="Odisha", al1_code="IN-OD", **place)]
        self.assertEqual(total(reports)["cumulative"]["cases"], 210)

    def test_rule_1_one_id_in_two_countries(self):
        place = {"location_granularity": "admin2", "admin_l2": "Abyei", "place_id": "geonames:1"}
        reports = [*cumulative(("2011-05-01", 100), country_code="SD", **place), *cumulative(("2012-05-01", 120), country_code="SS", **place)]
        self.assertEqual(total(reports)["cumulative"]["cases"], 120)

    def test_rule_3_numbers_of_reports(self):
        reports = [{"date_high": "2020-05-01", "cases": cases, "source_report": name} for cases, name in ((9, "No. 9"), (8, "No. 10"))]
        self.assertEqual(total(reports)["cumulative"]["cases"], 8)

    def test_rule_3_clusters_of_the_same_days(self):
        reports = [period("2013-12-01", "2014-04-30", cases, source_report=f"cluster {name}") for cases, name in ((3, "a"), (3, "b"), (1, "c"), (1, "d"))]
        self.assertEqual((total(reports)["new"]["cases"], total(reports)["inexact"]), (3, True))

    def test_rule_3_a_late_total(self):
        def year(high, cases, reported):
            return period("2016-01-01", high, cases, "period_to_date", date_report=reported)

        reports = [year("2016-12-24", 35_870, "2016-12-24"), year("2016-12-31", 36_326, "2016-12-31"), year("2016-12-31", 39_040, "2017-12-28")]
        weeks = ask(reports, interval="isoweek")
        self.assertEqual(weeks["points"][-1]["new"]["cases"], 456)
        self.assertEqual([(span["first_day"], span["last_day"], span["new"]["cases"]) for span in weeks["spans"]], [("2016-01-01", "2016-12-24", 35_870), ("2016-01-01", "2016-12-31", 2714)])
        self.assertEqual(total(reports, date_from="2016-01-01", date_to="2016-12-31")["new"]["cases"], 39_040)

    def test_rule_4_a_negative_count_over_a_period(self):
        days = [period(f"2020-03-0{day}", f"2020-03-0{day}", 10) for day in (1, 2, 3)]
        self.assertEqual(total([*days, period("2020-03-01", "2020-03-03", -3)])["new"]["cases"], 27)

    def test_rule_4_when_counting_began_is_known_for_all_counts(self):
        reports = [{"date_low": "2020-05-01", "date_high": "2020-05-01", "cases": 5, "deaths": 1}, {"date_low": "2020-05-01", "date_high": "2020-05-08", "deaths": 2}]
        self.assertEqual([total(reports)["new"][count] for count in ("cases", "deaths")], [5, 2])

    def test_rule_4_a_negative_count_is_added(self):
        figure = total([period(*WEEKS[0]), period("2021-02-08", "2021-02-08", -3)])
        self.assertEqual((figure["new"]["cases"], figure["revision"]), (17, True))

    def test_rule_4_a_dip_and_its_rebound(self):
        found = ask(FRANCE)
        self.assertEqual([point["new"]["cases"] for point in found["points"]], [None, None, None])
        self.assertEqual([(span["first_day"], span["last_day"], span["new"]["cases"]) for span in found["spans"]], [("2020-11-04", "2020-11-05", 10_008)])
        self.assertEqual(total(FRANCE)["new"]["cases"], 1_607_147 - 1_597_139)

    def test_rule_4_a_correction(self):
        reports = cumulative(("2020-05-01", 100), ("2020-06-01", 200), ("2020-07-01", 150), ("2020-08-01", 160))
        found = ask(reports, interval="month")
        self.assertEqual([span["new"]["cases"] for span in found["spans"]], [100, -50, 10])
        self.assertEqual(total(reports, date_from="2020-05-02", date_to="2020-08-01")["new"]["cases"], 60)

    def test_rule_4_a_restart(self):
        reports = [
            *(period("2015-01-01", "2015-12-31", 50, "cumulative"), period("2016-01-01", "2016-06-30", 80, "cumulative")),
        ]
        self.assertEqual(points(reports, interval="year")["2016"]["new"]["cases"], 80)

    def test_rule_4_period_to_date(self):
        reports = [period("2016-01-01", day, cases, "period_to_date") for day, cases in (("2016-08-04", 9736), ("2016-08-18", 13_186))]
        august = ask(reports, interval="month")
        self.assertEqual((august["points"][0]["new"]["cases"], august["points"][0]["in_span"]), (3450, True))
        self.assertEqual([(span["first_day"], span["last_day"], span["new"]["cases"]) for span in august["spans"]], [("2016-01-01", "2016-08-04", 9736)])
        self.assertEqual(total(reports, date_from="2016-01-01", date_to="2016-12-31")["new"]["cases"], 13_186)

    def test_rule_5_a_total_over_years_is_a_span(self):
        reports = [period("2013-12-01", "2016-03-27", 28_616, "cumulative")]
        months = ask(reports, interval="month")
        self.assertEqual((months["points"][0]["new"]["cases"], months["spans"][0]["new"]["cases"]), (None, 28_616))
        self.assertEqual((total(reports)["new"]["cases"], total(reports)["first_day"]), (28_616, "2013-12-01"))
        later = ask(reports, "sums", date_from="2016-01-01")
        self.assertEqual((later["data"][0]["new"]["cases"], len(later["spans"])), (None, 1))

    def test_rule_5_a_week_that_does_not_end_with_the_month(self):
        week = [period("2020-06-28", "2020-07-04", 70)]
        july = points(week, interval="month")["2020-07"]
        self.assertEqual((july["new"]["cases"], july["includes_earlier_days"]), (70, True))
        self.assertEqual(len(ask(week)["spans"]), 1)

    def test_rule_5_interim(self):
        report = period("2010-10-01", "2010-11-20", 60_240, "cumulative", date_report="2010-11-24")
        self.assertTrue(total([report])["interim"])
        self.assertFalse(total([report | {"date_report": "2011-11-24"}])["interim"])

    def test_rule_5_places_that_report_only_cases(self):
        figure = total([period("2025-03-03", "2025-03-03", 1), period("2025-03-09", "2025-03-09", 2)])
        self.assertEqual(figure["completeness"]["cases"], {"places_known": 0, "places_reporting": 0, "share": None})

    def test_rule_5_completeness(self):
        reports = [
            *cumulative(("2020-03-08", 900), ("2020-03-15", 950), location_granularity="admin1", admin_l1="A"),
            *cumulative(("2020-03-08", 100), location_granularity="admin1", admin_l1="B"),
        ]
        week = points(reports, interval="isoweek")["2020-W11"]
        self.assertEqual((week["new"]["cases"], week["cumulative"]["cases"]), (50, 1050))
        self.assertEqual(week["completeness"]["cases"], {"places_known": 2, "places_reporting": 1, "share": 0.9048})

    def test_rule_6_sources_are_never_added(self):
        reports = [*cumulative(("2020-03-08", 900)), *cumulative(("2020-03-08", 890), source_name="T")]
        self.assertEqual(list(ask(reports, strict=True)["mixed"]), ["source_name"])
        self.assertEqual(total(reports, filters={"source_name": ["T"]})["cumulative"]["cases"], 890)
        extent = ask(reports, group_by=["source_name"])["range"][0]["cumulative"]["cases"]
        self.assertEqual(extent, {"min": 890, "max": 900})

    def test_rule_6_a_list_of_places(self):
        counts = {"St. Croix, St. John, St. Thomas": 1031, "St. Croix": 257, "St. John": 89, "St. Thomas": 685}
        reports = [report for name, cases in counts.items() for report in cumulative(("2018-01-24", cases), location_granularity="locality", locality=name)]
        self.assertEqual(total(reports)["cumulative"]["cases"], 1031)

    def test_rule_6_age_groups_in_common(self):
        reports = [report for ages, cases in (("0-4", 10), ("5-14", 20), ("0-14", 30)) for report in cumulative(("2020-03-08", cases), age_group=ages)]
        self.assertEqual(list(ask(reports, across=["age_group"], strict=True)["mixed"]), ["age_group"])

    def test_rule_7_what_contains_the_groups_is_beside(self):
        state = {"country_code": "US", "location_granularity": "admin1"}
        reports = [*cumulative(("2025-03-08", 2286), country_code="US"), *cumulative(("2025-03-08", 803), admin_l1="Texas", al1_code="US-TX", **state)]
        result = ask(reports, "sums", group_by=["admin_l1"])
        self.assertEqual([row["group"]["admin_l1"] for row in result["data"]], ["Texas"])
        self.assertEqual([row["cumulative"]["cases"] for row in result["beside"]], [2286])

    def test_rule_8_ids_names_and_towns(self):
        def reported(cases, **place):
            return {"date_high": "2025-01-07", "cases": cases, "country_code": "US", **place}

        colorado = {"al1_code": "US-CO", "admin_l1": "Colorado"}
        adams = reported(60, location_granularity="admin2", admin_l2="Adams", **colorado)
        state = reported(110, location_granularity="admin1", place_id="geonames:5417618", **colorado)
        self.assertEqual(ask([state, adams], "sums", place="US")["data"][0]["cumulative"]["cases"], 110)
        named = reported(110, location_granularity="admin1", admin_l1="Colorado")
        self.assertEqual(ask([named, adams], "sums", place="US-CO")["data"][0]["cumulative"]["cases"], 110)
        bent = reported(3, location_granularity="locality", locality="Bent", **colorado)
        self.assertEqual(ask([adams, bent], "sums", place="US-CO")["data"][0]["cumulative"]["cases"], 60)

    def test_rule_8_each_event_has_its_own_cover(self):
        lombardy = {"location_granularity": "admin1", "al1_code": "IT-25", "admin_l1": "Lombardia"}
        reports = [*cumulative(("2020-03-08", 10), event="A"), *cumulative(("2020-03-08", 4), event="B", **lombardy)]
        self.assertEqual(total(reports, place="IT", across=["event"])["cumulative"]["cases"], 14)

    def test_rule_8_counties_and_a_state(self):
        def reported(level, state, county, cases):
            place = {"country_code": "US", "location_granularity": level, "al1_code": state, "admin_l2": county}
            return period("2025-01-01", "2025-01-07", cases, **place)

        reports = [reported("admin2", "US-CO", "Adams", 3), reported("admin2", "US-CO", "Mesa", 4)]
        reports += [reported("admin2", "US-TX", "Gaines", 50), reported("admin1", "US-TX", None, 70)]
        result = ask(reports, place="US", interval="year", explain=True)
        self.assertEqual(result["points"][0]["new"]["cases"], 77)
        self.assertEqual(len(result["cover"]["made_of"]), 3)
        self.assertEqual(result["points"][0]["explain"][2]["rules"]["cases"], "covered")

    def test_rule_9_vintages(self):
        releases = {
            number: {"series": make_series(rows(*cumulative(("2020-05-01", cases)))), "as_of": f"2026-01-0{number}"}
            for number, cases in ((1, 100), (2, 110))
        }
        data = answer(releases, {"kind": "vintages", "interval": "month", "count": "cases"})["data"]
        self.assertEqual([(row["release"], row["report_date"], row["cumulative"]) for row in data], [(1, "2026-01-01", 100), (2, "2026-01-02", 110)])
        self.assertEqual(data[0]["reference_date"], "2020-05-31")

    def test_rule_10_events(self):
        reports = [*cumulative(("2020-03-08", 900)), *cumulative(("2020-03-08", 5), country_code="XA"), *cumulative(("2020-03-09", 70), country_code="FR")]
        figures = ask(reports, "events")["events"]["E"]
        self.assertEqual(sorted((figure["places"], figure["cumulative"]["cases"]) for figure in figures), [(1, 5), (2, 970)])


class Strata(unittest.TestCase):
    def test_everyone_is_never_added_to_a_group(self):
        reports = [*cumulative(("2020-03-08", 10), age_group="0-4"), *cumulative(("2020-03-08", 20), age_group="5-14")]
        self.assertEqual(total(reports, across=["age_group"])["cumulative"]["cases"], 30)
        everyone = cumulative(("2020-03-08", 30))
        self.assertEqual(list(ask([*reports, *everyone], across=["age_group"], strict=True)["mixed"]), ["age_group"])


class Choices(unittest.TestCase):
    def test_the_chosen_reports_are_the_best_of_all_sets(self):
        """Compares the choice of reports without a common day with all sets of up to 8 reports."""
        drawn = random.Random(1)
        for _ in range(400):
            spans = {(low, low + drawn.randrange(6)) for low in (drawn.randrange(14) for _ in range(drawn.randrange(1, 9)))}
            spans = sorted(spans, key=lambda span: (span[1], span[0]))
            series = make_series(rows(*(period(f"2020-01-{low + 1:02}", f"2020-01-{high + 1:02}", 1) for low, high in spans)))
            entries = [Entry(record, 1, "") for record in sorted(series[0].records, key=lambda r: (r.day, r.low))]
            count_new(entries, entries)
            base = to_number("2020-01-01")
            chosen = [(entry.record.low - base, entry.day - base) for entry in entries if entry.rule == "counted"]
            self.assertEqual(chosen, best_set(spans))

    def test_each_record_has_one_rule_for_each_count(self):
        for series in make_series(rows(*FRANCE)):
            self.assertEqual({len(entries) for entries in analyse(series).values()}, {3})


def best_set(spans):
    def is_disjoint(subset):
        return all(a[1] < b[0] for a, b in zip(subset, subset[1:]))

    def rank(subset):
        return (sum(high - low + 1 for low, high in subset), len(subset), [(high, low) for low, high in reversed(subset)])

    subsets = (list(some) for size in range(len(spans) + 1) for some in itertools.combinations(spans, size))
    return max((subset for subset in subsets if is_disjoint(subset)), key=rank)


def district(name, **fields):
    return {"location_granularity": "admin2", "country_code": "US", "admin_l1": "Texas", "admin_l2": name, **fields}


WORLD = {"location_granularity": "global", "country_code": "XW"}


class Recommended(unittest.TestCase):
    def test_the_counties_are_taken_for_a_curve(self):
        national = period("2025-01-01", "2025-12-31", 2286, country_code="US")
        counties = [period(f"2025-0{month}-01", f"2025-0{month}-28", 762, **district("Gaines")) for month in (1, 2, 3)]
        result = ask([national, *counties], interval="month")
        self.assertEqual([own["values"]["location_granularity"] for own in result["chosen"]], ["admin2"])
        self.assertEqual(([point["new"]["cases"] for point in result["points"]], result["reasons"]), ([762] * 3, ["curve"]))
        self.assertEqual(total([national, *counties])["total"]["cases"], 2286)

    def test_a_curve_must_be_of_the_whole(self):
        countries = cumulative(("2020-05-01", 900), ("2020-06-01", 950), ("2020-07-01", 1000), country_code="FR")
        countries += cumulative(("2020-05-01", 70), ("2020-06-01", 75), ("2020-07-01", 77), country_code="IT")
        world = cumulative(("2020-07-01", 1818), date_low="2020-01-01", **WORLD)
        result = ask([*countries, *world], interval="month")
        self.assertEqual(([own["values"]["location_granularity"] for own in result["chosen"]], len(result["spans"])), (["global"], 1))

    def test_a_greater_status_is_not_hidden(self):
        counts = [("confirmed", 72), ("suspected", 4567)]
        reports = [report for status, cases in counts for report in cumulative(("2016-06-01", cases), case_status=status)]
        self.assertEqual(ask(reports, "sums")["doubts"], ["status"])

    def test_one_age_group_is_no_answer(self):
        reports = [*cumulative(("2020-03-08", 30), age_group="0-4"), *cumulative(("2020-03-08", 50), age_group="5-14")]
        self.assertEqual(ask(reports, "sums")["doubts"], ["people"])
        self.assertEqual(total(reports, across=["age_group"])["cumulative"]["cases"], 80)

    def test_a_total_without_its_last_day(self):
        village = {"location_granularity": "locality", "country_code": "IN", "locality": "Nadia"}
        reports = [report for status, cases in (("confirmed", 3), ("probable", 2)) for report in cumulative(("2007-04-28", cases), case_status=status, **village)]
        undated = {"location_granularity": "admin2", "country_code": "IN", "admin_l2": "Nadia", "case_status": "total", "date_low": "2007-04-01", "cases": 5}
        result = ask([*reports, undated], "sums")
        self.assertEqual(([row["counts"]["cases"] for row in result["undated_counts"]], result["data"]), ([5], []))

    def test_a_number_is_followed_by_the_sets_of_the_last_release(self):
        both = [*cumulative(("2020-05-01", 10)), *cumulative(("2020-05-01", 90), source_name="T")]
        releases = {1: {"series": make_series(rows(*both)), "as_of": "2026-01-01"}, 2: {"series": make_series(rows(both[0])), "as_of": "2026-01-02"}}
        data = answer(releases, {"kind": "vintages", "interval": "month", "count": "cases"})["data"]
        self.assertEqual([row["cumulative"] for row in data], [10, 10])

    def test_events_of_one_disease_are_added_up(self):
        reports = [*cumulative(("1976-10-01", 280), event="A"), *cumulative(("1995-08-01", 250), event="B", source_name="T")]
        result = ask([{**report, "disease": "Ebola disease"} for report in reports], "sums", group_by=["disease"])
        self.assertEqual((result["data"][0]["total"]["cases"], len(result["chosen"])), (530, 2))

    def test_an_event_without_a_day_has_no_kind_among_the_numbers(self):
        undated = {"event": "B", "count_kind": "point", "cases": 94}
        figure = total([*cumulative(("2020-09-30", 7), event="A"), undated], across=["event"])
        self.assertEqual((figure["cumulative"]["cases"], figure["total"]["cases"]), (7, 7))

    def test_an_event_within_another_is_left_out(self):
        countries = {"location_granularity": "multi_country", "country_code": "XM"}
        reports = cumulative(("2025-01-01", 2635), date_low="2012-01-01", event="A", **countries)
        reports += cumulative(("2015-07-01", 186), date_low="2015-05-01", event="B", country_code="KR")
        result = ask([{**report, "disease": "MERS"} for report in reports], "sums")
        self.assertEqual((result["data"][0]["total"]["cases"], result["reasons"]), (2635, ["inside"]))

    def test_two_diseases_are_refused(self):
        reports = [*cumulative(("2020-05-01", 9), event="A", disease="D"), *cumulative(("2020-05-01", 8), event="B", disease="E")]
        self.assertEqual(ask(reports, "sums")["doubts"], ["several subjects"])


class Intervals(unittest.TestCase):
    def test_weeks_at_the_turn_of_the_year(self):
        cases = [("isoweek", "2021-01-03", "2020-W53"), ("isoweek", "2024-12-30", "2025-W01"), ("epiweek", "2021-01-02", "2020-EW53")]
        cases += [("epiweek", "2017-12-31", "2018-EW01"), ("epiweek", "2009-01-04", "2009-EW01"), ("month", "2024-02-29", "2024-02")]
        for name, day, expected in cases:
            self.assertEqual(interval_of(name, to_number(day))[0], expected)


if __name__ == "__main__":
    unittest.main()
