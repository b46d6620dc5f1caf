"""Weekly reports over HTTP."""

from __future__ import annotations

from email import message_from_bytes, policy

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from mitigauge.reporting.letters.weekly import service
from tests.postgres import filled
from tests.weeks_made import Fleet, fill

SMALL = Fleet(hosts=2, cases=11, weeks=2)
ONE = f"/api/weekly/{SMALL.last}"


@pytest.fixture
def made(engine: Engine) -> None:
    """The reports of two weeks."""
    filled(engine, make_reports)


def make_reports(engine: Engine) -> None:
    fill(engine, SMALL)
    for week in (SMALL.last.earlier(), SMALL.last):
        service.make(engine, week)


def test_the_newest_week_is_listed_first(client: TestClient, made: None) -> None:
    lines = client.get("/api/weekly").json()
    assert [line["week"] for line in lines] == ["2026-W47", "2026-W46"]
    assert lines[0]["new_worse"] == 2
    assert lines[0]["complete"] is True
    assert sum(lines[0]["counts"].values()) == 2 * 2 * 11


def test_a_report_is_shown_with_its_neighbours(client: TestClient, made: None) -> None:
    shown = client.get(ONE).json()
    assert (shown["before"], shown["after"]) == ("2026-W46", None)
    assert shown["document"]["sections"][0]["title"] == "Comparisons newly worse (2)"
    assert len(shown["document"]["sections"][0]["entries"]) == 2


@pytest.mark.parametrize("form", service.FORMATS)
def test_each_form_is_a_file(client: TestClient, made: None, form: str) -> None:
    answer = client.get(f"{ONE}/report", params={"format": form})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert answer.content == client.get(f"{ONE}/report", params={"format": form}).content
    if form == "mail":
        mail = message_from_bytes(answer.content, policy=policy.default)
        assert mail["Subject"].startswith("[2026-W47] 0 confirmed regressions, 0 suspicions")


def test_a_week_without_a_report_says_what_makes_it(client: TestClient, made: None) -> None:
    answer = client.get("/api/weekly/2026-W40")
    assert answer.status_code == 404
    assert "mitigauge report weekly 2026-W40" in answer.json()["hint"]


@pytest.mark.parametrize("week", ["2026-W54", "2025-W53", "2026-47", "x"])
def test_what_is_no_week_is_refused(client: TestClient, week: str) -> None:
    assert client.get(f"/api/weekly/{week}").status_code == 422
