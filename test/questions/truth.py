"""The right answers to the questions of questions.json, from the tables of the sample.

It reads the tables in sample/releases in the format of their sources, and knows nothing of the service: no code of it, no
answer of it, no mapping. It prints a JSON object: the number of a question, and its truth. Only the standard library.
"""

import csv
import datetime
import json
import pathlib
import re

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "sample" / "releases"
RELEASES = range(1, 7)
COVID, COUNTIES = "COVID-19_Global_2019", "JHU Measles Tracking Team"
COUNTRIES = {
    **{"Australia": "AU", "Brazil": "BR", "France": "FR", "Germany": "DE", "India": "IN", "Italy": "IT", "Japan": "JP"},
    **{"Nigeria": "NG", "South Africa": "ZA", "Spain": "ES", "United Kingdom": "GB", "US": "US"},
}
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def rows(release, name):
    file = SAMPLE / str(release) / name
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def number(text):
    return None if text in (None, "", "NA") else int(float(text))


# The known outbreaks: one line for a report. Later releases add some.
ADDED = {release: rows(release, "outbreaks.csv") for release in RELEASES}
KNOWN = sorted((line for lines in ADDED.values() for line in lines), key=lambda line: line["key"])
for line in KNOWN:
    line["cases"], line["deaths"] = number(line["cases"]), number(line["deaths"])
ONE_COUNTRY = [line for line in KNOWN if not line["country_code"].startswith("X")]


def known(**values):
    return [line for line in KNOWN if all(line[name] == value for name, value in values.items())]


def add(lines, count):
    return sum(line[count] or 0 for line in lines)


def total(lines):
    return {"cases": add(lines, "cases"), "deaths": add(lines, "deaths")}


def by(lines, name, *counts):
    values = sorted({line[name] for line in lines})
    return {value: [add([each for each in lines if each[name] == value], count) for count in counts] for value in values}


def yearly(lines, count="cases"):
    """A count belongs to a year if all its days do. Other counts belong to their days: the first, the last and the count."""
    points, spans = {}, []
    for line in lines:
        first, last = line["date_low"], line["date_high"]
        if first[:4] == last[:4]:
            points[first[:4]] = points.get(first[:4], 0) + line[count]
        else:
            spans.append([first, last, line[count]])
    return {"points": points, "spans": sorted(spans)}


# COVID-19: the cumulative table, as each release has it. A later release has only the days that changed.
def covid_tables():
    tables, current = {}, {"cases": {}, "deaths": {}}
    for release in RELEASES:
        changes = {}
        for count, word in (("cases", "confirmed"), ("deaths", "deaths")):
            cells = {}
            for line in rows(release, f"time_series_covid19_{word}_global.csv"):
                place = (COUNTRIES[line.pop("Country/Region")], line.pop("Province/State"))
                for day, value in line.items():
                    month, date, year = map(int, day.split("/"))
                    if value != "":
                        cells[(*place, f"20{year:02}-{month:02}-{date:02}")] = int(value)
            changes[count] = cells
        before = current
        current = {count: {**before[count], **changes[count]} for count in before}
        tables[release] = (current, before)
    return tables


TABLES = covid_tables()


def cumulative(country, count="cases", release=6, state=None):
    """The day and the total, of a country or of one of its states."""
    totals = {}
    for (code, place, day), value in TABLES[release][0][count].items():
        if code == country and state in (None, place):
            totals[day] = totals.get(day, 0) + value
    return dict(sorted(totals.items()))


def last(table, until="9999"):
    return table[max(day for day in table if day <= until)]


def month_of(table, month):
    """From the last report before the month to its last report."""
    before = [day for day in table if day < month]
    return last(table, month + "-99") - table[max(before)]


def curve(*tables, first=None, until=None):
    """Each table is one right way of counting: runs of totals, parts of the place, and totals of a period that came late."""
    ways = [table if "runs" in table else {"runs": [table]} for table in tables]
    return {"ways": [{"parts": [], "late": [], **way} for way in ways], "from": first, "to": until}


# Measles: a line for a county and a day, as each release has it.
def measles_tables():
    tables, current = {}, {}
    for release in RELEASES:
        current = dict(current)
        for line in rows(release, "measles_county_all_updates.csv"):
            key = "|".join(line[name] for name in ("location_id", "location_name", "date", "outcome_type"))
            county, state = line["location_name"].split(", ")[0], line["location_name"].split(", ")[-1]
            current[key] = {"county": county, "state": state, "day": line["date"], "cases": int(line["value"])}
        for line in rows(release, "withdrawn.csv"):
            current.pop(line["key"], None)
        tables[release] = current
    return tables


MEASLES = measles_tables()


def counties(year="2025", release=6, state=None, first="0", until="9999"):
    return [
        line
        for line in MEASLES[release].values()
        if line["day"].startswith(year) and state in (None, line["state"]) and first <= line["day"] <= until
    ]


def sum_by(lines, key):
    sums = {}
    for line in lines:
        sums[key(line)] = sums.get(key(line), 0) + line["cases"]
    return sums


def month(line):
    return line["day"][:7]


def iso_week(line):
    year, week, _ = datetime.date.fromisoformat(line["day"]).isocalendar()
    return f"{year}-W{week:02}"


def epi_week(line):
    """MMWR: weeks begin on Sunday, and the first week of a year has at least four of its days: its Wednesday."""
    day = datetime.date.fromisoformat(line["day"])
    wednesday = day + datetime.timedelta(days=3 - (day.weekday() + 1) % 7)
    return f"{wednesday.year}-EW{(wednesday.timetuple().tm_yday + 6) // 7:02}"


def largest(sums, most=None):
    return [[name, [value]] for name, value in sorted(sums.items(), key=lambda item: -item[1])][:most]


# Dengue: a line for a country and a week, as each release has it. Releases before the first table have none.
DENGUE_COUNTRIES = {
    **{"BOL": "BO", "BRA": "BR", "COL": "CO", "LKA": "LK", "MEX": "MX", "MYS": "MY", "NIC": "NI", "PAN": "PA"},
    **{"PER": "PE", "PHL": "PH"},
}


DENGUE_NAMES = {
    **{"BOL": "Bolivia", "BRA": "Brazil", "COL": "Colombia", "LKA": "Sri_Lanka", "MEX": "Mexico", "MYS": "Malaysia"},
    **{"NIC": "Nicaragua", "PAN": "Panama", "PER": "Peru", "PHL": "Philippines"},
}


def dengue_tables():
    tables, current = {}, {}
    for release in RELEASES:
        current = dict(current)
        for file in sorted((SAMPLE / str(release)).glob("National_extract_*.csv")):
            for line in rows(release, file.name):
                key = "|".join(line[name] for name in ("ISO_A0", "calendar_start_date", "calendar_end_date"))
                current[key] = (number(line["dengue_total"]), line.get("source_cat") == "PAHO_IMPUTED")
        for line in rows(release, "withdrawn.csv"):
            current.pop(line["key"], None)
        tables[release] = current
    return tables


DENGUE = dengue_tables()


def dengue_totals():
    totals = by(known(disease="Dengue"), "country_code", "cases")
    for key, (cases, _) in DENGUE[6].items():
        country = DENGUE_COUNTRIES[key[:3]]
        totals[country] = [totals.get(country, [0])[0] + (cases or 0)]
    return totals


# Papers: one line for an outbreak in a paper, with up to five counts.
PAPER_COUNTS = ["cases_confirmed", "cases_suspected", "cases_unspecified", "outbreak_probable", "deaths"]
PAPER_FILES = {"lassa": "lassa_outbreaks.csv", "marburg": "marburg_outbreak.csv", "nipah": "nipah_outbreaks.csv"}
PAPER_FILES["zika"] = "zika_outbreaks.csv"
PAPERS = {name: rows(2, file) for name, file in PAPER_FILES.items()}


def papers(disease, country, year=None, count="cases_confirmed", place=None):
    return [
        number(line[count])
        for line in PAPERS[disease]
        if line["outbreak_country"] == country
        and year in (None, line["outbreak_start_year"])
        and place in (None, line["outbreak_location"])
        and number(line[count]) is not None
    ]


def paper_records(lines):
    return sum(number(line.get(count)) is not None for line in lines for count in PAPER_COUNTS)


# Zika in Puerto Rico: counts since the first day of the years that their name has.
ZIKA = [line for year in (2016, 2017) for line in rows(2, f"Puerto_Rico__PRDH_Arbovirus__PRDH_Zika_{year}-01-to-12.csv")]


def zika(field, *years):
    reports = [line for line in ZIKA if line["data_field"] == f"zika_confirmed_cumulative_{field}"]
    return {line["report_date"]: int(line["value"]) for line in reports if int(line["report_date"][:4]) in years}


# What 2017 still learnt of 2016: the first and the last total of the year.
LATE_2016 = list(zika("2016", 2017).values())
SINCE_2015 = {**zika("2015-2016", 2016, 2017), **zika("2015-2017", 2017), **zika("2016-2017", 2017)}
ZIKA_CURVES = [
    {
        "runs": [
            {"2015-12-31": 0, **zika("2016", 2016), "2016-12-31": LATE_2016[0]},
            {"2016-12-31": 0, **zika("2017", 2017)},
        ],
        "late": [["2016-01-01", "2016-12-31", LATE_2016[-1] - LATE_2016[0]]],
    },
    {"runs": [{"2014-12-31": 0, **SINCE_2015}]},
]
AFRICA = "AO BJ CD CG CV ET GA GH GN GQ KE LR MG MR MW MZ NE NG RW SL SN SS TD TG TZ UG ZA ZM ZW".split()
MEDITERRANEAN = "AF IQ MA PK SA SD SO SY TN YE".split()


def names(lines):
    return sorted({line["event"] for line in lines})


def during(year, codes):
    return names(
        line
        for line in ONE_COUNTRY
        if line["country_code"] in codes and line["date_low"][:4] <= year <= (line["date_high"] or line["date_low"])[:4]
    )


def paper_events(disease, country, title):
    return {f"{title}_{line['outbreak_start_year']}" for line in PAPERS[disease] if line["outbreak_country"] == country}


def changed(old, new):
    added = len(new.keys() - old.keys())
    corrected = sum(old[key] != new[key] for key in old.keys() & new.keys())
    return {"added": added, "corrected": corrected, "withdrawn": len(old.keys() - new.keys())}


def all_cells(release, country=None):
    """Every record that changes between releases: cells of COVID-19, lines of measles and dengue, known outbreaks."""
    cells = {
        (count, *key): value
        for count, table in TABLES[release][0].items()
        for key, value in table.items()
        if country in (None, key[0])
    }
    if country is not None:
        return cells
    known_so_far = {line["key"]: line["cases"] for until in RELEASES if until <= release for line in ADDED[until]}
    return cells | {key: line["cases"] for key, line in MEASLES[release].items()} | DENGUE[release] | known_so_far


# A paper without a country is not in the sample.
USED_PAPERS = [[line for line in lines if line["outbreak_country"] != "NA"] for lines in PAPERS.values()]


def release_counts():
    fixed = {release: len(ZIKA) + sum(map(paper_records, USED_PAPERS)) if release > 1 else 0 for release in RELEASES}
    counts, before = {}, {}
    for release in RELEASES:
        cells = all_cells(release)
        change = changed(before, cells)
        change["added"] += fixed[release] - fixed.get(release - 1, 0)
        counts[str(release)] = [len(cells) + fixed[release], change["added"], change["corrected"], change["withdrawn"]]
        before = cells
    return counts


# In release 3, one more record changes: the service marks it as the break of a series. No cell of the tables has this.
RECORDS_3, ADDED_3, CORRECTED_3, WITHDRAWN_3 = release_counts()["3"]
MARKED = [RECORDS_3, ADDED_3, CORRECTED_3 + 1, WITHDRAWN_3]

EBOLA = known(disease="Ebola disease")
WEST_AFRICA = known(event="Ebola_West_Africa_2014")
MARBURG = known(disease="Marburg virus disease")
LASSA_2018 = papers("lassa", "Nigeria", "2018")
MARBURG_DEATHS = add(MARBURG, "deaths")
UGANDA_2007 = papers("marburg", "Uganda", "2007", "deaths")
UGANDA_DEATHS = add([line for line in MARBURG if line["country_code"] == "UG"], "deaths")
STATES = sorted({state for code, state, _ in TABLES[6][0]["cases"] if code == "AU"})
TEXAS = counties(state="Texas")
MEASLES_TOTALS = {str(release): add(counties(release=release), "cases") for release in range(2, 7)}
END_OF_2020 = {code: [last(cumulative(code), "2020-12-31")] for code in COUNTRIES.values()}


def one_of(*values):
    return {"one_of": list(values)}


def sources_of(event):
    disease, country, year = event.split("_")
    asked = {"outbreak_country": country, "outbreak_start_year": year}
    lines = [line for line in PAPERS[disease.lower()] if asked.items() <= line.items()]
    sources = {line["source_name"]: 0 for line in known(event=event)}
    for line in known(event=event):
        sources[line["source_name"]] += 1
    for line in lines:
        name = f"PERG review of {disease}, paper {line['covidence_id']}"
        sources[name] = sources.get(name, 0) + paper_records([line])
    return sources


def covid_records(release=6):
    """Records by country and year: one for each cell of both tables, and one for the world."""
    records = {}
    for table in TABLES[release][0].values():
        for country, _, day in table:
            years = records.setdefault(country, {})
            years[day[:4]] = years.get(day[:4], 0) + 1
    return {**records, "XW": {"2021": 1}}


def us_diseases():
    records = {}
    for line in known(country_code="US"):
        records[line["disease"]] = records.get(line["disease"], 0) + 1
    added = {
        "Measles": len(MEASLES[6]),
        "COVID-19": sum(key[0] == "US" for table in TABLES[6][0].values() for key in table),
        "Zika virus disease": len(ZIKA)
        + paper_records([line for line in PAPERS["zika"] if line["outbreak_country"] == "United States"]),
        "Marburg virus disease": paper_records(
            [line for line in PAPERS["marburg"] if line["outbreak_country"] == "United States"]
        ),
    }
    return {name: records.get(name, 0) + added.get(name, 0) for name in records.keys() | added.keys()}


def state_months():
    codes = {"Texas": "US-TX", "New Mexico": "US-NM", "South Carolina": "US-SC", "Utah": "US-UT"}
    months = {code: {} for code in codes.values()}
    for line in counties():
        if line["state"] in codes:
            each = months[codes[line["state"]]]
            each[month(line)] = each.get(month(line), 0) + 1
    return months


def nipah_rows():
    truth = by(known(disease="Nipah virus infection"), "event", "cases", "deaths")
    truth["Nipah_India_2026"] = [2, None]
    # Two papers give one count each for Malaysia.
    truth["Nipah_Malaysia_1998"] = one_of([265, 105], [283, 109])
    return truth


def largest_of_2018():
    """Ten at most: reports of these days only, and weeks that end in the year."""
    events = by(known(event="Cholera_Zimbabwe_2018") + known(event="Lassa_Nigeria_2018"), "event", "cases")
    sums = {event: cases for event, [cases] in events.items()}
    for key, (cases, _) in DENGUE[6].items():
        if key.split("|")[2].startswith("2018"):
            event = f"Dengue_{DENGUE_NAMES[key[:3]]}_2014"
            sums[event] = sums.get(event, 0) + (cases or 0)
    return dict(largest(sums, 10))


def two_curves(*codes):
    return {code: curve(cumulative(code)) for code in codes}


def headline(event):
    lines = known(event=event)
    return [event, add(lines, "cases"), add(lines, "deaths")]


# The World Bank's population of Germany in 2021 (SP.POP.TOTL).
GERMANS = 83_196_078
US_2026 = {"date_low": "2026-01-01", "date_high": "2026-12-31", "cases": add(counties("2026"), "cases")}
NO_CASES = "Influenza_H1N1_Global_2009"
DEADLIEST = [headline(COVID), [NO_CASES, None, headline(NO_CASES)[2]], headline("Ebola_West_Africa_2014")]

TRUTH = {
    1: curve(cumulative("IT")),
    2: sum_by(counties(), month),
    3: {"SG": [455], "DO": [5235]},
    4: {"deaths": add(EBOLA, "deaths")},
    5: yearly(known(disease="Cholera", country_code="HT")),
    6: total(known(event="MERS_Global_2012")),
    7: nipah_rows(),
    8: sum_by(counties(release=3), month),
    9: sorted(
        set(names(known(country_code="BD"))) | paper_events("nipah", "Bangladesh", "Nipah_Bangladesh")
    ),
    10: {
        **largest_of_2018(),
        # Totals over several years.
        **{event: None for event in ("Ebola_Democratic_Republic_of_Congo_2018", "Listeriosis_South_Africa_2017")},
        **{event: None for event in ("Typhoid_XDR_Pakistan_2016", "Yellow_fever_Brazil_2017", "MERS_Global_2012")},
    },
    11: {"sources": sources_of("Lassa_Nigeria_2018"), "cases": sorted({*LASSA_2018, 422})},
    12: largest(sum_by(counties(), lambda line: line["state"])),
    13: curve(cumulative("BR", "deaths")),
    14: curve(cumulative("FR"), first="2020-11-01", until="2020-11-30"),
    15: largest({code: last(cumulative(code)) for code in COUNTRIES.values()}),
    16: {"points": {}, "spans": [["2019-12-01", "2021-06-29", headline(COVID)[1]]]},
    17: curve({"runs": [cumulative("AU")], "parts": [cumulative("AU", state=state) for state in STATES]}),
    18: curve(cumulative("AU", state="New South Wales")),
    19: yearly(known(event="Ebola_Democratic_Republic_of_Congo_2018")),
    20: total(WEST_AFRICA),
    21: by(EBOLA, "country_code", "cases"),
    22: {"cases": 420, "contradicting": [420, 394, 423, 416, 1463]},
    23: {
        "points": {"1969": 3, "2012": 623, "2018": 422, "2019": 833},
        "spans": [["2015-08-01", "2016-05-17", 273]],
    },
    24: curve(*ZIKA_CURVES),
    25: {"cases": LATE_2016[-1]},
    26: total(known(event="Mpox_Global_2022")),
    27: yearly(known(disease="Mpox", country_code="CD")),
    28: total(known(event="SARS_Global_2002")),
    29: total(known(event="Yellow_fever_Angola_2016")),
    30: {
        **by([line for line in MARBURG if line in ONE_COUNTRY], "country_code", "deaths"),
        "UG": one_of(*[[UGANDA_DEATHS + more] for more in (0, *UGANDA_2007)]),
    },
    31: during("2022", AFRICA),
    32: [line["event"] for line in known(disease="Avian influenza") if "H5N1" in line["event"]],
    33: sum_by(TEXAS, iso_week),
    34: {"cases": add([line for line in TEXAS if line["county"] == "Gaines"], "cases")},
    35: {year: add(counties(year), "cases") for year in ("2025", "2026")},
    36: changed(all_cells(5), all_cells(6)),
    37: {str(release): add(counties("2025-01", release), "cases") for release in range(2, 7)},
    38: two_curves("IT", "ES"),
    39: {"per_100k": last(cumulative("DE")) / GERMANS * 100_000},
    40: yearly(known(disease="Measles") + [US_2026]),
    41: curve(cumulative("IT")),
    42: curve(cumulative("GB", "deaths")),
    43: curve(cumulative("DE"), first="2020-12-01", until="2020-12-31"),
    44: curve(cumulative("ZA"), first="2021-01-01"),
    45: curve(cumulative("JP", "deaths")),
    46: curve(cumulative("AU", state="Victoria")),
    47: curve(cumulative("US")),
    48: sum_by(counties(), iso_week),
    49: sum_by(counties(state="South Carolina"), month),
    50: sum_by(counties("2026", state="Utah"), epi_week),
    51: {state: sum_by(counties(state=state), month) for state in ("Texas", "New Mexico")},
    52: curve(*ZIKA_CURVES, first="2016-01-01", until="2016-12-31"),
    53: yearly(known(disease="Cholera", country_code="ZW")),
    54: yearly([line for line in EBOLA if line["country_code"] == "CD"]),
    55: yearly([line for line in MARBURG if line["country_code"] == "UG"]),
    56: curve(cumulative("BR", release=2)),
    57: sum_by(counties(release=3), month),
    58: two_curves("FR", "DE"),
    59: curve(cumulative("NG", "deaths")),
    60: curve(cumulative("ES"), first="2020-03-01", until="2020-05-31"),
    61: total([line for line in WEST_AFRICA if line["country_code"] == "LR"]),
    62: total(known(event="SARS_Global_2002")),
    63: total([line for line in EBOLA if line["country_code"] == "CD"]),
    64: largest({code: deaths for code, [deaths] in by(known(disease="Cholera"), "country_code", "deaths").items()}, 5),
    65: by([line for line in known(disease="Rift Valley fever") if line in ONE_COUNTRY], "country_code", "cases"),
    66: total(known(disease="Yellow fever", country_code="SD")),
    67: by(known(disease="Poliomyelitis"), "event", "cases"),
    68: total(known(disease="Plague", country_code="MG")),
    69: largest(sum_by(counties("2026"), lambda line: line["state"]), 5),
    70: {"cases": add(counties("2025-03", state="Texas"), "cases")},
    71: {"cases": add(counties(until="2025-06-30"), "cases")},
    72: END_OF_2020,
    73: {"deaths": last(cumulative("IT", "deaths"), "2020-12-31") - cumulative("IT", "deaths")["2020-01-26"]},
    74: {"cases": last(cumulative("IN")), "deaths": last(cumulative("IN", "deaths"))},
    75: dengue_totals(),
    76: total(known(disease="Legionellosis")),
    77: total(known(disease="Acute hepatitis E", country_code="TD")),
    78: {"deaths": one_of(*[MARBURG_DEATHS + more for more in (0, *UGANDA_2007)])},
    79: total(known(event="MERS_Republic_of_Korea_2015")),
    80: total(known(event="Mpox_Nigeria_2017")),
    81: total(known(event="Nipah_India_2018")),
    82: {
        "contradicting": papers("zika", "Jamaica") + papers("zika", "Jamaica", count="cases_suspected"),
    },
    83: {"cases": papers("zika", "Suriname", place="NA")[0]},
    84: {"cases": 312, "contradicting": papers("lassa", "Nigeria", "2017")},
    85: by([line for line in EBOLA if line["country_code"] == "UG"], "event", "cases", "deaths"),
    86: {"AFR": [add(EBOLA, "cases")]},
    87: largest(sum_by(TEXAS, lambda line: line["county"]), 3),
    88: {state: [last(cumulative("AU", state=state))] for state in STATES},
    89: by(known(disease="Avian influenza"), "pathogen", "cases"),
    90: {"cases": last(cumulative("IT", release=2))},
    91: {"cases": MEASLES_TOTALS["3"]},
    92: sorted(set(names(known(country_code="UG"))) | paper_events("marburg", "Uganda", "Marburg_Uganda")),
    93: [headline(f"Ebola_{name}") for name in ("West_Africa_2014", "Democratic_Republic_of_Congo_2018")]
    + [headline("Ebola_Democratic_Republic_of_Congo_1976")],
    94: [event for event in names(KNOWN) if re.search("1996", event)],
    95: [headline("CCHF_Iraq_2022")],
    96: names(known(country_code="TD")),
    97: [headline("Ebola_West_Africa_2014")],
    98: during("2022", MEDITERRANEAN),
    99: sorted(event for event, _, _ in DEADLIEST),
    100: DEADLIEST,
    101: names(known(disease="Avian influenza")),
    102: {str(release): month_of(cumulative("ES", release=release), "2020-04") for release in range(2, 7)},
    103: MEASLES_TOTALS,
    104: {str(release): add(counties("2025-02", release, "Texas"), "cases") for release in range(2, 7)},
    105: {str(release): month_of(cumulative("GB", "deaths", release), "2020-05") for release in range(2, 7)},
    106: changed(all_cells(3, "FR"), all_cells(4, "FR")),
    107: changed(all_cells(4), all_cells(5)),
    108: changed(all_cells(3), all_cells(4)),
    109: {"added": len(EBOLA) - sum(line in ADDED[1] for line in EBOLA), "corrected": 0, "withdrawn": 0},
    110: ["Mpox"],
    111: names(line for line in EBOLA if line["country_code"] == "UG"),
    112: ["CD"],
    113: [NO_CASES],
    114: one_of(["Texas"], ["US-TX"]),
    115: sources_of("Lassa_Nigeria_2018"),
    116: us_diseases(),
    117: {
        "CC0-1.0": len(KNOWN) + sum(map(paper_records, USED_PAPERS)),
        "Apache-2.0": len(ZIKA),
        "CC-BY-4.0": len(all_cells(6)) - len(KNOWN),
    },
    118: covid_records(),
    119: state_months(),
    120: [["Ebola_Guinea_2021", 23, 12, "WHO Disease Outbreak News"]],
    121: [[line["event"], line["cases"], line["deaths"]] for line in known(country_code="HT")],
    122: {"event": KNOWN[0]["event"], "cases": KNOWN[0]["cases"], "deaths": KNOWN[0]["deaths"]},
    123: [[1, None, KNOWN[0]["cases"]]],
    124: {**release_counts(), "3": one_of(release_counts()["3"], MARKED)},
    125: {"number": 6, "records": release_counts()["6"][0]},
    126: {"sources": {"WHO Disease Outbreak News": 1}, "release": 6},
    127: {"sources": {COUNTIES: len(TEXAS)}, "release": 6},
}

if __name__ == "__main__":
    print(json.dumps(TRUTH))
