"""What an experiment's pages give to other programs, and the matrix as browsers ask for it."""

from __future__ import annotations

import csv
import io
import json

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.analysis.verdicts.conclusions import conclude_closed
from tests.made import make


def test_the_matrix_comes_once_and_again_only_when_it_changed(
    client: TestClient, engine: Engine
) -> None:
    made = make(engine)
    path = f"/api/experiments/{made.experiment}/matrix"
    first = client.get(path)
    assert first.headers["content-encoding"] == "gzip"
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    conclude_closed(engine)
    changed = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == changed.json()
    [rows] = plain.json()["rows"].values()
    assert [cell["verdict"] for cell in rows[0]["cells"]] == [None, "worse"]


def test_a_matrix_of_nothing_is_a_404(client: TestClient) -> None:
    assert client.get("/api/experiments/77/matrix").status_code == 404


def test_every_cell_is_a_row_of_the_table(client: TestClient, engine: Engine) -> None:
    made = make(engine)
    conclude_closed(engine)
    with engine.begin() as connection:
        connection.execute(text("update benchmark_case set title = '=HYPERLINK(\"x\")'"))
    answer = client.get(f"/api/experiments/{made.experiment}/matrix.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert len(rows) == made.cases * made.arms
    assert {row["case"] for row in rows} == {'\'=HYPERLINK("x")'}
    assert [row["verdict"] for row in rows[:2]] == ["", "worse"]
    whole = client.get(f"/api/experiments/{made.experiment}/matrix.json")
    assert len(whole.json()["comparisons"][0]["rows"]) == made.cases


def test_every_iteration_is_a_line_and_may_be_narrowed(client: TestClient, engine: Engine) -> None:
    made = make(engine)
    path = f"/api/experiments/{made.experiment}/iterations"
    every = list(csv.DictReader(io.StringIO(client.get(f"{path}.csv").text, newline="")))
    assert len(every) == made.cases * made.arms * 8 * 3
    lines = [json.loads(line) for line in client.get(f"{path}.jsonl").text.splitlines()]
    assert [line["value"] for line in lines] == [float(row["value"]) for row in every]
    with engine.connect() as connection:
        case = connection.execute(text("select min(id) from benchmark_case")).scalar_one()
    few = client.get(f"{path}.jsonl", params={"case": case}).text.splitlines()
    assert len(few) == len(lines) / made.cases
    refused = client.get(f"{path}.csv", params={"host": "nobody"})
    assert refused.status_code == 404
    assert "host-1" in refused.json()["hint"]


def test_experiments_come_in_pages(client: TestClient, engine: Engine) -> None:
    made = [make(engine).experiment for _ in range(3)]
    page = client.get("/api/experiments", params={"limit": 2}).json()
    assert [e["id"] for e in page["experiments"]] == made[:0:-1]
    rest = client.get("/api/experiments", params={"limit": 2, "before": page["next"]}).json()
    assert [e["id"] for e in rest["experiments"]] == made[:1]
    assert rest["next"] is None


def finish(engine: Engine, experiment: int) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("update experiment set finished_at = now(), concluded_at = now() where id = :e"),
            {"e": experiment},
        )


@pytest.mark.parametrize("page", ["", "/progress"])
@pytest.mark.parametrize(
    "change",
    [
        "update experiment set headline = 'another'",
        "update run set error = 'another'",
        "update host set host_class = 'another'",
        "update boot set reason = 'another' where id = (select min(id) from boot)",
        "insert into event (experiment_id, kind, text) select id, 'x', 'y' from experiment",
    ],
)
def test_a_page_of_an_experiment_that_is_over_is_made_anew_after_every_change(
    client: TestClient, engine: Engine, page: str, change: str
) -> None:
    made = make(engine)
    path = f"/api/experiments/{made.experiment}{page}"
    # A page that is asked for again and again has one while it goes on, too.
    assert ("etag" in client.get(path).headers) == (page == "/progress")
    pages = client.app.state.pages  # type: ignore[attr-defined]
    assert not pages._kept
    finish(engine, made.experiment)
    client.get(path)
    [first] = pages._kept.values()
    client.get(path)
    assert [first] == list(pages._kept.values())
    with engine.begin() as connection:
        connection.execute(text(change))
    client.get(path)
    [second] = pages._kept.values()
    assert second.stamp != first.stamp


def test_a_case_is_made_anew_when_a_boot_changes(client: TestClient, engine: Engine) -> None:
    made = make(engine)
    with engine.connect() as connection:
        case = connection.scalar(text("select min(id) from benchmark_case"))
    path = f"/api/experiments/{made.experiment}/cases/{case}"
    before = client.get(path).json()
    with engine.begin() as connection:
        connection.execute(text("update boot set state = 'invalid' where block = 1"))
    after = client.get(path).json()
    [points] = before["points"].values()
    [later] = after["points"].values()
    assert [p["counts"] for p in points if p["block"] == 1] == [True, True]
    assert [p["counts"] for p in later if p["block"] == 1] == [False, False]
