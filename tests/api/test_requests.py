"""Requests that came by mail, looked at and decided by a person over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from mitigauge.jobs.states import Ability
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.series import service as series
from tests.api.test_series import stored
from tests.audit_entries import entries
from tests.clients import bearer, token_of
from tests.requests_made import waiting_request
from tests.workers import announce


@pytest.fixture
def headers(engine: Engine) -> dict[str, str]:
    return bearer(token_of(engine, "approver", "ann"))


def parent(engine: Engine) -> str:
    """The message-id of a revision's cover letter that is stored."""
    stored(engine)
    with transaction(engine) as session:
        return series.find_revision(session, "bhb", "v2").message_id


def approve(client: TestClient, headers: dict[str, str], number: int, digest: str) -> Any:
    return client.post(f"/api/requests/{number}/approve", headers=headers, json={"digest": digest})


def test_what_waits_is_listed_with_its_mail(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    number = waiting_request(engine, parent=parent(engine))
    [listed] = stranger.get("/api/requests?waiting=true", headers=headers).json()
    assert (listed["id"], listed["state"], listed["line"]) == (number, "waiting", "#mitigauge test")
    assert listed["about"] == "bhb v2"
    whole = stranger.get(f"/api/requests/{number}", headers=headers).json()
    assert "Subject: Re: a series" in whole["mail"]
    assert whole["cut"] is False


def test_whoever_looked_at_it_carries_it_out_once(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    number = waiting_request(engine, parent=parent(engine))
    digest = stranger.get(f"/api/requests/{number}", headers=headers).json()["mail_sha256"]
    assert approve(stranger, headers, number, "ab" * 32).status_code == 422
    answer = approve(stranger, headers, number, digest)
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "accepted"
    [entry] = entries(engine, "request.approve")
    assert (entry.actor, entry.after["state"]) == ("ann", "accepted")
    twice = approve(stranger, headers, number, digest)
    assert twice.status_code == 422
    assert "nothing to approve" in twice.json()["hint"]
    assert stranger.get("/api/requests?waiting=true", headers=headers).json() == []


def test_a_base_is_one_that_a_worker_has(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    about = parent(engine)
    announce(engine, jobs=[Ability.KERNELS], bases={"linux-source-7.3": "7.3.1-1"})
    known = waiting_request(engine, parent=about, body="#mitigauge test base 7.3\n")
    other = waiting_request(engine, parent=about, body="#mitigauge test base 7.9.1\n")
    said = {}
    for number in (known, other):
        digest = stranger.get(f"/api/requests/{number}", headers=headers).json()["mail_sha256"]
        said[number] = approve(stranger, headers, number, digest).json()
    assert said[known]["state"] == "accepted"
    assert said[other]["state"] == "refused"
    assert "linux-source-7.3 7.3.1-1" in said[other]["why"]


def test_one_is_left_alone(stranger: TestClient, headers: dict[str, str], engine: Engine) -> None:
    number = waiting_request(engine)
    answer = stranger.post(f"/api/requests/{number}/ignore", headers=headers, json={})
    assert answer.json()["state"] == "ignored"


def test_a_mail_of_nonsense_is_shown_as_text(
    stranger: TestClient, headers: dict[str, str], engine: Engine
) -> None:
    body = "#mitigauge test\n<script>alert(1)</script>\x00\x1b[2J" + "ü" * 9
    number = waiting_request(engine, body=body)
    shown = stranger.get(f"/api/requests/{number}", headers=headers)
    assert shown.headers["content-type"] == "application/json"
    assert "<script>" in shown.json()["mail"]
