"""A host that a person works on is given to no run, and one that a run holds to no person."""

from __future__ import annotations

from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.errors import Conflict
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs import service
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.database.engine import transaction
from tests.specs import CATALOG, HOSTS, SPEC, inventory

WHY = "a person is at work"


@pytest.fixture
def run(engine: Engine) -> tuple[int, int]:
    """(run, host) of a run that waits."""
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))
        found = session.execute(text("select id, host_id from run")).one()
        return found.id, found.host_id


def hold(engine: Engine, run: tuple[int, int]) -> None:
    with transaction(engine) as session:
        assert leases.acquire(session, host_id=run[1], run_id=run[0], holder=uuid4(), seconds=60)


def test_a_host_that_a_run_holds_is_refused_by_its_experiment(
    engine: Engine, run: tuple[int, int]
) -> None:
    hold(engine, run)
    with (
        transaction(engine) as session,
        pytest.raises(Conflict, match=f"held by run {run[0]} of experiment") as refused,
    ):
        service.keep_out(session, "lab", "alpha", WHY)
    assert "mitigauge experiment cancel" in refused.value.hint
    with transaction(engine) as session:
        assert fleet.host_named(session, "lab", "alpha").set_aside_at is None


def test_a_run_that_waits_does_not_begin_meanwhile(engine: Engine, run: tuple[int, int]) -> None:
    with transaction(engine) as session:
        assert service.keep_out(session, "lab", "alpha", WHY)
    with transaction(engine) as session:
        seconds = run_rows.wait_for_host(session, run[0])
        assert seconds is not None
        assert seconds > service.LONGEST_WORK_S - 60
        assert service.bring_back(session, "lab", "alpha")
        assert run_rows.wait_for_host(session, run[0]) is None


def test_a_host_that_was_aside_stays_aside_afterwards(engine: Engine, run: tuple[int, int]) -> None:
    with transaction(engine) as session:
        absences.set_aside(session, run[1], "it was lost")
    with transaction(engine) as session:
        assert not service.keep_out(session, "lab", "alpha", WHY)
        assert fleet.host_named(session, "lab", "alpha").set_aside_reason == "it was lost"


def test_a_host_that_took_part_in_nothing_may_be_worked_on(engine: Engine) -> None:
    with transaction(engine) as session:
        assert not service.keep_out(session, "lab", "nobody", WHY)
        service.require_free(session, "lab", "nobody")
