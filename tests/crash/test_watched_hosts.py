"""Runs whose hosts are watched beside the steps: no step waits, and no end is missed."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.jobs.abilities import Abilities
from mitigauge.measurement.runs import service
from mitigauge.storage.database.engine import transaction
from pipelines.advance import Advancer
from pipelines.decision import Step
from pipelines.host_watch import WATCHED_LOOK_S, Watched
from pipelines.steps import boot
from pipelines.worker import Worker
from tests.crash.conftest import Fleet, nothing_lost_nothing_twice
from tests.crash.simulated_host import new_world, opener
from tests.specs import CATALOG, SPEC

HOST_NAMES = ("alpha", "beta")
POLL, AWAIT = str(Step.POLL), str(Step.AWAIT)


@dataclass
class HandWatch:
    """What it watches comes when the test says so, or after *lasts_s*."""

    lasts_s: float | None = None
    watches: dict[int, tuple[str, float]] = field(default_factory=dict)
    told: set[int] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    able: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)

    def state(self, run_id: int, what: str, /) -> Watched:
        with self.lock:
            if self.watches.get(run_id, ("", 0.0))[0] != what:
                return Watched.NOT
            if not self._has_come(run_id):
                return Watched.WAITS
            self.drop_unlocked(run_id)
            return Watched.COME

    def await_job(self, run_id: int, what: str, place: tuple[str, str], job: str, /) -> bool:
        return self._begin(run_id, what, f"job of {place[1]}")

    def await_greeting(
        self, run_id: int, what: str, place: tuple[str, str], after_s: float, /
    ) -> bool:
        return self._begin(run_id, what, f"greeting of {place[1]}")

    def drop(self, run_id: int, /) -> None:
        with self.lock:
            self.drop_unlocked(run_id)

    def come(self) -> Sequence[tuple[int, str]]:
        with self.lock:
            return [(run_id, "lab") for run_id in self.watches if self._has_come(run_id)]

    def close(self) -> Sequence[int]:
        return list(self.watches)

    def drop_unlocked(self, run_id: int) -> None:
        self.watches.pop(run_id, None)
        self.told.discard(run_id)

    def _has_come(self, run_id: int) -> bool:
        since = time.monotonic() - self.watches[run_id][1]
        return run_id in self.told or (self.lasts_s is not None and since >= self.lasts_s)

    def _begin(self, run_id: int, what: str, for_what: str) -> bool:
        with self.lock:
            self.drop_unlocked(run_id)
            if self.able:
                self.watches[run_id] = (what, time.monotonic())
                self.asked.append(for_what)
            return self.able


@pytest.fixture
def watch() -> HandWatch:
    return HandWatch()


@pytest.fixture
def run(fleet: Fleet) -> int:
    return fleet.show(fleet.submit()).runs[0].id


@pytest.fixture
def advancer(engine: Engine, home: Path, watch: HandWatch, run: int) -> Advancer:
    return Advancer(engine, opener(home), catalog=CATALOG, lease_seconds=60, watch=watch)


def steps(engine: Engine) -> Iterator[str]:
    with transaction(engine) as session:
        yield from session.scalars(text("SELECT step FROM step_attempt ORDER BY id"))


def advance_until_it_waits(advancer: Advancer, run: int) -> float:
    """Take steps for as long as the next is wanted at once; the pause after the last."""
    for _ in range(60):
        pause = advancer.advance(run)
        assert pause is not None
        if pause > 1.0:
            return pause
    raise AssertionError("it never waits")


def test_a_run_sleeps_while_its_host_boots_and_measures(
    engine: Engine, fleet: Fleet, advancer: Advancer, watch: HandWatch, run: int
) -> None:
    """The host is asked when it greets, and when its job is over; in between by nobody."""
    assert advance_until_it_waits(advancer, run) == WATCHED_LOOK_S
    assert list(steps(engine))[-1] == AWAIT
    # Woken in vain it changes nothing, and a second watch is not begun.
    assert advancer.advance(run) == WATCHED_LOOK_S
    assert watch.asked == ["greeting of alpha"]
    watch.told.add(run)
    assert advance_until_it_waits(advancer, run) == WATCHED_LOOK_S
    assert watch.asked == ["greeting of alpha", "job of alpha"]
    before = fleet.did()
    assert [word.split()[0] for word in before] == ["prepare", "boot", "job"]
    assert advancer.advance(run) == WATCHED_LOOK_S
    assert fleet.did() == before
    watch.told.add(run)
    advancer.advance(run)
    assert list(steps(engine))[-1] == POLL
    assert fleet.show(1).boots[0].state == "effective"


def test_a_boot_that_is_overdue_is_seen_to_be(
    engine: Engine, home: Path, fleet: Fleet, watch: HandWatch
) -> None:
    (home / "alpha.json").write_text(json.dumps({**new_world(), "boot_timeout_s": 2.0}))
    run = fleet.show(fleet.submit()).runs[0].id
    advancer = Advancer(engine, opener(home), catalog=CATALOG, lease_seconds=60, watch=watch)
    pause = advance_until_it_waits(advancer, run)
    assert 1.0 < pause <= 2.0 + boot.OVERDUE_S
    time.sleep(pause)
    advancer.advance(run)
    assert list(steps(engine))[-1] == str(Step.POWER_CYCLE)
    assert not watch.watches


def test_what_cannot_be_watched_is_waited_for_by_its_step(
    engine: Engine, fleet: Fleet, advancer: Advancer, watch: HandWatch, run: int
) -> None:
    watch.able = False
    while advancer.advance(run) is not None:
        pass
    assert watch.asked == []
    nothing_lost_nothing_twice(fleet.show(1), fleet.did())


def test_another_worker_waits_itself(
    engine: Engine, home: Path, fleet: Fleet, advancer: Advancer, watch: HandWatch, run: int
) -> None:
    advance_until_it_waits(advancer, run)
    watch.told.add(run)
    advance_until_it_waits(advancer, run)
    other = HandWatch()
    second = Advancer(engine, opener(home), catalog=CATALOG, lease_seconds=60, watch=other)
    assert second.advance(run) == WATCHED_LOOK_S
    assert other.asked == ["job of alpha"]
    other.told.add(run)
    second.advance(run)
    assert fleet.show(1).boots[0].state == "effective"


def test_a_cancelled_run_is_watched_no_more(
    engine: Engine, fleet: Fleet, advancer: Advancer, watch: HandWatch, run: int
) -> None:
    advance_until_it_waits(advancer, run)
    with transaction(engine) as session:
        service.cancel(session, 1)
    while advancer.advance(run) is not None:
        pass
    assert fleet.show(1).state == "cancelled"
    assert fleet.did()["restore"] == 1
    assert not watch.watches


def test_no_end_is_missed_and_waiting_takes_no_slot(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    """Two hosts on a worker of one slot: each is begun while the other is waited for."""
    for name in HOST_NAMES:
        (home / f"{name}.json").write_text(json.dumps(new_world()))
    spec = SPEC.replace("hosts: [alpha]", "hosts: [alpha, beta]")
    experiment = fleet.submit(spec, *HOST_NAMES)
    watch = HandWatch(lasts_s=1.0)
    advancer = Advancer(engine, opener(home), catalog=CATALOG, lease_seconds=60, watch=watch)
    stop = threading.Event()
    worker = Worker(advancer, fleet.url, 1, look=lambda: Abilities(hosts={"lab": [*HOST_NAMES]}))
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        assert fleet.until_over(experiment).state == "finished"
    finally:
        stop.set()
        thread.join(30)
    waited = Counter(watch.asked)
    assert waited == {f"{what} of {host}": 4 for what in ("job", "greeting") for host in HOST_NAMES}
    # As they were asked for, not one host after the other.
    hosts = [asked.rpartition(" ")[2] for asked in watch.asked]
    assert hosts != sorted(hosts)
    assert hosts != sorted(hosts, reverse=True)
