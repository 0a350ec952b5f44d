"""All verbs against a real service with the six sample releases."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from conftest import Service

from outbreaks import (
    ChoiceWarning,
    Client,
    Damaged,
    Filters,
    InvalidParameter,
    NotAllowed,
    NotComparable,
    NotFound,
    OutbreaksWarning,
    Unavailable,
)
from outbreaks.client import LinkedQuestion

MEASLES = "Measles_United_States_2025"
FRANCE: Filters = {"event": "COVID-19_Global_2019", "country_code": "FR"}


def test_a_walk_has_every_record_of_its_release(client: Client) -> None:
    walk = client.records(release=6)
    records = list(walk)
    assert walk.release == 6
    assert len(records) == client.release(6)["records"] == 14525
    ids = [record["id"] for record in records]
    assert ids == sorted(set(ids))


def test_a_walk_goes_on_from_its_cursor(client: Client) -> None:
    query: dict[str, Any] = {"event": "Measles_United_States_2025", "release": 6, "num": 100}
    walk = client.records(**query)
    got = list(itertools.chain(*itertools.islice(walk.pages(), 2)))
    rest = client.records(**query, cursor=walk.cursor)
    assert [*got, *rest] == list(client.records(**query))
    assert len(got) == 200


def test_the_walk_and_the_whole_release_are_the_same_frames(client: Client) -> None:
    walk, loaded = client.records(release=2), client.load(2)
    pd.testing.assert_frame_equal(walk.to_pandas(), loaded.to_pandas())
    assert walk.to_polars().equals(loaded.to_polars())
    assert walk.to_arrow().equals(loaded.to_arrow())
    assert len(loaded.to_pandas()) == loaded.records == 3926


def test_fields_choose_the_columns(client: Client) -> None:
    frame = client.records(release=6, fields=["id", "cases", "date_low"], event="Lassa_Nigeria_2018").to_pandas()
    assert [str(dtype) for dtype in frame.dtypes] == ["Int64", "datetime64[s]", "Int64"]
    with pytest.warns(OutbreaksWarning):
        empty = client.records(release=6, fields="id,cases", event="Nothing").to_polars()
    assert empty.columns == ["id", "cases"]


@pytest.mark.parametrize("format", ["csv", "ndjson", "geojson", "parquet", "arrow"])
def test_a_query_as_a_file(client: Client, tmp_path: Path, format: str) -> None:
    records = client.records(release=6, country_code="NG")
    path = records.save(tmp_path / f"records.{format}")
    assert records.release == 6
    assert path.stat().st_size > 0
    if format == "parquet":
        assert pd.read_parquet(path)["id"].tolist() == [record["id"] for record in records]
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [path.name]


def test_a_query_as_a_file_refuses_what_is_not_a_file(client: Client, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="formats"):
        client.records().save(tmp_path / "records.xlsx")
    with pytest.raises(InvalidParameter, match="cursor"):
        client.records(cursor="x").save(tmp_path / "records.csv")
    with pytest.warns(OutbreaksWarning, match="Nearest"):
        client.records(disease="Colera").save(tmp_path / "records.csv")


def fetch_csv(service: Service, path: str, query: dict[str, str]) -> list[dict[str, str]]:
    with httpx2.Client(base_url=service.url) as http:
        body = {
            "client_id": service.client_id,
            "client_secret": service.client_secret,
            "audience": service.url,
            "grant_type": "client_credentials",
        }
        token = http.post("/oauth/token", json=body).json()["access_token"]
        headers = {"authorization": f"Bearer {token}", "accept": "text/csv"}
        detail = {"detail": "full"} if path in ("series", "sums", "vintages") else {}
        text = http.get(f"/v2/hed-outbreaks/{path}", params={**query, **detail}, headers=headers).text
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.filterwarnings("ignore::outbreaks.ChoiceWarning")
@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("series", {**FRANCE, "interval": "isoweek", "release": "6"}),
        # Only a span, and counts without a day.
        ("series", {"event": "Nipah_Bangladesh_2008", "interval": "month", "release": "6"}),
        ("sums", {"event": "Nipah_Bangladesh_2009", "group_by": "country_code", "release": "6"}),
        ("series", {**FRANCE, "interval": "year", "group_by": "source_name", "release": "6"}),
        ("sums", {**FRANCE, "group_by": "country_code", "release": "6"}),
        # The service chooses how to count.
        ("series", {"event": "Lassa_Nigeria_2018", "interval": "year", "release": "6"}),
        ("sums", {"disease": "Ebola disease", "group_by": "country_code", "release": "6"}),
        ("vintages", {**FRANCE, "interval": "year", "count": "cases"}),
        ("facets", {**FRANCE, "release": "6"}),
        ("coverage", {"by": "source_name", "interval": "isoweek", "release": "6"}),
    ],
)
def test_frames_of_figures_have_the_columns_and_values_of_the_csv(
    service: Service, client: Client, path: str, query: dict[str, str]
) -> None:
    frame = getattr(client, path)(**query).to_pandas()
    published = fetch_csv(service, path, query)
    assert len(published) == len(frame) > 0
    assert list(frame) == list(published[0])

    def to_text(value: object) -> str:
        if value is pd.NA or value is pd.NaT or value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, pd.Timestamp):
            return value.date().isoformat()
        return format(value, "g") if isinstance(value, float) else str(value)

    for (_, row), line in zip(frame.iterrows(), published, strict=True):
        assert {name: to_text(value) for name, value in row.items()} == line


def test_the_service_chooses_how_to_count_and_the_answer_says_it(client: Client) -> None:
    with pytest.warns(ChoiceWarning, match="1 other way to count was left out") as warned:
        series = client.series(event=MEASLES, interval="month", release=6)
    counted = "Counted as JHU Measles Tracking Team: county counts, confirmed cases, "
    assert str(warned[0].message) == series.notice
    assert series.notice is not None
    assert series.notice.startswith(counted)
    head, totals, notice = repr(series).splitlines()
    assert head == "<Series of Measles, United States, 2025 by month, release 6>"
    assert totals == "  2,286 cases, 2025-01-01 to 2025-12-31"
    assert notice.strip() == series.notice
    html = series._repr_html_()
    assert "<td>2,286</td>" in html
    assert "Sum of the table of JHU" in html
    assert counted[:40] in series.plot().get_xlabel()
    total = client.follow(series["left_out"][0])
    assert total["spans"][0]["new"]["cases"] == 2286
    assert total.notice.startswith("Counted as Sum of the table")
    sides = client.sums(event="Lassa_Nigeria_2018", side_by_side=True, release=6)
    assert "  WHO Disease Outbreak News: national counts, all cases, running totals: 422 cases, 114 deaths" in repr(
        sides
    )


def test_a_refusal_lists_the_choices_with_their_numbers_and_each_can_be_followed(client: Client) -> None:
    with pytest.raises(NotComparable) as raised:
        client.sums(event="Zika_Jamaica_2016", group_by="country_code", release=6)
    error = raised.value
    assert error.mixed == ["case_status"]
    assert "choices[1]: suspected cases (4,567 cases, 2016-07-30)\nAsk for one: client.follow(" in str(error)
    assert client.follow(error.choices[1])["data"][0]["total"]["cases"] == 4567
    with pytest.raises(NotComparable) as raised:
        client.series(event="Lassa_Nigeria_2018", interval="year", release=6, strict=True)
    # Some differ in fields that have no value.
    for choice in raised.value.choices:
        assert client.follow(choice)["records"] >= choice["records"]
    # Different outbreaks are named.
    with pytest.raises(NotComparable, match=r"Diphtheria_Nigeria_2022: WHO(.|\n)*group_by='event'"):
        client.sums(country_code="NG", release=6, group_by="country_code")
    with pytest.raises(InvalidParameter, match="side_by_side"):
        client.follow({"words": "a ship", "query": None, "url": None})


def test_a_frame_of_events_has_the_number_to_quote(client: Client) -> None:
    frame = client.events(release=6, sort="-deaths").to_pandas()
    assert str(frame["headline_deaths"].dtype) == "Int64"
    assert frame["headline_deaths"].dropna().is_monotonic_decreasing
    assert (frame["headline_words"].notna() | frame["headline_deaths"].isna()).all()


def test_the_other_verbs(client: Client) -> None:
    assert next(iter(client.events(release=6, event="Lassa_Nigeria_2018")))["records"] == 16
    assert client.search("bird flu").to_pandas()["value"][0] == "Avian influenza"
    assert [release["number"] for release in client.releases()] == [6, 5, 4, 3, 2, 1]
    changes = list(client.changes(5, 6))
    assert len(changes) == 494 + 523 + 103
    corrected = next(change["id"] for change in changes if change["change"] == "corrected")
    assert len(list(client.history(corrected))) >= 2
    assert "release 6" in client.cite(event="Lassa_Nigeria_2018", release=6)
    assert client.cite(event="Lassa_Nigeria_2018", format="bibtex").startswith("@")
    assert json.loads(client.cite(format="csl-json"))


@pytest.mark.parametrize(
    ("question", "parameters"),
    [
        ("series", {**FRANCE, "interval": "month", "columns": ["period", "new_cases", "flags"], "release": 6}),
        ("sums", {"q": "measles", "group_by": "country_code", "format": "json"}),
        ("records", {"disease": ["Cholera", "Mpox"], "fields": ["id", "cases"], "days": 1}),
        ("vintages", {**FRANCE, "interval": "year", "from_": 5}),
    ],
)
def test_a_link_opens_its_question_without_a_token(
    service: Service, client: Client, question: LinkedQuestion, parameters: dict[str, Any]
) -> None:
    link = client.link(question, **parameters)
    assert link.startswith(f"{service.url}/v2/hed-outbreaks/")
    answer = httpx2.get(link)
    assert answer.status_code == 200
    assert httpx2.get(f"{link}&num=1").status_code == 401
    if question == "series":
        lines = answer.text.splitlines()
        assert lines[0] == "period,new_cases,flags"
        rows = client.series(**FRANCE, interval="month", release=6).rows()
        new_cases = ["" if row["new_cases"] is None else str(row["new_cases"]) for row in rows]
        assert [line.split(",")[1] for line in lines[1:]] == new_cases


def test_a_watch_is_previewed_created_paused_and_deleted(client: Client) -> None:
    question: Filters = {"event": MEASLES}
    preview = client.preview_watch("crosses:cases:1500", **question)
    assert preview["judged"] == [2, 3, 4, 5, 6]
    frame = preview.to_pandas()
    assert list(frame)[:6] == ["release", "time", "type", "title", "before_cases", "after_cases"]
    appeared = frame[frame["type"] == "question.not_comparable"]
    assert str(appeared["before_cases"].dtype) == "Int64"
    assert appeared["before_cases"].isna().all()
    crossed = frame[frame["type"] == "question.crossed"].iloc[0]
    assert (crossed["before_cases"] < 1500) == (crossed["after_cases"] >= 1500)
    sums = client.sums(**question, counts="cases", release=int(crossed["release"]))
    assert sums["data"][0]["total"]["cases"] == crossed["after_cases"]
    nothing = client.preview_watch("appears", **question, releases=1)
    assert list(nothing.to_polars().columns) == list(frame)[:4]

    watch = client.watch("crosses:cases:1500", **question, name="Measles")
    assert (watch["name"], watch["state"], watch["judged"]) == ("Measles", "active", 6)
    assert client.change_watch(watch["id"], state="paused", endpoint=None)["state"] == "paused"
    listed = client.watches().to_pandas().set_index("id")
    assert listed["state"][watch["id"]] == "paused"
    assert client.notices(watch["id"])["data"] == []
    client.delete_watch(watch["id"])
    with pytest.raises(NotFound):
        client.delete_watch(watch["id"])
    with pytest.warns(OutbreaksWarning, match="Nearest"):
        client.preview_watch("changes", disease="Colera")
    with pytest.raises(InvalidParameter) as raised:
        client.watch("sometimes")
    assert raised.value.parameter == "when"


def test_the_notices_of_the_dataset_are_read_from_where_one_has_stopped(client: Client) -> None:
    notices = client.notices()
    assert notices.to_pandas()["release"].tolist() == [1, 2, 3, 4, 5, 6]
    assert notices["next_after"] == 6
    assert client.notices(after=6, wait=0.1)["data"] == []


def test_as_of_restricts_every_verb(client: Client) -> None:
    old = client.as_of(3)
    assert old.records(fields="id").to_pandas().shape == (7534, 1)
    assert old.series(**FRANCE, interval="year").release == 3
    assert old.load().number == old.release()["number"] == old.verify()["release"] == 3
    assert old.vintages(**FRANCE, interval="year")["data"][-1]["release"] == 3
    assert "release=3" in old.link("sums", **FRANCE)
    assert "to=3" in old.link("vintages", **FRANCE)
    assert len(list(old.changes(2))) == 3667 + 482 + 59
    assert old.series(**FRANCE, interval="year", release=6).release == 6
    assert client.as_of("2025-09-01").release()["as_of"] == "2025-09-01"
    assert [client.as_of(day).release()["number"] for day in ("2025-08-31", "2025-09-01", "2099-01-01")] == [2, 3, 6]
    with pytest.raises(InvalidParameter, match="The first release is as of 2025-05-"):
        client.as_of("1999-01-01").release()


def test_wrong_requests_are_named(service: Service, client: Client) -> None:
    with pytest.raises(InvalidParameter) as raised:
        list(client.records(evnt="x"))  # type: ignore[call-arg]
    assert raised.value.parameter == "evnt"
    with pytest.raises(NotFound):
        client.release(99)
    with Client(service.url, service.client_id, "wrong") as other, pytest.raises(NotAllowed, match="invalid_client"):
        other.release()
    with pytest.raises(NotFound, match="has no xlsx file"):
        client.download("xlsx")  # type: ignore[arg-type]


def test_a_download_is_resumed_and_replaces_what_differs(client: Client, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    path = client.download("csv", tmp_path, release=2, progress=lambda done, total: calls.append((done, total)))
    whole = path.read_bytes()
    assert calls[-1] == (len(whole), len(whole))
    path.write_bytes(whole[:-1] + b"?")
    with pytest.raises(Damaged, match="differs"):
        client.verify(2, file=path)
    path.with_name(f"{path.name}.part").write_bytes(whole[: len(whole) // 2])
    calls.clear()
    assert client.download("csv", tmp_path, release=2, progress=lambda *now: calls.append(now)).read_bytes() == whole
    assert calls[0][0] > len(whole) // 2
    assert client.verify(2, file=path)["release"] == 2


def test_threads_that_download_the_same_file_get_it_once(client: Client, tmp_path: Path) -> None:
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(client.download("ndjson", tmp_path, release=6))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["hed-outbreaks-6.ndjson.gz"]


def test_every_release_has_its_digest(client: Client, tmp_path: Path) -> None:
    for release in client.releases():
        found = client.verify(release["number"])
        assert (found["digest"], found["records"]) == (release["digest"], release["records"])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.fixture
def offline(service: Service, tmp_path: Path) -> Iterator[Client]:
    with Client(service.url, cache=tmp_path / "cache", offline=True) as opened:
        yield opened


def test_a_loaded_release_is_there_offline(client: Client, offline: Client) -> None:
    online = client.load(2)
    found = offline.load(2)
    assert found.to_arrow().equals(online.to_arrow())
    assert offline.as_of(2).load().digest == online.digest
    with pytest.raises(Unavailable, match="Releases in the cache: 2"):
        offline.load(3)
    with pytest.raises(Unavailable):
        offline.load()
    found.path.write_bytes(b"damaged")
    with pytest.raises(Damaged):
        offline.load(2)
    assert client.load(2).to_arrow().num_rows == 3926


@pytest.mark.filterwarnings("ignore::outbreaks.ChoiceWarning")
def test_the_code_in_the_readme_runs(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    stored: list[Any] = []
    names: dict[str, Any] = {"saved": None, "store": lambda page, _: stored.extend(page)}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)  # noqa: S102
    assert len(stored) == 14525
    assert set(names["df"]["country_code"]) == {"HT", "ZW"}
    assert names["lassa"]["data"][0]["total"]["cases"] == 422
    assert f"# {names['lassa'].notice}\n" in text
    assert names["zika"]["data"][0]["total"]["cases"] == 72
    names["ob"].close()
    plt.close("all")
