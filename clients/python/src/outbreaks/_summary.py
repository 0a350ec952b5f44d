"""What a response says about itself: how it was counted, its totals and its days, as text and for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Final, NamedTuple

_COUNTS: Final = ("cases", "deaths", "hospitalised", "recovered", "tested")
_INTERVALS: Final = frozenset({"day", "isoweek", "epiweek", "month", "year"})
_MOST_ROWS: Final = 10


class Row(NamedTuple):
    """A line of a summary."""

    name: str
    counts: Mapping[str, int | None]
    first_day: str | None
    last_day: str | None


def describe_counts(counts: Mapping[str, int | None]) -> str:
    return ", ".join(f"{value:,} {name}" for name, value in counts.items() if value is not None)


def describe_set(one: Mapping[str, Any]) -> str:
    """A set in a line, such as "WHO: confirmed cases (72 cases, 2016-07-30)", with its event if the events differ."""
    values = one.get("values", {})
    about = one.get("event") or values.get("event") or values.get("disease")
    words = one.get("words") or one.get("query") or "other counts"
    days = sorted({day for day in (one.get("first_day"), one.get("last_day")) if day})
    facts = [describe_counts(one.get("counts", {})), " to ".join(days)]
    return f"{f'{about}: ' if about else ''}{words} ({', '.join(fact for fact in facts if fact)})"


def describe_choice(answer: Mapping[str, Any]) -> str | None:
    """The notice of a response: what was chosen, and how much was left out. None if there is only one way to count."""
    chosen = answer.get("chosen") or []
    if not chosen:
        return None
    many = "" if len(chosen) == 1 else f"{len(chosen)} sets, one for each group or event, such as "
    left_out = answer.get("left_out_total", 0)
    others = "1 other way to count was left out" if left_out == 1 else f"{left_out:,} other ways to count were left out"
    return f"Counted as {many}{chosen[0]['words']}; {others}."


def name_counted(answer: Mapping[str, Any], group: Mapping[str, Any]) -> str | None:
    """The words of a group, as the CSV of the service has them in the column `counted`."""
    asked = {name: value for name, value in group.items() if name not in _INTERVALS}
    sets = [one for one in answer.get("chosen", []) if all(one.get(name) == value for name, value in asked.items())]
    if len(sets) > 1:
        return f"{len(sets)} events, each as it was chosen"
    return sets[0]["words"] if sets else None


def summarise_series(body: Mapping[str, Any], name: str, *, is_window: bool) -> Row:
    """All that is known of a series, as `total` in `sums`: the last total, or the sum of the new counts."""
    points, spans = body.get("points", []), body.get("spans", [])

    def total(count: str) -> int | None:
        last = points[-1]["cumulative"].get(count) if points and not is_window else None
        known = [one["new"][count] for one in [*points, *spans] if one["new"].get(count) is not None]
        return last if last is not None else sum(known) if known else None

    days = [day for one in [*points, *spans] for day in (one["first_day"], one["last_day"])]
    counts = {count: total(count) for count in _COUNTS}
    return Row(name, counts, min(days, default=None), max(days, default=None))


def write_text(title: str, rows: list[Row], notice: str | None) -> str:
    lines = [f"<{title}>"]
    for row in rows[:_MOST_ROWS]:
        days = " to ".join(day for day in (row.first_day, row.last_day) if day) or "no day"
        facts = f"{describe_counts(row.counts) or 'no count'}, {days}"
        lines.append(f"  {row.name}: {facts}" if row.name else f"  {facts}")
    if len(rows) > _MOST_ROWS:
        lines.append(f"  and {len(rows) - _MOST_ROWS:,} more")
    return "\n".join([*lines, *([f"  {notice}"] if notice else [])])


def write_html(title: str, rows: list[Row], notice: str | None, left_out: list[Mapping[str, Any]]) -> str:
    counts = [count for count in _COUNTS if any(row.counts.get(count) is not None for row in rows)]

    def write_row(tag: str, cells: list[Any]) -> str:
        texts = ["" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells]
        return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"

    shown = [write_row("td", [row.name, *map(row.counts.get, counts), *row[2:]]) for row in rows[:_MOST_ROWS]]
    more = f"<p>and {len(rows) - _MOST_ROWS:,} more</p>" if len(rows) > _MOST_ROWS else ""
    said = f"<p>{escape(notice)}</p>" if notice else ""
    items = [f"<li>{escape(describe_set(one))}. {escape(one.get('reason', ''))}</li>" for one in left_out[:_MOST_ROWS]]
    others = f"<details><summary>Left out</summary><ul>{''.join(items)}</ul></details>" if items else ""
    head = write_row("th", ["", *counts, "first day", "last day"])
    return f"<p><b>{escape(title)}</b></p><table>{head}{''.join(shown)}</table>{more}{said}{others}"
