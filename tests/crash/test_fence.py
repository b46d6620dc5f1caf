"""Leases, fences, retries and limits of a run, one by one and without chance."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, make_url, text

from mitigauge.measurement.fleet.service import host_vars
from mitigauge.storage.database.engine import new_engine, transaction
from pipelines import advance as advance_module
from pipelines import insist as insist_module
from pipelines import lease as lease_module
from pipelines.adapters import ansible_host
from pipelines.adapters.ansible_host import AnsibleHost
from pipelines.advance import Advancer
from pipelines.host_control import LabFault
from pipelines.steps import boot as boot_steps
from tests.crash.behaviours import Behaviour, NoArchive, Silent, Slow, StaysDown
from tests.crash.conftest import Fleet
from tests.crash.interleaving import SkewedTime
from tests.crash.proxy import Proxy
from tests.crash.scenarios import SMALL
from tests.crash.simulated_host import changed, opener, write_world
from tests.specs import CATALOG

MANY_STEPS = 60
# It is renewed each third of it, and a busy machine answers within the rest.
SHORT_LEASE_S = 3.0
Before = Callable[[str], None]


class _Told:
    """A host that says which call comes before it is made."""

    def __init__(self, host: Any, before: Before) -> None:
        self._host, self._before = host, before

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            self._before(name)
            return getattr(self._host, name)(*arguments, **named)

        return call if callable(getattr(self._host, name)) else getattr(self._host, name)


class Bench:
    """One run on one simulated host, and workers that take its steps within the test."""

    def __init__(self, engine: Engine, home: Path, fleet: Fleet) -> None:
        self.engine, self.home, self.fleet = engine, home, fleet
        self.run = 0

    def submit(self, *pieces: Behaviour, blocks: int = 1, **world: Any) -> None:
        write_world(self.home / "alpha.json", *pieces, **world)
        experiment = self.fleet.submit(SMALL.replace("blocks: 2", f"blocks: {blocks}"))
        self.run = self.fleet.show(experiment).runs[0].id

    def worker(
        self, before: Before | None = None, *, lease_s: float = 600.0, engine: Engine | None = None
    ) -> Advancer:
        opened = opener(self.home)

        def open_host(environment: str, name: str, log: Any) -> Any:
            host = opened(environment, name, log)
            return _Told(host, before) if before else host

        return Advancer(engine or self.engine, open_host, CATALOG, lease_seconds=lease_s)

    def until(self, step: str) -> None:
        """Take steps until *step* was taken."""
        worker = self.worker()
        for _ in range(MANY_STEPS):
            if self.steps() and self.steps()[-1][0] == step:
                return
            worker.advance(self.run)
        pytest.fail(f"no {step} in {self.steps()}")

    def to_the_end(self) -> int:
        """Take steps until the run is over; how many that were."""
        worker = self.worker()
        for number in range(MANY_STEPS):
            if worker.advance(self.run) is None:
                return number
            if self.steps()[-1] == ("boot.wait", "silent"):
                self.wait_out()
        pytest.fail(f"not over after {MANY_STEPS} steps: {self.steps()}")

    def wait_out(self) -> None:
        """The time that a boot may take has passed."""
        with self.engine.begin() as connection:
            connection.execute(text("update boot set rebooted_at = rebooted_at - interval '1 h'"))

    def steps(self) -> list[tuple[str, str]]:
        """(step, outcome) of every attempt."""
        return [(row.step, row.outcome) for row in self.rows("step_attempt")]

    def rows(self, table: str) -> Any:
        with transaction(self.engine) as session:
            return session.execute(text(f"select * from {table} order by id")).all()

    def world(self) -> dict[str, Any]:
        with changed(self.home / "alpha.json") as world:
            return world

    def expire(self) -> None:
        """The lease ran out, by the database's clock."""
        with self.engine.begin() as connection:
            connection.execute(text("update host_lease set expires_at = now() - interval '1 s'"))


@pytest.fixture
def bench(engine: Engine, home: Path, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose steps wait for nothing."""
    for name in ("ANSWER_WAIT_S", "WATCH_S", "WATCH_INTERVAL_S"):
        monkeypatch.setattr(boot_steps, name, 0.01)
    monkeypatch.setattr("pipelines.insist.DATABASE_RETRY_S", 0.1)
    return Bench(engine, home, fleet)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SkewedTime:
    """The workers' clock, which the test puts forward."""
    clock = SkewedTime()
    for module in (insist_module, lease_module):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def proxy(database_url: str, tmp_path: Path) -> Iterator[Proxy]:
    """A proxy before the session's server."""
    query = make_url(database_url).query
    upstream = Path(str(query["host"])) / f".s.PGSQL.{query['port']}"
    with Proxy(upstream, tmp_path).running() as proxy:
        yield proxy


def test_a_step_that_outlasts_its_lease_keeps_its_host(bench: Bench) -> None:
    bench.submit(Slow("prepare", 2 * SHORT_LEASE_S))
    first = threading.Thread(target=bench.worker(lease_s=SHORT_LEASE_S).advance, args=(bench.run,))
    first.start()
    while not bench.steps():
        first.join(0.05)
    other = bench.worker(lease_s=SHORT_LEASE_S)
    while first.is_alive():
        if bench.steps() == [("prepare", "started")]:
            other.advance(bench.run)
        first.join(SHORT_LEASE_S / 10)
    assert [step for step in bench.steps() if step[0] == "prepare"] == [("prepare", "done")]
    assert bench.world()["did"].count("prepare") == 1


def test_a_host_in_hand_is_not_another_workers(bench: Bench) -> None:
    other = bench.worker()
    pauses: list[float | None] = []
    bench.submit()

    def meet(_call: str) -> None:
        pauses.append(other.advance(bench.run))

    bench.worker(meet).advance(bench.run)
    assert pauses == [advance_module.HOST_BUSY_RETRY_S]
    assert bench.steps() == [("prepare", "done")]


def test_the_run_of_a_worker_that_is_gone_goes_on(bench: Bench) -> None:
    bench.submit()
    bench.worker()._take(bench.run, uuid4())
    bench.expire()
    bench.worker().advance(bench.run)
    assert ("prepare", "done") in bench.steps()


def test_a_commit_that_comes_late_does_not_count(bench: Bench) -> None:
    bench.submit()
    bench.until("boot.wait")
    other = bench.worker()

    def overtaken(call: str) -> None:
        if call == "verify":
            bench.expire()
            other.advance(bench.run)

    bench.worker(overtaken).advance(bench.run)
    assert [step for step in bench.steps() if step[0] == "boot.verify"] == [
        ("boot.verify", "refused"), ("boot.verify", "effective"),
    ]  # fmt: skip
    assert [e.kind for e in bench.rows("event")].count("fence") == 1


def test_who_slept_past_its_lease_does_not_touch_the_host(bench: Bench, clock: SkewedTime) -> None:
    bench.submit()
    bench.until("boot.wait")
    bench.until("measure.poll")
    other = bench.worker()
    boots: list[int] = []

    def asleep(call: str) -> None:
        if call == "arm" and not boots:
            bench.expire()
            clock.ahead_s += 2000.0
            other.advance(bench.run)
            boots.append(len(bench.world()["did"]))

    bench.worker(asleep).advance(bench.run)
    assert [step for step in bench.steps() if step[0] == "boot.arm"][-2:] == [
        ("boot.arm", "refused"), ("boot.arm", "done"),
    ]  # fmt: skip
    assert len(bench.world()["did"]) == boots[0]
    # The nonce alone would have kept it from booting again; nothing at all was asked of it.
    faults = [a.detail for a in bench.rows("step_attempt") if a.outcome == "refused"]
    assert faults == ["the lease was taken over"]


def test_a_restore_that_slept_past_its_lease_is_not_made(bench: Bench, clock: SkewedTime) -> None:
    bench.submit()
    bench.until("measure.poll")
    bench.until("boot.wait")
    other = bench.worker()
    met: list[str] = []

    def asleep(call: str) -> None:
        if call == "restore" and not met:
            met.append(call)
            bench.expire()
            clock.ahead_s += 2000.0
            other.advance(bench.run)

    worker = bench.worker(asleep)
    while not met:
        worker.advance(bench.run)
    assert bench.world()["did"].count("restore") == 1


def test_a_commit_waits_for_a_database_that_is_away(
    bench: Bench, proxy: Proxy, database_url: str
) -> None:
    bench.submit()
    through = new_engine(proxy.url(database_url))

    def away(call: str) -> None:
        proxy.partition()
        threading.Timer(0.6, proxy.heal).start()

    bench.worker(away, engine=through, lease_s=5.0).advance(bench.run)
    through.dispose()
    assert bench.steps() == [("prepare", "done")]
    assert bench.world()["did"].count("prepare") == 1


def test_a_power_cycle_is_recorded_and_made_once(bench: Bench) -> None:
    bench.submit(StaysDown(1), boot_timeout_s=5)
    bench.to_the_end()
    [cycled] = [boot for boot in bench.rows("boot") if boot.power_cycled]
    assert bench.world()["power_cycles"] == [cycled.nonce]
    assert cycled.state == "did_not_boot"


def test_a_host_that_cannot_be_restored_is_let_go(bench: Bench) -> None:
    bench.submit(Silent(10**6, calls=["restore"]))
    assert bench.to_the_end() < 40
    assert [lease for lease in bench.rows("host_lease") if lease.released_at is None] == []
    assert any("could not be restored" in event.text for event in bench.rows("event"))


def test_a_run_that_is_over_has_no_host(bench: Bench) -> None:
    bench.submit()
    bench.to_the_end()
    assert [run.state for run in bench.rows("run")] == ["finished"]
    assert [lease for lease in bench.rows("host_lease") if lease.released_at is None] == []


def test_a_place_whose_boots_fail_is_made_again_three_times_at_most(bench: Bench) -> None:
    # Three failures of the first place and two of the second: never six in a row in the end.
    bench.submit(NoArchive(5))
    bench.to_the_end()
    boots = [(boot.place, boot.attempt, boot.state) for boot in bench.rows("boot")]
    assert [(attempt, state) for place, attempt, state in boots if place == 1] == [
        (1, "lab_fault"), (2, "lab_fault"), (3, "lab_fault"),
    ]  # fmt: skip
    assert (2, 3, "effective") in boots
    assert [run.state for run in bench.rows("run")] == ["finished"]


def test_faults_in_a_row_end_the_run(bench: Bench) -> None:
    bench.submit(NoArchive(10**6))
    bench.to_the_end()
    assert [boot.state for boot in bench.rows("boot")] == ["lab_fault"] * 6
    assert [run.state for run in bench.rows("run")] == ["failed"]


class _Over:
    """The log of a run whose lease is another's."""

    def line(self, kind: str, text: str) -> None:
        """Drop it."""

    def alive(self) -> bool:
        return False

    def holds(self) -> bool:
        return False


def test_the_power_of_a_host_whose_lease_was_lost_is_not_cycled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(ansible_host, "open_power", opened.append)
    host = AnsibleHost(host_vars("alpha", "lab", {}, boot_timeout_s=60), _Over())
    with pytest.raises(LabFault, match="lease of alpha was lost"):
        host.power_cycle()
    assert opened == []
