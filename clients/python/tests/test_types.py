"""A type checker finds a misspelt filter, and a value that is not in the list."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

PROGRAM = """
from datetime import date
from outbreaks import Client, Filters

client = Client()
france: Filters = {"event": "COVID-19_Global_2019", "country_code": "FR"}
"""

RIGHT = [
    'client.records(disease="Cholera", country_code=["HT", "ZW"], date_from=date(2024, 1, 1), cases_min=5, release=6)',
    'client.records(host={"human", "animal"}, composite=False, bbox=[-10, 40.5, 5, 50], fields=("id", "cases"))',
    'client.series(**france, interval="isoweek", group_by="source_name", counts=["cases", "deaths"])',
    "client.series(**france)",
    'client.sums(**france, group_by=["country_code", "month"], sort="-new_cases", num=5)',
    'client.vintages(**france, interval="year", from_=2, to="latest", count="deaths")',
    'client.coverage(by="al1_code", interval="day", country_code="US", strict=True)',
    'client.events(q="cholera haiti", num=5)',
    'client.changes(5, 6, bodies=False, source_name="WHO")',
    'client.cite(**france, format="bibtex")',
    'client.link("series", **france, interval="month", columns=["period", "new_cases"], days=30)',
    'client.watch("crosses:cases:100", **france, counts=["cases"], place="FR", name="France")',
    'client.preview_watch("appears", **france, releases=3)',
    'client.change_watch("id", state="paused", endpoint=None)',
    'client.notices("id", after=3, wait=60)',
    "client.facets(**france, num=3)",
    'client.search("bird flu", num=3)',
]

WRONG = {
    'client.records(evnt="x")': 'Unexpected keyword argument "evnt" for "records" of "Client"; did you mean "event"?',
    'client.events(desease="x")': 'Unexpected keyword argument "desease"',
    'client.changes(5, 6, country="FR")': 'Unexpected keyword argument "country"',
    'client.series(interval="week")': 'Argument "interval" to "series" of "Client" has incompatible type',
    'client.sums(interval="month")': 'Unexpected keyword argument "interval"',
    'client.vintages(interval="year", release=6)': 'Unexpected keyword argument "release"',
    'client.facets(sort="id")': 'Unexpected keyword argument "sort"',
    'client.coverage(by="colour")': 'Argument "by" to "coverage" of "Client" has incompatible type',
    'client.cite(case_status="sure")': 'Argument "case_status" to "cite" of "Client" has incompatible type',
    'client.link("events")': 'Argument 1 to "link" of "Client" has incompatible type',
    'client.watch("changes", group_by="event")': 'Unexpected keyword argument "group_by"',
    'client.change_watch("id", state="ended")': 'Argument "state" to "change_watch" of "Client" has incompatible type',
    'client.search("x", event="y")': 'Unexpected keyword argument "event"',
    'client.records(cases_min="5")': 'Argument "cases_min" to "records" of "Client" has incompatible type',
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says about all calls, each on a line of its own."""
    program = tmp_path_factory.mktemp("types") / "program.py"
    program.write_text(PROGRAM + "\n".join([*RIGHT, *WRONG]), encoding="utf-8")
    configuration = Path(__file__).parents[1] / "pyproject.toml"
    output, errors, _ = api.run(["--config-file", str(configuration), "--no-pretty", str(program)])
    assert errors == ""
    return output.splitlines()


FIRST_LINE = PROGRAM.count("\n") + 1


def errors_of(report: list[str], line: int) -> list[str]:
    return [text for text in report if f"program.py:{line}: error: " in text]


@pytest.mark.parametrize(("index", "call"), list(enumerate(RIGHT)), ids=RIGHT)
def test_a_right_call_passes(report: list[str], index: int, call: str) -> None:
    assert errors_of(report, FIRST_LINE + index) == [], call


@pytest.mark.parametrize(("index", "message"), list(enumerate(WRONG.values())), ids=list(WRONG))
def test_a_wrong_call_is_an_error(report: list[str], index: int, message: str) -> None:
    [error] = errors_of(report, FIRST_LINE + len(RIGHT) + index)
    assert message in error
