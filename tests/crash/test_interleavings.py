"""Two workers at one run, switched at every statement, commit and call to the host."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from mitigauge.measurement.runs import service
from mitigauge.storage.database.engine import new_engine, transaction
from pipelines import insist, lease
from pipelines.steps import boot as boot_steps
from tests.crash.behaviours import Behaviour, StaysDown
from tests.crash.conftest import Fleet
from tests.crash.interleaving import SkewedTime, Stage, with_expiry
from tests.crash.scenarios import SMALL
from tests.crash.scheduler import alternating
from tests.crash.simulated_host import write_world
from tests.specs import CATALOG

# Each of these is a stage: the step that the next worker takes.
STEPS = ("prepare", "boot.arm", "boot.wait", "boot.verify", "measure.start", "measure.poll",
         "restore", "finish")  # fmt: skip
EXAMPLES = int(os.environ.get("MITIGAUGE_RIG_EXAMPLES", "12"))
EVERY_NTH = 1 if "MITIGAUGE_RIG_EXAMPLES" in os.environ else 5
MakeStage = Callable[..., Stage]


@pytest.fixture
def stage_at(
    fleet: Fleet, engine: Engine, database_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeStage]:
    """Makes the stage at which a given step comes next."""
    clock = SkewedTime()
    for module in (insist, lease):
        monkeypatch.setattr(module, "time", clock)
    for name in ("ANSWER_WAIT_S", "WATCH_S", "WATCH_INTERVAL_S"):
        monkeypatch.setattr(boot_steps, name, 0.01)
    watch = new_engine(database_url)
    stages = []

    def make(step: str, *pieces: Behaviour) -> Stage:
        write_world(home / "alpha.json", *pieces, boot_timeout_s=5)
        experiment = fleet.submit(SMALL.replace("blocks: 2", "blocks: 1"))
        run = fleet.show(experiment).runs[0].id
        stage = Stage(engine, watch, home, CATALOG, run, clock)
        stages.append(stage)
        for _ in range(30):
            stage.snapshot.take()
            if stage.points_alone()[0] == step:
                return stage
            stage.step_alone()
            if stage.last_step() == "boot.wait" and pieces:
                _long_ago(watch)
        pytest.fail(f"the run came to no {step}")

    yield make
    for stage in stages:
        stage.close()
    watch.dispose()


def _long_ago(watch: Engine) -> None:
    """The reboot was so long ago that the power is cycled next."""
    with watch.begin() as connection:
        connection.execute(text("update boot set rebooted_at = rebooted_at - interval '1 h'"))


def wrong_in_every_switch(stage: Stage) -> dict[int, list[str]]:
    """What goes wrong where the first worker is overtaken after so many switch points."""
    _, points = stage.points_alone()
    assert points > 10
    found = {
        after: stage.played(alternating("a", [after])) for after in range(0, points + 1, EVERY_NTH)
    }
    return {after: wrong for after, wrong in found.items() if wrong}


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_overtaken_anywhere_does_nothing_twice(stage_at: MakeStage, step: str) -> None:
    assert wrong_in_every_switch(stage_at(step)) == {}


def test_a_power_cycle_is_made_once_wherever_two_workers_meet(stage_at: MakeStage) -> None:
    assert wrong_in_every_switch(stage_at("boot.power-cycle", StaysDown(1))) == {}


def test_a_cancelled_run_is_restored_once_wherever_two_workers_meet(
    stage_at: MakeStage, engine: Engine
) -> None:
    stage = stage_at("boot.verify")
    with transaction(engine) as session:
        [experiment] = session.scalars(text("select id from experiment"))
        service.cancel(session, experiment)
    stage.snapshot.take()
    assert stage.points_alone()[0] == "restore"
    assert wrong_in_every_switch(stage) == {}


@pytest.mark.parametrize("step", ["boot.arm", "measure.start", "restore", "finish"])
def test_whose_lease_ran_out_anywhere_neither_acts_nor_counts(
    stage_at: MakeStage, step: str
) -> None:
    stage = stage_at(step)
    _, points = stage.points_alone()
    found = {
        after: stage.played(with_expiry("a", [after], after), expiring=True)
        for after in range(0, points, EVERY_NTH)
    }
    assert {after: wrong for after, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("step", ["boot.arm", "boot.power-cycle", "measure.poll", "finish"])
def test_no_schedule_of_two_workers_and_passing_time_breaks_anything(
    stage_at: MakeStage, step: str
) -> None:
    stage = stage_at(step, *([StaysDown(1)] if step == "boot.power-cycle" else []))

    @settings(
        max_examples=EXAMPLES,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        first=st.sampled_from("ab"),
        points=st.lists(st.integers(0, 25), max_size=5),
        expires=st.none() | st.integers(0, 60),
    )
    def explore(first: str, points: list[int], expires: int | None) -> None:
        if expires is None:
            assert stage.played(alternating(first, points)) == []
        else:
            schedule = with_expiry(first, points, expires)
            assert stage.played(schedule, expiring=True) == []

    explore()
