"""What an experiment's pages give to other programs, and the matrix as browsers ask for it."""

from __future__ import annotations

import csv
import io
import json

from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.runs.conclusions import conclude_closed
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
