"""Epidemic curves. What is unknown is marked and never drawn as zero; so is every break of the series."""

from __future__ import annotations

from datetime import date, timedelta
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from ._frames import require
from .errors import InvalidParameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _PALE, _MARK, _GREY = "#2a6f97", "#8fbcd4", "#c1121f", "#e3e3e3"
_MOST_GROUPS: Final = 12
_FIGURES: Final = {"new": "New", "cumulative": "Total", "point": "Current"}
_INTERVALS: Final = {"isoweek": "week", "epiweek": "epi week"}
# The days of an interval, on average.
_LENGTHS: Final = {"day": 1, "isoweek": 7, "epiweek": 7, "month": 30.4, "year": 365.25}


def plot_series(
    series: dict[str, Any], title: str, caption: tuple[str, str | None], count: str, figure: str, ax: Any
) -> Any:
    """Draws the counts; returns the axes, or a list of axes if the series has groups.

    The caption has the release, and the notice if there is one.
    """
    require("matplotlib", "plot")
    import matplotlib.pyplot as plt

    groups = series.get("groups")
    if groups is None:
        if ax is None:
            _, ax = plt.subplots(figsize=(9, 4), layout="constrained")
        _draw(ax, series["points"], title, count, figure)
        _draw_spans(ax, series, series["interval"], count, figure)
        _sign(ax, series, caption, count)
        return ax
    if ax is not None or not 1 <= len(groups) <= _MOST_GROUPS:
        detail = f"the series has {len(groups)} groups; from 1 to {_MOST_GROUPS} can be drawn, each on its own axes"
        raise InvalidParameter(detail, code="invalid_parameter", parameter="group_by")
    # Groups may not be comparable, so they are never stacked.
    height = 1.2 + 2.2 * len(groups)
    _, rows = plt.subplots(len(groups), 1, figsize=(9, height), sharex=True, squeeze=False, layout="constrained")
    axes = [row[0] for row in rows]
    for each, group in zip(axes, groups, strict=True):
        _draw(each, group["points"], fill(f"{title}: {group['label']}", 110), count, figure)
        _draw_spans(each, group, series["interval"], count, figure)
    _sign(axes[-1], series, caption, count)
    return axes


def _sign(ax: Axes, series: dict[str, Any], caption: tuple[str, str | None], count: str) -> None:
    undated = f", {series['undated']} records without a day" if series.get("undated") else ""
    bodies = series.get("groups") or [series]
    totals = [body["undated_counts"][count] for body in bodies if body.get("undated_counts")]
    known = [total for total in totals if total is not None]
    if known:
        undated += f" ({sum(known):,} {count})"
    release, notice = caption
    counted = "" if notice is None else f"\n{fill(notice, 120)}"
    interval = _INTERVALS.get(series["interval"], series["interval"])
    ax.set_xlabel(f"By {interval}, {release}{undated}{counted}", fontsize="small")


def _draw(ax: Axes, points: list[dict[str, Any]], title: str, count: str, figure: str) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
    from matplotlib.ticker import StrMethodFormatter

    def to_number(day: date) -> float:
        return float(date2num(day))  # type: ignore[no-untyped-call]

    def label(text: str) -> str:
        # Each kind of mark is in the legend once.
        _, names = ax.get_legend_handles_labels()
        return "_" + text if text in names else text

    def shade(first: date, after: date) -> None:
        begin, end = to_number(first), to_number(after)
        ax.axvspan(begin, end, facecolor=_GREY, edgecolor="white", hatch="///", lw=0, zorder=0, label=label("unknown"))

    expected: date | None = None
    for point in points:
        first, after = date.fromisoformat(point["first_day"]), date.fromisoformat(point["last_day"]) + timedelta(1)
        if expected is not None and expected < first:
            shade(expected, first)
        expected = after
        begin, width, value = to_number(first), (after - first).days, point[figure][count]
        reporting = point["completeness"][count]
        if value is None:
            shade(first, after)
        else:
            is_partial = reporting["places_reporting"] < reporting["places_known"]
            colour, name = (_PALE, "not all places reported") if is_partial else (_BAR, f"{_FIGURES[figure]} {count}")
            ax.bar(begin, value, width, align="edge", color=colour, edgecolor="white", lw=0.3, label=label(name))
        middle, top = begin + width / 2, max(value or 0, 0)
        if figure == "new" and point["base_unknown"]:
            ax.plot(
                middle, top, ls="", marker="o", mfc="none", mec=_MARK, ms=5, label=label("first report, start unknown")
            )
        if point["revision"]:
            ax.plot(middle, top, ls="", marker="v", color=_MARK, ms=4, label=label("revised by the source"))
        if point["definition_changed"]:
            ax.axvline(begin, color=_MARK, ls="--", lw=1, label=label("case definition changed"))
    if not points:
        ax.text(0.5, 0.5, "no report", transform=ax.transAxes, ha="center", color="grey")
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_ylabel(f"{_FIGURES[figure]} {count}")
    ax.set_title(title, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small")


def _draw_spans(ax: Axes, body: dict[str, Any], interval: str, count: str, figure: str) -> None:
    """Counts over several intervals: outlines over all their days, as high as the mean of an interval."""
    from matplotlib.dates import date2num

    spans = body.get("spans", []) if figure == "new" else []
    for index, span in enumerate(span for span in spans if span["new"][count] is not None):
        first, after = date.fromisoformat(span["first_day"]), date.fromisoformat(span["last_day"]) + timedelta(1)
        days = (after - first).days
        mean = span["new"][count] * _LENGTHS[interval] / days
        name = "one count over all these days, as a mean" if index == 0 else "_span"
        begin = float(date2num(first))  # type: ignore[no-untyped-call]
        ax.bar(begin, mean, days, align="edge", fill=False, edgecolor=_BAR, lw=1, label=name)
    if spans:
        ax.legend(frameon=False, fontsize="small")
