"""The first page's data: what runs, what is new, what waits for somebody."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs.service import set_aside
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions import service
from mitigauge.tracking.trends.update import update
from tests.specs import CATALOG, HOSTS, SPEC, inventory
from tests.trends_made import weeks
from tests.workers import announce

HOME = "/api/home"


@pytest.fixture
def experiment(engine: Engine) -> int:
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        return submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))


def test_an_empty_service_has_nothing_and_says_so(client: TestClient) -> None:
    home = client.get(HOME).json()
    assert home["experiments"] == home["running_total"] == home["waiting_total"] == 0
    assert home["workers"] == 0
    for name in ("running", "waiting", "regressions", "approvals", "hosts", "jobs", "latest"):
        assert home[name] == []


def test_what_no_worker_reaches_needs_a_person(
    client: TestClient, engine: Engine, experiment: int
) -> None:
    home = client.get(HOME).json()
    assert (home["experiments"], home["waiting_total"]) == (1, 1)
    [host] = home["hosts"]
    assert (host["host"], host["waiting"]) == ("alpha", 1)
    assert "mitigauge worker" in host["why"]
    announce(engine, hosts={"lab": ["alpha"]})
    home = client.get(HOME).json()
    assert home["hosts"] == []
    assert home["workers"] == 1


def test_a_host_set_aside_is_said_with_what_waits_for_it(
    client: TestClient, engine: Engine, experiment: int
) -> None:
    announce(engine, hosts={"lab": ["alpha"]})
    with transaction(engine) as session:
        set_aside(session, "lab", "alpha", reason="it smokes", by="carol")
    [line] = client.get(HOME).json()["hosts"]
    assert "it smokes" in line["why"]
    assert line["waiting"] == 1


def test_what_runs_stands_with_its_boots_and_who_ends_first_is_first(
    client: TestClient, engine: Engine, experiment: int
) -> None:
    with engine.begin() as connection:
        connection.execute(text("update run set state = 'running'"))
        connection.execute(
            text("insert into host_lease (host_id, run_id, epoch, acquired_at, expires_at)"
                 " select host_id, id, 1, now(), now() + interval '1 h' from run")
        )  # fmt: skip
    home = client.get(HOME).json()
    [line] = home["running"]
    assert (line["host"], line["run"]["experiment_id"]) == ("alpha", experiment)
    assert (line["boots_done"], line["boots_total"]) == (0, 4)
    assert home["waiting_total"] == 0


def test_regressions_that_nobody_took_are_shown_and_the_others_counted(
    client: TestClient, engine: Engine
) -> None:
    weeks(engine, [1.0] * 10 + [1.05] * 8)
    update(engine)
    with transaction(engine) as session:
        found = service.take_in(session)
    with engine.begin() as connection:
        connection.execute(
            text("update regression set state = 'known', bug = 'https://b/1' where id = :id"),
            {"id": found[0]},
        )
    home = client.get(HOME).json()
    assert {each["id"] for each in home["regressions"]} == set(found[1:])
    assert home["regression_counts"] == {"new": len(found) - 1, "known": 1}
    assert [each["id"] for each in home["latest"]] == sorted(
        (each["id"] for each in home["latest"]), reverse=True
    )
    assert len(home["latest"]) == 5


def test_jobs_that_failed_are_shown_until_they_are_begun_anew(
    client: TestClient, engine: Engine
) -> None:
    add = text(
        "insert into job (kind, subject, title, need, state, error, asked_by, finished_at) values"
        " ('kernel', :subject, :subject, 'kernels', :state, 'gcc is away', 'carol',"
        " now() - make_interval(days => :days))"
    )
    with engine.begin() as connection:
        for subject, state, days in (
            ("a", "failed", 0), ("b", "failed", 0), ("b", "done", 0), ("c", "failed", 9),
            ("d", "cancelled", 0),
        ):  # fmt: skip
            connection.execute(add, {"subject": subject, "state": state, "days": days})
    [job] = client.get(HOME).json()["jobs"]
    assert (job["title"], job["error"]) == ("a", "gcc is away")
