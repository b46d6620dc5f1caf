"""Who may ask what: every route, every role, one's own objects and somebody else's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from api.app import create_app
from api.gone import GONE, METHODS, MOVED
from mitigauge.access.roles import Role
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import get_settings
from tests.api.conftest import planned
from tests.clients import ROLES, bearer, client_of, token_of

CALLERS = ("nobody", *ROLES)


@dataclass(frozen=True)
class Row:
    """What a route answers each caller. ``{experiment}`` is one's own or somebody else's."""

    url: str
    own: dict[str, int]
    other: dict[str, int]


def alike(url: str, *, nobody: int, viewer: int, others: int) -> Row:
    """A route that asks nothing of whose object it is."""
    expected = {"nobody": nobody, "viewer": viewer}
    expected |= dict.fromkeys(ROLES[1:], others)
    return Row(url, expected, expected)


def read(url: str, found: int = 200) -> Row:
    """A route for everybody with a token; *found*: what it answers them."""
    return alike(url, nobody=401, viewer=found, others=found)


def everybody(url: str, status: int = 200) -> Row:
    """A route that asks nobody who he is."""
    return alike(url, nobody=status, viewer=status, others=status)


CANCEL_OWN = {"nobody": 401, "viewer": 403} | dict.fromkeys(ROLES[1:], 200)
CANCEL_OTHER = CANCEL_OWN | {"runner": 403, "submitter": 403}
ONE = "/api/experiments/{experiment}"
RESUME = "/api/hosts/lab/alpha/resume"
RESUMED = dict.fromkeys(ROLES, 403) | {"nobody": 401, "approver": 409, "admin": 409}
BISECTION = "/api/bisections/9999"
NOT_THERE = {"nobody": 401, "viewer": 403} | dict.fromkeys(ROLES[1:], 404)
ANNOTATE = "/api/trends/1/annotations"
ACCEPT = "/api/trends/changes/1/accept"
ASIDE = "/api/hosts/lab/alpha/set-aside"
SET_ASIDE = dict.fromkeys(ROLES, 403) | {"nobody": 401, "approver": 422, "admin": 422}
RESERVE, RELEASE = "/api/hosts/lab/alpha/reserve", "/api/hosts/lab/alpha/release"
RESERVED = {"nobody": 401, "viewer": 403, "runner": 403} | dict.fromkeys(ROLES[2:], 422)
RELEASED = {"nobody": 401, "viewer": 403, "runner": 403} | dict.fromkeys(ROLES[2:], 409)
APPROVE = "/api/series/nothing/v1/approve"
APPROVED = dict.fromkeys(ROLES, 403) | {"nobody": 401, "approver": 404, "admin": 404}
REQUEST = "/api/requests/1/"
AUDIT = dict.fromkeys(ROLES, 403) | {"nobody": 401, "approver": 200, "admin": 200}
SUBSCRIPTION = "/api/subscriptions/9999/"
SUBSCRIBED = {"nobody": 401, "viewer": 403, "runner": 403} | dict.fromkeys(ROLES[2:], 422)
NO_SUBSCRIPTION = SUBSCRIBED | dict.fromkeys(ROLES[2:], 404)
# Without a body or text. What becomes of a regression is no program's to say.
TRIAGED = SUBSCRIBED
# There is no regression 1.
FRESH_BOOTS = {role: 404 if code == 422 else code for role, code in TRIAGED.items()}
ACCEPTED = APPROVED | {"approver": 422, "admin": 422}
TABLE = {
    "GET /api/health/live": everybody("/api/health/live"),
    "GET /api/health/ready": everybody("/api/health/ready"),
    # By a key of its own, which none is here.
    "GET /metrics": everybody("/metrics", 404),
    "GET /api/openapi.json": read("/api/openapi.json"),
    "GET /api/session": read("/api/session"),
    # Without a page of ours as its origin; with one, the tests of logging in.
    "POST /api/session": everybody("/api/session", 403),
    # A token begins no session that could be ended.
    "DELETE /api/session": read("/api/session", 409),
    "GET /api/experiments": read("/api/experiments"),
    "GET /api/experiments/choices": read("/api/experiments/choices"),
    "GET /api/search": read("/api/search?q=nothing"),
    # An empty spec, refused once it is looked at.
    "POST /api/experiments": alike("/api/experiments", nobody=401, viewer=403, others=422),
    "GET /api/specs": read("/api/specs"),
    "GET /api/specs/{name}": read("/api/specs/lab-demo"),
    "POST /api/forecasts": alike("/api/forecasts", nobody=401, viewer=403, others=422),
    "GET /api/experiments/{experiment_id}": read(ONE),
    "POST /api/experiments/{experiment_id}/cancel": Row(ONE + "/cancel", CANCEL_OWN, CANCEL_OTHER),
    "GET /api/experiments/{experiment_id}/whole": read(ONE + "/whole"),
    "GET /api/experiments/{experiment_id}/matrix": read(ONE + "/matrix"),
    "GET /api/experiments/{experiment_id}/matrix.csv": read(ONE + "/matrix.csv"),
    "GET /api/experiments/{experiment_id}/matrix.json": read(ONE + "/matrix.json"),
    "GET /api/experiments/{experiment_id}/iterations.csv": read(ONE + "/iterations.csv"),
    "GET /api/experiments/{experiment_id}/iterations.jsonl": read(ONE + "/iterations.jsonl"),
    "GET /api/experiments/{experiment_id}/progress": read(ONE + "/progress"),
    "GET /api/experiments/{experiment_id}/log": read(ONE + "/log"),
    "GET /api/experiments/{experiment_id}/cases/{case_id}": read(ONE + "/cases/9999", 404),
    "GET /api/experiments/{experiment_id}/cases/{case_id}/collected": read(
        ONE + "/cases/9999/collected", 404
    ),
    "GET /api/experiments/{experiment_id}/cases/{case_id}/details": read(
        ONE + "/cases/9999/details", 404
    ),
    "GET /api/experiments/{experiment_id}/claims": read(ONE + "/claims"),
    "GET /api/experiments/{experiment_id}/tables/{kind}": read(ONE + "/tables/matrix"),
    "GET /api/experiments/{experiment_id}/tables/{kind}.{suffix}": read(ONE + "/tables/matrix.txt"),
    "GET /api/experiments/{experiment_id}/report": read(ONE + "/report"),
    "GET /api/boots/{boot_id}": read("/api/boots/1"),
    "GET /api/blobs/{digest}": read("/api/blobs/" + 64 * "0", 404),
    "GET /api/hosts": read("/api/hosts"),
    "GET /api/hosts/{name}": read("/api/hosts/alpha"),
    # It is not set aside; the test of hosts brings one back.
    "POST /api/hosts/{environment}/{name}/resume": Row(RESUME, RESUMED, RESUMED),
    "GET /api/queue": read("/api/queue"),
    "GET /api/prices": read("/api/prices"),
    "GET /api/prices.csv": read("/api/prices.csv"),
    "GET /api/experiments/{experiment_id}/undecided": read("/api/experiments/9999/undecided", 404),
    "POST /api/experiments/{experiment_id}/limits": alike(
        "/api/experiments/9999/limits", nobody=401, viewer=422, others=422
    ),
    "GET /api/experiments/{experiment_id}/limits": read(ONE + "/limits"),
    "POST /api/experiments/{experiment_id}/again": alike(
        "/api/experiments/9999/again", nobody=401, viewer=403, others=422
    ),
    "GET /api/error-rates": read("/api/error-rates"),
    "GET /api/prices/tables": read("/api/prices/tables"),
    "GET /api/pairs": read("/api/pairs?a=9998&b=9999", 404),
    # Without a reason or a time; the test of hosts gives both.
    "POST /api/hosts/{environment}/{name}/set-aside": Row(ASIDE, SET_ASIDE, SET_ASIDE),
    "POST /api/hosts/{environment}/{name}/reserve": Row(RESERVE, RESERVED, RESERVED),
    # It is not reserved.
    "POST /api/hosts/{environment}/{name}/release": Row(RELEASE, RELEASED, RELEASED),
    "GET /api/profiles/diff": read("/api/profiles/diff", 422),
    "GET /api/profiles/diff.svg": read("/api/profiles/diff.svg", 422),
    "GET /api/profiles/exact": read(
        "/api/profiles/exact?experiment={ended}&case=1&host=alpha&a=off&b=on"
    ),
    "GET /api/profiles/instructions": read("/api/profiles/instructions", 422),
    "GET /api/profiles/groups": read("/api/profiles/groups?experiment={ended}&case=1"),
    "GET /api/profiles/functions": read(
        "/api/profiles/functions?experiment={ended}&case=1&host=alpha"
    ),
    "GET /api/profiles/case": read("/api/profiles/case?experiment={ended}&case=1&host=alpha"),
    "GET /api/experiments/{experiment_id}/publications": read(
        "/api/experiments/{ended}/publications"
    ),
    "GET /api/series": read("/api/series"),
    "GET /api/series/{name}": read("/api/series/nothing", 404),
    "GET /api/series/{name}/revision": read("/api/series/nothing/revision", 404),
    "GET /api/series/{name}/line": read("/api/series/nothing/line", 404),
    "GET /api/requests": read("/api/requests"),
    "GET /api/requests/{request_id}": read("/api/requests/1", 404),
    # There is none; the test of requests approves one and ignores one.
    "POST /api/requests/{request_id}/approve": Row(REQUEST + "approve", ACCEPTED, ACCEPTED),
    "POST /api/requests/{request_id}/ignore": Row(REQUEST + "ignore", APPROVED, APPROVED),
    "GET /api/home": read("/api/home"),
    "GET /api/regressions": read("/api/regressions"),
    "GET /api/regressions/{regression_id}": read("/api/regressions/1", 404),
    # Without a body.
    "POST /api/regressions": Row("/api/regressions", TRIAGED, TRIAGED),
    "POST /api/regressions/{regression_id}": Row("/api/regressions/1", TRIAGED, TRIAGED),
    "POST /api/regressions/{regression_id}/fresh-boots": Row(
        "/api/regressions/1/fresh-boots", FRESH_BOOTS, FRESH_BOOTS
    ),
    "GET /api/subscriptions": read("/api/subscriptions"),
    # Without a body, and there is none; the test of subscriptions adds and ends some.
    "POST /api/subscriptions": Row("/api/subscriptions", SUBSCRIBED, SUBSCRIBED),
    "POST /api/subscriptions/{subscription_id}/pause": Row(
        SUBSCRIPTION + "pause", NO_SUBSCRIPTION, NO_SUBSCRIPTION
    ),
    "POST /api/subscriptions/{subscription_id}/resume": Row(
        SUBSCRIPTION + "resume", NO_SUBSCRIPTION, NO_SUBSCRIPTION
    ),
    "POST /api/subscriptions/{subscription_id}/remove": Row(
        SUBSCRIPTION + "remove", NO_SUBSCRIPTION, NO_SUBSCRIPTION
    ),
    "GET /api/trends": read("/api/trends"),
    "GET /api/trends/classes": read("/api/trends/classes"),
    "GET /api/trends/{trend_id}": read("/api/trends/1", 404),
    # Without a text; the test of trends annotates one and accepts one.
    "POST /api/trends/{trend_id}/annotations": Row(ANNOTATE, TRIAGED, TRIAGED),
    "POST /api/trends/changes/{change_id}/accept": Row(ACCEPT, ACCEPTED, ACCEPTED),
    # There is none; the test of series approves one.
    "POST /api/series/{name}/{revision}/approve": Row(APPROVE, ACCEPTED, ACCEPTED),
    "GET /api/bisections": read("/api/bisections"),
    "GET /api/bisections/proposal": read("/api/bisections/proposal", 422),
    "GET /api/bisections/{bisection_id}": read(BISECTION, 404),
    "GET /api/bisections/{bisection_id}/patches/{position}": read(BISECTION + "/patches/1", 404),
    "GET /api/series/{name}/{revision}/studies": read("/api/series/nothing/v1/studies", 404),
    "GET /api/series/{name}/{revision}/patches/{position}": read(
        "/api/series/nothing/v1/patches/1", 404
    ),
    # There is none; the test of bisections cancels one.
    "POST /api/bisections/{bisection_id}/cancel": Row(BISECTION + "/cancel", NOT_THERE, NOT_THERE),
    # Without a body; the tests of jobs start, follow and cancel each kind.
    "POST /api/bisections": alike("/api/bisections", nobody=401, viewer=403, others=422),
    "POST /api/series/{name}/{revision}/studies/{kind}": alike(
        "/api/series/nothing/v1/studies/selection", nobody=401, viewer=403, others=404
    ),
    "POST /api/series/{name}/{revision}/start": alike(
        "/api/series/nothing/v1/start", nobody=401, viewer=403, others=404
    ),
    "GET /api/kernels": read("/api/kernels"),
    "GET /api/kernels/{name}": read("/api/kernels/nothing", 404),
    "POST /api/kernels": Row("/api/kernels", ACCEPTED, ACCEPTED),
    "GET /api/jobs": read("/api/jobs"),
    "GET /api/jobs/{job_id}": read("/api/jobs/9999", 404),
    "POST /api/jobs/{job_id}/cancel": Row("/api/jobs/9999/cancel", NOT_THERE, NOT_THERE),
    "GET /api/workers": read("/api/workers"),
    "GET /api/audit": Row("/api/audit", AUDIT, AUDIT),
    "GET /api/audit/export": Row("/api/audit/export", AUDIT, AUDIT),
    "GET /api/weekly": read("/api/weekly"),
    "GET /api/weekly/{week}": read("/api/weekly/2026-W47", 404),
    "GET /api/weekly/{week}/report": read("/api/weekly/2026-W47/report", 404),
    # Files without data. Here none is built.
    "GET /{path:path}": everybody("/experiments/1", 503),
}


def routes_of(service: FastAPI) -> Iterator[str]:
    for route in iter_route_contexts(service.routes):
        # Whatever has no methods, such as a mount, must not pass unseen either.
        yield from (f"{method} {route.path}" for method in route.methods or ["ALL"])


@pytest.fixture
def unbuilt(engine: Engine, home: Path) -> FastAPI:
    """The service without a built dashboard."""
    return create_app(engine, web_root=home / "nothing")


def test_every_route_has_a_row_and_every_row_a_route(unbuilt: FastAPI) -> None:
    gone = {f"{method} {path}" for path in GONE for method in METHODS}
    moved = {f"GET {path}" for path in MOVED}
    assert set(routes_of(unbuilt)) == set(TABLE) | gone | moved


def test_an_address_of_what_went_says_so_to_everybody(unbuilt: FastAPI) -> None:
    with client_of(unbuilt) as client:
        for path, sentence in GONE.items():
            answer = client.get(re.sub(r"{\w+}", "1", path))
            assert (answer.status_code, answer.json()["error"]) == (410, "Gone"), path
            assert answer.json()["hint"] == sentence
        old = client.get("/api/v1/experiments/1/consequences?x=1")
        assert old.status_code == 410


@pytest.mark.long("every route for every role")
def test_each_role_may_do_what_the_table_says_and_nothing_else(
    unbuilt: FastAPI, engine: Engine
) -> None:
    ended = planned(engine)
    execute(engine, f"update run set state = 'cancelled' where experiment_id = {ended}")
    execute(engine, f"update experiment set state = 'cancelled' where id = {ended}")
    headers = {role: bearer(token_of(engine, role, role)) for role in ROLES}
    headers["nobody"] = {"Content-Type": "application/json"}
    wrong = []
    with client_of(unbuilt) as client:
        for route, row in TABLE.items():
            method = route.split()[0]
            for caller in CALLERS:
                for owner, expected in ((caller, row.own), ("somebody", row.other)):
                    mine = a_live_experiment(engine, owner) if "cancel" in route else ended
                    url = row.url.format(experiment=mine, ended=ended)
                    answer = client.request(method, url, headers=headers[caller])
                    if answer.status_code != expected[caller]:
                        wrong.append((route, caller, owner, answer.status_code, expected[caller]))
    assert wrong == []


def a_live_experiment(engine: Engine, owner: str) -> int:
    experiment_id = planned(engine)
    execute(engine, f"update experiment set submitted_by = '{owner}' where id = {experiment_id}")
    return experiment_id


def execute(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


def test_who_submits_owns_it(
    stranger: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:

    def submit(*_: object, submitted_by: str, **__: object) -> int:
        return planned(engine, submitted_by)

    monkeypatch.setattr("mitigauge.measurement.runs.submission.submit", submit)
    monkeypatch.setattr(
        "mitigauge.measurement.runs.submission.check_text", lambda *_, **__: ({}, {})
    )
    headers = bearer(token_of(engine, "submitter", "alice"))
    shown = stranger.post("/api/experiments", headers=headers, content="name: x")
    assert (shown.status_code, shown.json()["submitted_by"]) == (201, "alice")
    assert planned_by(engine) == ["alice"]


def planned_by(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.scalars(text("select submitted_by from experiment order by id")))


def test_what_the_command_line_submits_is_the_operators(engine: Engine, home: Path) -> None:
    planned(engine)
    assert planned_by(engine) == ["operator"]


def test_everybody_reads_where_the_operator_says_so_and_nobody_changes(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment_id = planned(engine)
    with settings(monkeypatch, ANONYMOUS_READ="true"), client_of(create_app(engine)) as client:
        assert client.get("/api/experiments").status_code == 200
        shown = client.get("/api/session").json()
        assert (shown["subject"], shown["role"], shown["rights"]) == ("", "viewer", ["read"])
        for path in ("/api/experiments", f"/api/experiments/{experiment_id}/cancel"):
            answer = client.post(path, headers={"Content-Type": "application/json", **OURS})
            assert answer.status_code == 401, path
            assert "without a token one may only read" in answer.json()["message"]
        # A wrong token is not the same as none.
        wrong = client.get("/api/experiments", headers=bearer("mgt_" + 43 * "a"))
        assert wrong.status_code == 401


OURS = {"Origin": "http://localhost:8600"}


@contextmanager
def settings(monkeypatch: pytest.MonkeyPatch, **values: str) -> Iterator[None]:
    with monkeypatch.context() as patch:
        for name, value in values.items():
            patch.setenv(f"MITIGAUGE_{name}", value)
        get_settings.cache_clear()
        yield
    get_settings.cache_clear()


PROXY_SECRET = "s" * 40
PROXY = {"X-Mitigauge-Proxy-Secret": PROXY_SECRET, "X-Mitigauge-User": "bob"}


def test_a_proxys_word_counts_only_with_the_secret(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client_of(create_app(engine)) as client:
        admin = PROXY | {"X-Mitigauge-Role": "admin"}
        assert client.get("/api/session", headers=admin).status_code == 401
    file = home / "proxy-secret"
    file.write_text(PROXY_SECRET + "\n")
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=str(file)),
        client_of(create_app(engine)) as client,
    ):
        shown = client.get("/api/session", headers=PROXY).json()
        assert (shown["subject"], shown["role"], shown["means"]) == (
            "proxy:bob",
            "viewer",
            "proxy",
        )
        shown = client.get("/api/session", headers=PROXY | {"X-Mitigauge-Role": "admin"}).json()
        assert shown["role"] == "admin"
        for refused in (
            PROXY | {"X-Mitigauge-Proxy-Secret": PROXY_SECRET[:-1]},
            PROXY | {"X-Mitigauge-Proxy-Secret": ""},
            {"X-Mitigauge-User": "bob"},
            PROXY | {"X-Mitigauge-Role": "root"},
            PROXY | {"X-Mitigauge-User": "bob; drop"},
            [*PROXY.items(), ("X-Mitigauge-User", "alice")],
        ):
            answer = client.get("/api/session", headers=refused)  # type: ignore[arg-type]
            assert answer.status_code == 401, refused


def test_what_a_proxy_lets_through_must_come_from_our_own_page(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / "proxy-secret"
    file.write_text(PROXY_SECRET)
    admin = PROXY | {"X-Mitigauge-Role": "admin", "Content-Type": "application/json"}
    path = f"/api/experiments/{planned(engine)}/cancel"
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=str(file)),
        client_of(create_app(engine)) as client,
    ):
        evil = admin | {"Origin": "https://evil.example"}
        assert client.post(path, headers=evil).status_code == 403
        assert client.post(path, headers=admin).status_code == 403
        assert client.post(path, headers=admin | OURS).status_code == 200


@pytest.fixture
def secret_file(home: Path) -> str:
    file = home / "proxy-secret"
    file.write_text(PROXY_SECRET)
    return str(file)


def test_groups_that_a_proxy_names_give_the_highest_role(
    engine: Engine, secret_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = "kernel-team=submitter,perf-leads=approver"
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=secret_file, PROXY_ROLES=roles),
        client_of(create_app(engine)) as client,
    ):

        def role(*groups: str, **more: str) -> str:
            named = [*(PROXY | more).items(), *(("X-Mitigauge-Groups", each) for each in groups)]
            answer = client.get("/api/session", headers=named)  # type: ignore[arg-type]
            return str(answer.json().get("role", answer.status_code))

        assert role("kernel-team, cooks") == "submitter"
        assert role("kernel-team,perf-leads") == role("kernel-team", "perf-leads") == "approver"
        # Who is in no group is refused, also with a role that a browser claims.
        claimed = {"X-Mitigauge-Role": "admin"}
        assert role() == role("cooks") == role("*") == role("", **claimed) == "403"
        assert role("kernel-team", **claimed) == "submitter"
        answer = client.get("/api/session", headers=PROXY | {"X-Mitigauge-Groups": "cooks"})
        assert "'bob' is in no group that may use this service" in answer.json()["message"]
        # Without the secret groups are nothing.
        stranger = {"X-Mitigauge-User": "bob", "X-Mitigauge-Groups": "perf-leads"}
        assert client.get("/api/session", headers=stranger).status_code == 401
    more = {"PROXY_ROLES": "*=viewer", "PROXY_GROUPS_HEADER": "Remote-Groups"}
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=secret_file, **more),
        client_of(create_app(engine)) as client,
    ):
        assert client.get("/api/session", headers=PROXY).json()["role"] == "viewer"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"PROXY_ROLES": "a=viewer", "PROXY_SECRET_FILE": ""}, "no proxy is trusted"),
        ({"PROXY_ROLES": "a=root"}, "has 'a=root'"),
        ({"PROXY_ROLES": "a=viewer", "PROXY_GROUPS_HEADER": "a b"}, "GROUPS_HEADER is 'a b'"),
        (
            {"OIDC_ISSUER": "https://login.example.org"},
            "MITIGAUGE_OIDC_ISSUER is no longer a setting",
        ),
    ],
)
def test_roles_that_cannot_be_stop_the_start(
    more: dict[str, str],
    why: str,
    engine: Engine,
    secret_file: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        settings(monkeypatch, **{"PROXY_SECRET_FILE": secret_file} | more),
        pytest.raises(InvalidInput, match=why),
    ):
        create_app(engine)


def test_a_short_secret_of_a_proxy_is_refused_at_the_start(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / "proxy-secret"
    file.write_text("short")
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=str(file)),
        pytest.raises(Exception, match="5 characters"),
    ):
        create_app(engine)


def test_roles_in_the_database_are_those_of_the_code(engine: Engine) -> None:
    with engine.connect() as connection:
        check = connection.scalars(
            text(
                "select pg_get_constraintdef(oid) from pg_constraint "
                "where conname = 'ck_access_token_role'"
            )
        ).one()
    assert all(f"'{role}'" in check for role in Role)
