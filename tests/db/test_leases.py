"""Host leases: one run at a time, and a late worker's commit does not count."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from mitigauge.database import transaction
from mitigauge.errors import StaleEpoch
from mitigauge.experiments.spec import read_spec
from mitigauge.experiments.submit import submit
from mitigauge.fleet import leases
from mitigauge.fleet.leases import Lease
from tests.specs import CATALOG, HOSTS, SPEC, inventory

FIRST, SECOND = uuid4(), uuid4()


@pytest.fixture
def runs(engine: Engine) -> list[tuple[int, int]]:
    """(run, host) of two runs on one host."""
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        for _ in range(2):
            submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))
        rows = session.execute(text("select id, host_id from run order by id"))
        return [(run, host) for run, host in rows]


def take(engine: Engine, run: tuple[int, int], holder: UUID, seconds: float = 60) -> Lease | None:
    with transaction(engine) as session:
        return leases.acquire(
            session, host_id=run[1], run_id=run[0], holder=holder, seconds=seconds
        )


def taken(engine: Engine, run: tuple[int, int], holder: UUID, seconds: float = 60) -> Lease:
    lease = take(engine, run, holder, seconds)
    assert lease is not None
    return lease


def test_a_held_host_is_not_given_to_another_run(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    taken(engine, runs[0], FIRST)
    assert take(engine, runs[1], SECOND) is None


def test_a_lapsed_lease_is_not_given_to_another_run_either(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    taken(engine, runs[0], FIRST, seconds=-1)
    assert take(engine, runs[1], SECOND) is None


def test_a_lapsed_lease_lets_its_own_run_go_on_with_the_next_epoch(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    late = taken(engine, runs[0], FIRST, seconds=-1)
    fresh = taken(engine, runs[0], SECOND)
    assert fresh.epoch == late.epoch + 1
    with pytest.raises(StaleEpoch), transaction(engine) as session:
        leases.require(session, late)
    with transaction(engine) as session:
        leases.require(session, fresh)
        assert not leases.renew(session, late, 60)
        assert leases.renew(session, fresh, 60)


def test_nobody_else_acts_on_a_run_in_hand(engine: Engine, runs: list[tuple[int, int]]) -> None:
    taken(engine, runs[0], FIRST)
    assert take(engine, runs[0], SECOND) is None


def test_a_lease_set_down_keeps_the_host_but_lets_any_worker_go_on(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    lease = taken(engine, runs[0], FIRST)
    with transaction(engine) as session:
        leases.set_down(session, lease)
    assert take(engine, runs[1], SECOND) is None
    assert taken(engine, runs[0], SECOND).epoch == lease.epoch + 1


def test_hosts_of_one_machine_take_turns(engine: Engine, runs: list[tuple[int, int]]) -> None:
    spec = read_spec(
        SPEC.replace("[alpha]", "[alpha, beta]"), name="spec", catalog=CATALOG, hosts=HOSTS
    )
    with transaction(engine) as session:
        submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha", "beta"))
        beta = session.execute(
            text("select run.id, host_id from run join host on host_id = host.id where name='beta'")
        ).one()
    other = (beta[0], beta[1])
    lease = taken(engine, runs[0], FIRST)
    assert take(engine, other, SECOND) is not None
    with transaction(engine) as session:
        session.execute(
            text("update host_lease set released_at = now() where run_id <> :run"),
            {"run": runs[0][0]},
        )
        session.execute(text("update host set machine = 'one'"))
    assert take(engine, other, SECOND) is None
    with transaction(engine) as session:
        leases.release(session, lease)
    assert take(engine, other, SECOND) is not None


def test_a_released_host_is_free(engine: Engine, runs: list[tuple[int, int]]) -> None:
    lease = taken(engine, runs[0], FIRST)
    with transaction(engine) as session:
        leases.release(session, lease)
    assert taken(engine, runs[1], SECOND).epoch == 1


def test_the_database_itself_refuses_a_second_holder(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    taken(engine, runs[0], FIRST)
    with pytest.raises(Exception, match="uq_host_lease_held"), transaction(engine) as session:
        session.execute(
            text(
                "insert into host_lease (host_id, run_id, epoch, acquired_at, expires_at)"
                " values (:host, :run, 1, now(), now())"
            ),
            {"host": runs[1][1], "run": runs[1][0]},
        )
