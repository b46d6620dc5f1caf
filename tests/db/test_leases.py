"""Host leases: one run at a time, and a late worker's commit does not count."""

from __future__ import annotations

import time
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from mitigauge.core.errors import StaleEpoch
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs.lease_repository import Lease
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.database.engine import new_engine, transaction
from pipelines import lease as lease_module
from pipelines.lease import HeldLease, clock
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


def held(engine: Engine, lease: Lease, *, taken_s_ago: float, seconds: float = 60) -> HeldLease:
    return HeldLease(
        "a run",
        engine,
        lambda session, more: leases.renew(session, lease, more),
        seconds,
        since=clock() - taken_s_ago,
    )


@pytest.fixture
def away() -> Engine:
    """A database that nobody serves."""
    return create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")


def test_a_lease_within_its_life_is_held_without_asking(
    engine: Engine, away: Engine, runs: list[tuple[int, int]]
) -> None:
    assert held(away, taken(engine, runs[0], FIRST), taken_s_ago=50).holds()


def test_a_lease_outlived_is_asked_for_and_held_anew(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    lease = taken(engine, runs[0], FIRST, seconds=-1)
    assert held(engine, lease, taken_s_ago=61).holds()
    assert take(engine, runs[0], SECOND) is None


def test_a_lease_outlived_and_taken_over_is_not_held(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    lease = taken(engine, runs[0], FIRST, seconds=-1)
    taken(engine, runs[0], SECOND)
    late = held(engine, lease, taken_s_ago=61)
    assert not late.holds()
    assert not late.alive()
    # What the database said stays said: it is not asked again.
    assert not late.holds()


def test_what_goes_on_stops_before_a_lease_that_cannot_be_renewed_may_be_anothers(
    away: Engine, engine: Engine, runs: list[tuple[int, int]]
) -> None:
    lease = taken(engine, runs[0], FIRST)
    assert held(away, lease, taken_s_ago=50).alive()
    # Six seconds before its end, since to end a play takes some.
    assert not held(away, lease, taken_s_ago=55).alive()


def test_a_lease_cut_off_from_its_database_says_so_in_time(
    away: Engine, engine: Engine, runs: list[tuple[int, int]]
) -> None:
    with held(away, taken(engine, runs[0], FIRST), taken_s_ago=0, seconds=1) as lease:
        assert lease.alive()
        time.sleep(1.2)
        assert not lease.alive()


def test_renewing_outlives_a_fault_that_nobody_thought_of(
    engine: Engine, runs: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = taken(engine, runs[0], FIRST, seconds=2)
    renew, calls = leases.renew, []

    def failing_once(*arguments: object) -> bool:
        calls.append(arguments)
        if len(calls) == 1:
            raise RuntimeError("a fault of ours")
        return renew(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(leases, "renew", failing_once)
    with held(engine, lease, taken_s_ago=0, seconds=2) as kept:
        time.sleep(3)
        assert kept.alive()
    assert len(calls) >= 3


def test_a_holder_that_asks_again_gets_the_lease_it_has(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    assert taken(engine, runs[0], FIRST) == taken(engine, runs[0], FIRST)


def test_without_its_database_an_outlived_lease_is_given_up_in_the_end(
    engine: Engine, away: Engine, runs: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "ASK_AGAIN_S", 0.01)
    lease = taken(engine, runs[0], FIRST)
    assert not held(away, lease, taken_s_ago=1, seconds=0.02).holds()


def test_who_sleeps_in_a_transaction_is_hung_up_on_and_keeps_nobody_out(
    database_url: str, runs: list[tuple[int, int]], engine: Engine
) -> None:
    lease = taken(engine, runs[0], FIRST)
    sleeper = new_engine(database_url, idle_in_transaction_s=0.2)
    session = Session(sleeper)
    leases.require(session, lease)
    with transaction(engine) as other:
        leases.release(other, lease)  # waits for the lock, then has it
    # What every caller takes for a database that is away.
    with pytest.raises(OperationalError) as said:
        leases.set_down(session, lease)
    assert said.value.connection_invalidated
    session.close()
    sleeper.dispose()
