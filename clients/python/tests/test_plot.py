"""Epidemic curves: what is drawn, and what is marked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from outbreaks import Client, InvalidParameter, Series


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


def point(first: str, last: str, cases: int | None, **flags: bool) -> dict[str, Any]:
    return {
        "first_day": first,
        "last_day": last,
        "new": {"cases": cases},
        "completeness": {"cases": {"places_known": 2, "places_reporting": 1 if flags.pop("partial", False) else 2}},
        "revision": False,
        "base_unknown": False,
        "definition_changed": False,
        **flags,
    }


def make_series(**members: Any) -> Series:
    series = Series({"interval": "isoweek", "title": "Cholera, Testland, 2020", "undated": 2, **members})
    series.release, series.warnings = 4, []
    series.filters = {}
    return series


POINTS = [
    point("2024-01-01", "2024-01-07", 3, base_unknown=True),
    point("2024-01-08", "2024-01-14", 0),
    point("2024-01-15", "2024-01-21", None),
    point("2024-02-05", "2024-02-11", -1, revision=True, definition_changed=True),
    point("2024-02-12", "2024-02-18", 5, partial=True),
]


def test_unknown_is_hatched_and_breaks_are_marked() -> None:
    ax = make_series(points=POINTS).plot()
    bars = [patch for container in ax.containers for patch in container]
    assert [bar.get_height() for bar in bars] == [3, 0, -1, 5]
    assert [bar.get_width() for bar in bars] == [7, 7, 7, 7]
    hatched = [patch for patch in ax.patches if patch.get_hatch()]
    # The week with a report but without a count, and the two weeks without any report.
    assert [patch.get_width() for patch in hatched] == [7, 14]
    labels = ax.get_legend_handles_labels()[1]
    assert sorted(labels) == [
        "New cases",
        "case definition changed",
        "first report, start unknown",
        "not all places reported",
        "revised by the source",
        "unknown",
    ]
    assert ax.get_title(loc="left") == "Cholera, Testland, 2020"
    assert ax.get_xlabel() == "By week, release 4, 2 records without a day"


def test_a_span_is_an_outline_over_its_days_as_high_as_its_mean() -> None:
    span = {"first_day": "2023-12-04", "last_day": "2023-12-31", "records": 1, "new": {"cases": 40}}
    ax = make_series(points=POINTS, spans=[span], undated_counts={"cases": 36}).plot()
    outlines = [patch for container in ax.containers for patch in container if not patch.get_fill()]
    assert [(bar.get_width(), bar.get_height()) for bar in outlines] == [(28, 10)]
    assert "one count over all these days, as a mean" in ax.get_legend_handles_labels()[1]
    assert ax.get_xlabel().endswith("2 records without a day (36 cases)")
    cumulative = [{**entry, "cumulative": entry["new"]} for entry in POINTS]
    ax = make_series(points=cumulative, spans=[span]).plot(figure="cumulative")
    assert all(patch.get_fill() for container in ax.containers for patch in container)


def test_groups_are_drawn_apart_and_never_stacked() -> None:
    groups = [
        {"group": {"country_code": "XA"}, "label": "Testland", "points": POINTS[:2]},
        {"group": {"sex": None}, "label": "Everyone", "points": []},
    ]
    axes = make_series(groups=groups).plot(title="Cholera")
    assert [ax.get_title(loc="left") for ax in axes] == ["Cholera: Testland", "Cholera: Everyone"]
    assert axes[1].texts[0].get_text() == "no report"
    with pytest.raises(InvalidParameter, match="13 groups"):
        make_series(groups=groups[:1] * 13).plot()
    with pytest.raises(InvalidParameter):
        make_series(groups=groups).plot(ax=axes[0])


def test_a_real_curve(client: Client) -> None:
    _, ax = plt.subplots()
    series = client.series(event="COVID-19_Global_2019", country_code="FR", interval="isoweek", release=6)
    assert series.plot(ax=ax) is ax
    known = [entry["new"]["cases"] for entry in series["points"] if entry["new"]["cases"] is not None]
    bars = [patch for container in ax.containers for patch in container]
    assert [bar.get_height() for bar in bars if bar.get_fill()] == known
    # The weeks in which the source paused are one outline, not the count of the week of its next report.
    assert len(series["spans"]) == sum(not bar.get_fill() for bar in bars) > 0
    series.plot("deaths", figure="cumulative")
