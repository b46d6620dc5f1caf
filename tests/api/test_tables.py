"""Every kind of table over the API, in every form, and the older names of some."""

from __future__ import annotations

import csv
import io
import json

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from cli.experiment import app
from mitigauge.core.documents.table_text import COLUMNS
from mitigauge.reporting.tables.kinds import KINDS
from mitigauge.storage.database.engine import transaction
from tests.postgres import filled
from tests.recording import load

# What a kind cannot be asked for without.
NEEDED = {"functions": "?case=1", "instructions": "?case=1&arm=loop"}


@pytest.fixture
def recorded(engine: Engine) -> int:
    """The recorded experiment's number."""
    filled(engine, load)
    with engine.begin() as connection:
        return int(connection.execute(text("select min(id) from experiment")).scalar_one())


def url(experiment: int, kind: str, suffix: str = "") -> str:
    return f"/api/experiments/{experiment}/tables/{kind}{suffix}{NEEDED.get(kind, '')}"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_table_comes_as_a_view_and_in_every_form(
    client: TestClient, recorded: int, kind: str
) -> None:
    view = client.get(url(recorded, kind))
    assert view.status_code == 200, view.text
    assert view.json()["table"] == kind
    assert view.json()["sections"] or view.json()["notes"]
    assert client.get(url(recorded, kind, ".json")).json() == view.json()
    plain = client.get(url(recorded, kind, ".txt")).text
    assert max(map(len, plain.splitlines())) <= COLUMNS
    assert client.get(url(recorded, kind, ".md")).text.startswith("# ")
    rows = list(csv.DictReader(io.StringIO(client.get(url(recorded, kind, ".csv")).text)))
    assert bool(rows) == bool(view.json()["sections"])


def test_the_matrix_says_what_the_experiment_says(client: TestClient, recorded: int) -> None:
    rows = [
        row
        for comparison in client.get(f"/api/experiments/{recorded}/matrix").json()["rows"].values()
        for row in comparison
        if not row["counter"]
    ]
    tables = [
        row
        for section in client.get(url(recorded, "matrix")).json()["sections"]
        for row in section["tables"][0]["rows"]
    ]
    assert [row["case"] for row in rows] == [row[0]["text"] for row in tables]
    effects = {cell["effect_percent"] for row in rows for cell in row["cells"]} - {None}
    shown = {cell["effect"]["value"] for row in tables for cell in row[2:] if cell["effect"]}
    assert shown == effects - {0.0} or shown == effects


@pytest.mark.parametrize("kind", ["counters", "loss", "threads"])
def test_older_addresses_give_the_same_text(client: TestClient, recorded: int, kind: str) -> None:
    old = client.get(f"/api/experiments/{recorded}/{kind}/report")
    assert old.text == client.get(url(recorded, kind, ".txt")).text


def test_what_cannot_be_asked_for_is_said(client: TestClient, recorded: int) -> None:
    unknown = client.get(url(recorded, "nothing"))
    assert unknown.status_code == 404
    assert "Choose one of matrix" in unknown.text
    taken = client.get(f"/api/experiments/{recorded}/tables/loss?host=lab-amd")
    assert taken.status_code in (400, 422)
    assert "It takes case, metric" in taken.text
    assert client.get(f"/api/experiments/{recorded}/tables/functions").status_code in (400, 422)
    assert client.get(url(recorded, "matrix", ".exe")).status_code == 422


def test_the_command_writes_the_same(
    client: TestClient, engine: Engine, recorded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.source.stored", lambda **_: transaction(engine))

    def told(*words: str) -> str:
        result = CliRunner().invoke(app, ["table", str(recorded), *words])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert told("matrix").strip() == client.get(url(recorded, "matrix", ".txt")).text.strip()
    shown = json.loads(told("matrix", "--format", "json"))
    assert shown == client.get(url(recorded, "matrix")).json()
    listed = told()
    assert [kind for kind in KINDS if kind not in listed] == []


def test_an_experiment_is_given_whole_only_where_it_fits_an_answer(
    client: TestClient, recorded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = client.get(f"/api/experiments/{recorded}/whole")
    assert answer.status_code == 200
    rows = sum(len(of) for boot in answer.json()["boots"] for of in boot["values"].values())
    assert rows > 10
    monkeypatch.setattr("api.experiments.WHOLE_ROWS", 10)
    refused = client.get(f"/api/experiments/{recorded}/whole")
    assert refused.status_code == 422
    assert "iterations.jsonl" in refused.json()["hint"]
