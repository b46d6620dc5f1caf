"""A reserved host, or one that a person set aside, is leased to no run, whoever comes first."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError
from typer.testing import CliRunner

from mitigauge.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs import service
from mitigauge.measurement.runs.lease_repository import Lease
from mitigauge.measurement.runs.submission import submit
from mitigauge.reporting.pages.queue import host_queues
from mitigauge.storage.database.engine import database_now, transaction
from tests.specs import CATALOG, HOSTS, SPEC, inventory
from tests.workers import announce

HOST = ("lab", "alpha")
HERE = {"lab": ["alpha", "beta"]}
WHY = "a new BIOS"


@pytest.fixture
def runs(engine: Engine) -> list[tuple[int, int]]:
    """(run, host) of two runs that wait for one host."""
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        for _ in range(2):
            submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))
        rows = session.execute(text("select id, host_id from run order by id"))
        return [(run, host) for run, host in rows]


def take(engine: Engine, run: tuple[int, int]) -> Lease | None:
    with transaction(engine) as session:
        return leases.acquire(session, host_id=run[1], run_id=run[0], holder=uuid4(), seconds=60)


def reserve(engine: Engine, hours: float = 8, by: str = "kim") -> int | None:
    with transaction(engine) as session:
        until = database_now(session) + timedelta(hours=hours)
        return service.reserve(session, *HOST, until=until, reason=WHY, by=by)


def execute(engine: Engine, statement: str, **values: Any) -> Any:
    with engine.begin() as connection:
        return connection.execute(text(statement), values)


def test_a_reserved_host_is_given_to_no_run_and_its_runs_wait(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    assert reserve(engine) is None
    assert take(engine, runs[0]) is None
    with transaction(engine) as session:
        seconds = run_rows.wait_for_host(session, runs[0][0])
    assert seconds is not None
    assert 7.9 * 3600 < seconds <= 8 * 3600


def test_the_run_that_holds_the_host_goes_on_and_the_next_one_waits(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    lease = take(engine, runs[0])
    assert lease is not None
    assert reserve(engine) == runs[0][0]
    with transaction(engine) as session:
        leases.require(session, lease)
        leases.set_down(session, lease)
    again = take(engine, runs[0])
    assert again is not None
    with transaction(engine) as session:
        leases.release(session, again)
    assert take(engine, runs[1]) is None


def test_a_run_that_comes_while_somebody_reserves_waits_for_his_word(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    got: list[Lease | None] = []
    thread = threading.Thread(target=lambda: got.append(take(engine, runs[0])))
    with transaction(engine) as session:
        until = database_now(session) + timedelta(hours=1)
        service.reserve(session, *HOST, until=until, reason=WHY, by="kim")
        thread.start()
        thread.join(1.0)
        assert thread.is_alive()
    thread.join(30.0)
    assert got == [None]


def test_who_reserves_while_a_run_takes_the_host_waits_and_hears_of_it(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    said: list[int | None] = []
    thread = threading.Thread(target=lambda: said.append(reserve(engine)))
    with transaction(engine) as session:
        lease = leases.acquire(
            session, host_id=runs[0][1], run_id=runs[0][0], holder=uuid4(), seconds=60
        )
        assert lease is not None
        thread.start()
        thread.join(1.0)
        assert thread.is_alive()
    thread.join(30.0)
    assert said == [runs[0][0]]


def test_a_reservation_ends_by_itself(engine: Engine, runs: list[tuple[int, int]]) -> None:
    reserve(engine)
    execute(engine, "update host set reserved_until = now() - interval '1 s'")
    assert take(engine, runs[0]) is not None
    # Another may have it then, though nobody released it.
    assert reserve(engine, by="lee") == runs[0][0]


def test_released_its_runs_are_woken(engine: Engine, runs: list[tuple[int, int]]) -> None:
    reserve(engine)
    with transaction(engine) as session:
        run_rows.wait_for_host(session, runs[0][0])
    with transaction(engine) as session:
        assert run_rows.runs_to_wake(session, HERE, grace_s=-1) == [(runs[1][0], "lab")]
    with transaction(engine) as session:
        assert service.release(session, *HOST, by="kim", may_break=False) == "kim"
    with transaction(engine) as session:
        assert run_rows.runs_to_wake(session, HERE, grace_s=-1) == [(run, "lab") for run, _ in runs]
    assert take(engine, runs[0]) is not None


def test_what_is_somebody_elses_needs_a_right_to_break(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    reserve(engine)
    with pytest.raises(Conflict, match=f"reserved by kim until .*: {WHY}"):
        reserve(engine, by="lee")
    with transaction(engine) as session, pytest.raises(Forbidden, match="reserved by kim, not by"):
        service.release(session, *HOST, by="lee", may_break=False)
    with transaction(engine) as session:
        assert service.release(session, *HOST, by="lee", may_break=True) == "kim"
        assert service.release(session, *HOST, by="lee", may_break=True) is None
    [row] = execute(engine, "select begun_by, ended_by, ended_at from host_absence").all()
    assert (row.begun_by, row.ended_by) == ("kim", "lee")


def test_who_has_it_may_have_it_longer(engine: Engine, runs: list[tuple[int, int]]) -> None:
    reserve(engine, 1)
    reserve(engine, 5)
    rows = execute(engine, "select ended_at from host_absence order by id").all()
    assert [row.ended_at is None for row in rows] == [False, True]


@pytest.mark.parametrize(("hours", "said"), [(-1, "is past"), (24 * 61, "more than 60 days")])
def test_a_time_that_is_past_or_too_far_is_refused(
    engine: Engine, runs: list[tuple[int, int]], hours: float, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        reserve(engine, hours)


def test_a_reason_is_wanted_and_cleaned(engine: Engine, runs: list[tuple[int, int]]) -> None:
    with transaction(engine) as session:
        until = database_now(session) + timedelta(hours=1)
        with pytest.raises(InvalidInput, match="a reason is missing"):
            service.reserve(session, *HOST, until=until, reason=" \n ", by="kim")
        service.reserve(session, *HOST, until=until, reason="a\x1b[31m\nb", by="kim")
        assert fleet.host_named(session, *HOST).reserved_reason == "a\ufffd[31m b"


def test_a_host_that_nobody_knows_is_refused(engine: Engine) -> None:
    with pytest.raises(NotFound, match="there is no host lab/alpha"):
        reserve(engine)


def test_set_aside_by_hand_it_is_neither_probed_nor_brought_back_by_a_rule(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    host = runs[0][1]
    with transaction(engine) as session:
        absences.set_aside(session, host, "it does not answer")
        service.set_aside(session, *HOST, reason="a fan is loud", by="kim")
        absences.set_aside(session, host, "it does not answer still")
        assert not absences.bring_back(session, host)
    assert take(engine, runs[0]) is None
    with transaction(engine) as session:
        shown = fleet.host_named(session, *HOST)
        assert (shown.set_aside_reason, shown.probe_at) == ("a fan is loud", None)
        assert run_rows.wait_for_host(session, runs[0][0]) == run_rows.LOOK_AGAIN_S
        with pytest.raises(Conflict, match="set aside already, by kim"):
            service.set_aside(session, *HOST, reason="again", by="lee")
    with transaction(engine) as session:
        assert service.bring_back(session, *HOST, by="lee")
    assert take(engine, runs[0]) is not None
    rows = execute(engine, "select begun_by, ended_by from host_absence order by id").all()
    assert [tuple(row) for row in rows] == [("", "kim"), ("kim", "lee")]


def test_a_host_between_two_probes_is_given_to_no_run(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    with transaction(engine) as session:
        absences.set_aside(session, runs[0][1], "it does not answer")
    assert take(engine, runs[0]) is None
    execute(engine, "update host set probe_at = now()")
    assert take(engine, runs[0]) is not None


def test_the_database_itself_refuses_a_second_open_absence_of_a_kind(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    reserve(engine)
    with pytest.raises(IntegrityError, match="uq_host_absence_open"):
        execute(
            engine,
            "insert into host_absence (host_id, kind, reason, began_at, until)"
            " values (:h, 'reserved', '', now(), now())",
            h=runs[0][1],
        )


def test_the_queue_says_what_waits_and_when_it_begins(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    lease = take(engine, runs[0])
    assert lease is not None
    execute(engine, "update run set state = 'running' where id = :r", r=runs[0][0])
    with transaction(engine) as session:
        [unserved] = host_queues(session)
    assert "no worker that runs now reaches it" in unserved.kept
    assert "no worker" in unserved.waiting[0].not_known
    announce(engine, hosts=HERE)
    with transaction(engine) as session:
        [queue] = host_queues(session)
    assert queue.kept == ""
    assert queue.running is not None
    assert queue.running.run_id == runs[0][0]
    assert [run.run_id for run in queue.waiting] == [runs[1][0]]
    assert queue.waiting[0].starts_in_s is None
    assert "no boot behind it" in queue.waiting[0].not_known
    # The first boot took 100 s; each run has four.
    execute(
        engine,
        "update boot set state = 'effective', started_at = now() - interval '100 s',"
        " finished_at = now() where id = (select min(id) from boot)",
    )
    with transaction(engine) as session:
        [queue] = host_queues(session)
    assert queue.waiting[0].starts_in_s == pytest.approx(300, abs=1)
    assert queue.waiting[0].takes_s == pytest.approx(400, abs=1)
    assert queue.waiting[0].starts_low_s is not None
    assert queue.waiting[0].starts_low_s < 300


def test_the_queue_of_a_host_that_is_kept_begins_then_or_is_not_known(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    reserve(engine, 2)
    with transaction(engine) as session:
        [queue] = host_queues(session)
    assert "reserved by kim until" in queue.kept
    assert queue.waiting[0].starts_in_s == pytest.approx(7200, abs=60)
    assert queue.waiting[1].starts_in_s is None
    with transaction(engine) as session:
        service.release(session, *HOST, by="kim", may_break=False)
        service.set_aside(session, *HOST, reason="a fan is loud", by="kim")
        [queue] = host_queues(session)
    assert [run.starts_in_s for run in queue.waiting] == [None, None]
    assert queue.waiting[0].not_known == "alpha is set aside by kim: a fan is loud"


def test_absent_time_counts_once_where_it_overlaps(
    engine: Engine, runs: list[tuple[int, int]]
) -> None:
    with transaction(engine) as session:
        now: datetime = database_now(session)
    for kind, began, until, ended in (
        ("set_aside", 10, None, 4),
        ("reserved", 8, 2, None),
        ("set_aside", 1, None, None),
    ):
        execute(
            engine,
            "insert into host_absence (host_id, kind, reason, began_at, until, ended_at)"
            " values (:h, :k, 'x', :b, :u, :e)",
            h=runs[0][1], k=kind, b=now - timedelta(hours=began),
            u=None if until is None else now - timedelta(hours=until),
            e=None if ended is None else now - timedelta(hours=ended),
        )  # fmt: skip
    with transaction(engine) as session:
        assert absences.absent_seconds(session, runs[0][1], now) == 9 * 3600


def test_the_commands_say_who_has_the_host(
    engine: Engine, runs: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cli import host
    from mitigauge.storage.database import direct
    from mitigauge.storage.database import engine as database

    monkeypatch.setattr(database, "get_engine", lambda: engine)
    monkeypatch.setattr(
        direct, "database_address", lambda: engine.url.render_as_string(hide_password=False)
    )
    run = CliRunner().invoke
    done = run(host.app, ["reserve", "alpha", "--until", "8h", "--reason", WHY])
    assert "lab/alpha is reserved until" in done.output
    assert "reserved by operator" in " ".join(run(host.app, ["list"]).output.split())
    queue = " ".join(run(host.app, ["queue"]).output.split())
    assert "operator" in queue
    assert '"kept"' in run(host.app, ["queue", "--json"]).output
    assert "free again; it was operator's" in run(host.app, ["release", "alpha"]).output
    assert "was not reserved" in run(host.app, ["release", "alpha"]).output
    assert "is set aside" in run(host.app, ["set-aside", "alpha", "--reason", "loud"]).output
    assert '"set_aside_by"' in run(host.app, ["show", "alpha", "--json"]).output
    assert "is in use again" in run(host.app, ["resume", "alpha"]).output
    bad = run(host.app, ["reserve", "alpha", "--until", "soon", "--reason", WHY])
    assert "'soon' is no time" in str(bad.exception)
