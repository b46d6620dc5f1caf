"""The audit log over HTTP: every change is in it with who made it, and so is every refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from api.app import create_app
from api.changes import CHANGES, MOST_REFUSALS, READS, WINDOW_S, Quota
from mitigauge.access.audit.actions import Action
from mitigauge.core.actor import Way
from mitigauge.core.settings import REPOSITORY
from mitigauge.jobs import service as jobs
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.series import service as series
from mitigauge.tracking.trends.update import update
from tests.api.conftest import KEY, planned
from tests.api.test_access import PROXY, PROXY_SECRET, TABLE, settings
from tests.api.test_jobs import ARMS
from tests.api.test_series import stored
from tests.audit_entries import entries
from tests.clients import HERE, bearer, client_of, token_of
from tests.db.test_jobs import ASKED
from tests.regressions_made import decided_cell, found_regressions
from tests.requests_made import waiting_request
from tests.trends_made import weeks

SPEC = (REPOSITORY / "experiments" / "lab-demo.yml").read_text()
UNSAFE = ("POST ", "PUT ", "PATCH ", "DELETE ")
PAGE = {"Origin": HERE, "Content-Type": "application/json"}


@dataclass(frozen=True)
class Asks:
    """Asks as an approver named ann."""

    client: TestClient
    engine: Engine
    headers: dict[str, str]

    def __call__(self, path: str, **body: Any) -> Any:
        answer = self.client.post(path, headers=self.headers, json=body)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    def execute(self, statement: str) -> Any:
        with self.engine.begin() as connection:
            return connection.execute(text(statement)).scalar()


@pytest.fixture
def asks(stranger: TestClient, engine: Engine, home: Path) -> Asks:
    return Asks(stranger, engine, bearer(token_of(engine, "approver", "ann")))


def log_in(asks: Asks) -> None:
    token = token_of(asks.engine, "viewer", "vic")
    body = json.dumps({"token": token})
    assert asks.client.post("/api/session", headers=PAGE, content=body).status_code == 201


def log_out(asks: Asks) -> None:
    log_in(asks)
    assert asks.client.delete("/api/session", headers=PAGE).status_code == 204


def submit(asks: Asks) -> None:
    headers = asks.headers | {"Content-Type": "application/yaml"}
    answer = asks.client.post("/api/experiments", headers=headers, content=SPEC)
    assert answer.status_code == 201, answer.text


def cancel(asks: Asks) -> None:
    asks(f"/api/experiments/{planned(asks.engine)}/cancel")


def measure_again(asks: Asks) -> None:
    """Submitted by another one, so that the second entry alone is of who asks."""
    other = bearer(token_of(asks.engine, "submitter", "sam"))
    headers = other | {"Content-Type": "application/yaml"}
    number = asks.client.post("/api/experiments", headers=headers, content=SPEC).json()["id"]
    with asks.engine.begin() as connection:
        connection.execute(text("update experiment set state = 'finished'"))
    asks(f"/api/experiments/{number}/again", blocks=3)


def set_aside(asks: Asks) -> None:
    planned(asks.engine)
    asks("/api/hosts/lab/alpha/set-aside", reason="its fan")


def resume(asks: Asks) -> None:
    set_aside(asks)
    asks("/api/hosts/lab/alpha/resume")


def reserve(asks: Asks) -> None:
    planned(asks.engine)
    until = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    asks("/api/hosts/lab/alpha/reserve", until=until, reason="a new BIOS")


def release(asks: Asks) -> None:
    reserve(asks)
    asks("/api/hosts/lab/alpha/release")


def changed_trend(asks: Asks) -> tuple[int, int]:
    weeks(asks.engine, [1.0] * 10 + [1.05] * 8)
    update(asks.engine)
    change = asks.execute("select min(id) from trend_change")
    return asks.execute(f"select trend_id from trend_change where id = {change}"), change


def annotate(asks: Asks) -> None:
    asks(f"/api/trends/{changed_trend(asks)[0]}/annotations", text="the rack moved")


def accept(asks: Asks) -> None:
    asks(f"/api/trends/changes/{changed_trend(asks)[1]}/accept", text="the new allocator")


def set_regression(asks: Asks) -> None:
    number = found_regressions(asks.engine)[0]
    asks(f"/api/regressions/{number}", version=1, owner="ann")


def ask_for_fresh_boots(asks: Asks) -> None:
    asks(f"/api/regressions/{found_regressions(asks.engine)[0]}/fresh-boots")


def file_regression(asks: Asks) -> None:
    asks("/api/regressions", **decided_cell(asks.engine))


def subscribe(asks: Asks) -> int:
    wanted = {"kind": "week", "way": "mail", "address": "ann@example.org"}
    return int(asks("/api/subscriptions", **wanted)["subscription"]["id"])


def pause_subscription(asks: Asks) -> int:
    number = subscribe(asks)
    asks(f"/api/subscriptions/{number}/pause")
    return number


def resume_subscription(asks: Asks) -> None:
    asks(f"/api/subscriptions/{pause_subscription(asks)}/resume")


def remove_subscription(asks: Asks) -> None:
    asks(f"/api/subscriptions/{subscribe(asks)}/remove")


def approve(asks: Asks) -> None:
    stored(asks.engine)
    with transaction(asks.engine) as session:
        digest = series.find_revision(session, "bhb", "v2").digest
    asks("/api/series/bhb/v2/approve", digest=digest)


def start_revision(asks: Asks) -> None:
    approve(asks)
    asks("/api/series/bhb/v2/start")


def study_revision(asks: Asks) -> None:
    approve(asks)
    asks("/api/series/bhb/v2/studies/selection")


def approve_request(asks: Asks) -> None:
    number = waiting_request(asks.engine)
    with asks.engine.connect() as connection:
        digest = connection.execute(text("SELECT mail_sha256 FROM series_request")).scalar_one()
    asks(f"/api/requests/{number}/approve", digest=digest)


def ignore_request(asks: Asks) -> None:
    asks(f"/api/requests/{waiting_request(asks.engine)}/ignore")


def bisect(asks: Asks) -> int:
    wanted = {"arms": ARMS, "hosts": ["lab-intel"], "environment": "lab",
              "parameters": {"test": "basic"}}  # fmt: skip
    return int(asks("/api/bisections", **wanted)["id"])


def cancel_bisection(asks: Asks) -> None:
    asks(f"/api/bisections/{bisect(asks)}/cancel")


def build(asks: Asks) -> None:
    asks("/api/kernels", base="linux-source-7.2")


def cancel_job(asks: Asks) -> None:
    with transaction(asks.engine) as session:
        number = jobs.ask(session, ASKED).id
    asks(f"/api/jobs/{number}/cancel")


# How each route that changes something is made to, and whose name the entry then has.
DONE: dict[str, tuple[Callable[[Asks], object], str, Way]] = {
    "POST /api/session": (log_in, "vic", Way.WEB),
    "DELETE /api/session": (log_out, "vic", Way.WEB),
    "POST /api/experiments": (submit, "ann", Way.API),
    "POST /api/experiments/{experiment_id}/cancel": (cancel, "ann", Way.API),
    "POST /api/experiments/{experiment_id}/again": (measure_again, "ann", Way.API),
    "POST /api/hosts/{environment}/{name}/resume": (resume, "ann", Way.API),
    "POST /api/hosts/{environment}/{name}/set-aside": (set_aside, "ann", Way.API),
    "POST /api/hosts/{environment}/{name}/reserve": (reserve, "ann", Way.API),
    "POST /api/hosts/{environment}/{name}/release": (release, "ann", Way.API),
    "POST /api/trends/{trend_id}/annotations": (annotate, "ann", Way.API),
    "POST /api/trends/changes/{change_id}/accept": (accept, "ann", Way.API),
    "POST /api/regressions": (file_regression, "ann", Way.API),
    "POST /api/regressions/{regression_id}": (set_regression, "ann", Way.API),
    "POST /api/regressions/{regression_id}/fresh-boots": (ask_for_fresh_boots, "ann", Way.API),
    "POST /api/subscriptions": (subscribe, "ann", Way.API),
    "POST /api/subscriptions/{subscription_id}/pause": (pause_subscription, "ann", Way.API),
    "POST /api/subscriptions/{subscription_id}/resume": (resume_subscription, "ann", Way.API),
    "POST /api/subscriptions/{subscription_id}/remove": (remove_subscription, "ann", Way.API),
    "POST /api/series/{name}/{revision}/approve": (approve, "ann", Way.API),
    "POST /api/series/{name}/{revision}/start": (start_revision, "ann", Way.API),
    "POST /api/series/{name}/{revision}/studies/{kind}": (study_revision, "ann", Way.API),
    "POST /api/requests/{request_id}/approve": (approve_request, "ann", Way.API),
    "POST /api/requests/{request_id}/ignore": (ignore_request, "ann", Way.API),
    "POST /api/bisections": (bisect, "ann", Way.API),
    "POST /api/bisections/{bisection_id}/cancel": (cancel_bisection, "ann", Way.API),
    "POST /api/kernels": (build, "ann", Way.API),
    "POST /api/jobs/{job_id}/cancel": (cancel_job, "ann", Way.API),
}


def test_every_route_that_may_change_something_is_known_to_the_log_and_tried() -> None:
    unsafe = {route for route in TABLE if route.startswith(UNSAFE)}
    assert unsafe - READS == set(CHANGES) == set(DONE)
    assert unsafe >= READS


@pytest.mark.parametrize("route", DONE)
def test_a_change_is_recorded_with_who_made_it_from_where(asks: Asks, route: str) -> None:
    do, actor, way = DONE[route]
    do(asks)
    found = [
        entry
        for entry in entries(asks.engine, CHANGES[route].action)
        if (entry.actor, entry.way) == (actor, way)
    ]
    assert len(found) == 1, [(e.action, e.actor, e.way) for e in entries(asks.engine)]
    assert found[0].address == "testclient"
    assert len(found[0].request_id) == 16
    assert found[0].refused == ""
    assert found[0].subject


def test_an_entry_says_what_was_before_and_after(asks: Asks) -> None:
    resume(asks)
    [aside] = entries(asks.engine, "host.set-aside")
    assert (aside.subject_kind, aside.subject) == ("host", "lab/alpha")
    assert aside.after == {"reason": "its fan", "set_aside_by": "ann"}
    [back] = entries(asks.engine, "host.resume")
    assert back.before == {"reason": "its fan", "set_aside_by": "ann"}
    submit(asks)
    *_, submitted = entries(asks.engine, "experiment.submit")
    assert submitted.after["owner"] == "ann"
    assert len(submitted.after["spec_sha256"]) == 64
    assert "syscall" not in json.dumps(submitted.after)


def test_what_fails_leaves_no_entry(asks: Asks, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = planned(asks.engine)

    def fail(*_: object) -> None:
        raise RuntimeError("after the change")

    monkeypatch.setattr("api.experiments.views.show_progress", fail)
    answer = asks.client.post(
        f"/api/experiments/{experiment}/cancel", headers=asks.headers, json={}
    )
    assert answer.status_code == 500
    assert asks.execute(f"select state from experiment where id = {experiment}") == "queued"
    assert entries(asks.engine, "experiment.cancel") == []


@pytest.mark.parametrize("route", sorted(set(CHANGES) - {"POST /api/session",
                                                         "DELETE /api/session"}))  # fmt: skip
def test_who_lacks_the_right_is_recorded_as_refused(
    stranger: TestClient, engine: Engine, route: str
) -> None:
    headers = bearer(token_of(engine, "viewer", "vic"))
    method, path = route.split()
    made = path.format(
        experiment_id=1, environment="lab", name="alpha", trend_id=1, change_id=1, revision="v1",
        bisection_id=1, job_id=1, regression_id=1, request_id=1, subscription_id=1,
            kind="selection",
    )  # fmt: skip
    answer = stranger.request(method, made, headers=headers)
    assert answer.status_code == 403
    [entry] = [entry for entry in entries(engine) if entry.refused]
    change = CHANGES[route]
    assert (entry.actor, entry.action, entry.subject_kind) == ("vic", change.action, change.kind)
    assert entry.refused.startswith("vic is viewer, which may not ")
    assert entry.request_id == answer.headers["x-request-id"]


def test_somebody_elses_is_recorded_as_refused_and_not_as_done(
    stranger: TestClient, engine: Engine, experiment_id: int
) -> None:
    headers = bearer(token_of(engine, "submitter", "sam"))
    path = f"/api/experiments/{experiment_id}/cancel"
    assert stranger.post(path, headers=headers, json={}).status_code == 403
    [entry] = entries(engine, "experiment.cancel")
    assert (entry.actor, entry.subject) == ("sam", str(experiment_id))
    assert "submitted by operator, not by sam" in entry.refused


def test_nobody_known_and_pages_from_elsewhere_write_nothing(
    stranger: TestClient, engine: Engine
) -> None:
    before = len(entries(engine))
    headers = {"Content-Type": "application/json"}
    path = "/api/experiments/1/cancel"
    assert stranger.post(path, headers=headers, content="{}").status_code == 401
    assert stranger.post("/api/session", headers=headers, content="{}").status_code == 403
    assert len(entries(engine)) == before


def test_who_is_refused_without_end_fills_no_table(stranger: TestClient, engine: Engine) -> None:
    headers = bearer(token_of(engine, "viewer", "vic"))
    for _ in range(MOST_REFUSALS + 5):
        answer = stranger.post("/api/experiments/1/cancel", headers=headers, json={})
        assert answer.status_code == 403
    assert len(entries(engine, "experiment.cancel")) == MOST_REFUSALS


def test_a_quota_is_of_one_caller_and_begins_anew() -> None:
    clock = [0.0]
    quota = Quota(2, lambda: clock[0])
    assert [quota.allows("a") for _ in range(3)] == [True, True, False]
    assert quota.allows("b")
    clock[0] = WINDOW_S
    assert quota.allows("a")


def test_the_links_holder_is_the_operator_and_a_proxys_user_is_named_with_the_clients_address(
    stranger: TestClient, engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(engine)
    assert stranger.post("/api/session", json={"key": KEY}, headers=PAGE).status_code == 201
    [begun] = entries(engine, "session.begin")
    assert (begun.actor, begun.way) == ("operator", Way.WEB)
    file = home / "proxy-secret"
    file.write_text(PROXY_SECRET)
    forwarded = {"X-Forwarded-For": "8.8.8.8, 2001:db8::7", "X-Request-Id": "proxy-1"}
    headers = PROXY | PAGE | forwarded | {"X-Mitigauge-Role": "admin"}
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=str(file)),
        client_of(create_app(engine)) as client,
    ):
        path = "/api/hosts/lab/alpha/set-aside"
        assert client.post(path, headers=headers, json={"reason": "x"}).status_code == 200
    [entry] = entries(engine, "host.set-aside")
    assert (entry.actor, entry.way) == ("proxy:bob", Way.WEB)
    assert (entry.address, entry.request_id) == ("2001:db8::7", "proxy-1")


def test_entries_are_listed_a_page_at_a_time_and_filtered(client: TestClient, asks: Asks) -> None:
    resume(asks)
    reserve(asks)
    first = client.get("/api/audit", params={"limit": 2}).json()
    assert [entry["action"] for entry in first["entries"]] == [
        "host.reserve", "experiment.submit",
    ]  # fmt: skip
    seen, before = list(first["entries"]), first["next_before"]
    while before is not None:
        page = client.get("/api/audit", params={"limit": 2, "before": before}).json()
        seen, before = seen + page["entries"], page["next_before"]
    numbers = [entry["id"] for entry in seen]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == len(entries(asks.engine))

    def found(**wanted: str) -> list[str]:
        answer = client.get("/api/audit", params=wanted)
        assert answer.status_code == 200, answer.text
        return [entry["action"] for entry in answer.json()["entries"]]

    assert found(action="host.resume") == ["host.resume"]
    assert found(actor="ann") == ["host.reserve", "host.resume", "host.set-aside"]
    assert found(subject_kind="host", subject="lab/alpha") == [
        "host.reserve", "host.resume", "host.set-aside",
    ]  # fmt: skip
    at = seen[0]["at"]
    assert found(since=at) == ["host.reserve"]
    assert "host.reserve" not in found(until=at)
    assert found(refused="true") == []
    for wrong in (
        {"action": "x.y"},
        {"limit": "501"},
        {"since": "2026-12-01T00:00:00"},
        {"until": "0.5"},
    ):
        assert client.get("/api/audit", params=wrong).status_code == 422, wrong


def test_every_word_of_an_action_fits_its_column(engine: Engine) -> None:
    with engine.begin() as connection:
        for action in Action:
            connection.execute(
                text("select 1 where :word ~ '^[a-z][a-z-]{0,29}\\.[a-z][a-z-]{0,29}$'"),
                {"word": action.value},
            ).one()


def test_what_a_rule_sets_aside_says_so_when_a_person_brings_it_back(
    asks: Asks,
) -> None:
    planned(asks.engine)
    with transaction(asks.engine) as session:
        host = session.scalars(text("select id from host")).one()
        absences.set_aside(session, host, "it does not answer")
    asks("/api/hosts/lab/alpha/resume")
    [entry] = entries(asks.engine, "host.resume")
    assert entry.before == {"reason": "it does not answer", "set_aside_by": "a rule"}


@pytest.mark.parametrize("given", ["abc-1", "x" * 64])
def test_a_request_has_an_id_of_ours_unless_the_proxy_gives_a_harmless_one(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    file = home / "proxy-secret"
    file.write_text(PROXY_SECRET)
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=str(file)),
        client_of(create_app(engine)) as client,
    ):
        for headers, taken in (
            (PROXY | {"X-Request-Id": given}, True),
            ({"X-Request-Id": given}, False),
            (PROXY | {"X-Request-Id": given + "x" * 64}, False),
            (PROXY | {"X-Request-Id": "a b"}, False),
            (PROXY | {"X-Request-Id": "-a"}, False),
            ([*PROXY.items(), ("X-Request-Id", given), ("X-Request-Id", given)], False),
        ):
            answer = client.get("/api/experiments/99", headers=headers)  # type: ignore[arg-type]
            told = answer.headers["x-request-id"]
            assert (told == given) == taken, headers
            assert answer.json()["request_id"] == told
            assert taken or len(told) == 16
