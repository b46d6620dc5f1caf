"""A worker may be killed, paused or cut off from its database anywhere."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

from sqlalchemy import select

from mitigauge.measurement.runs.tables import Boot
from mitigauge.reporting.pages import experiments as views
from mitigauge.storage.database.embedded_server import restart_immediately
from mitigauge.storage.database.engine import transaction
from pipelines.decision import Step
from tests.crash.conftest import Fleet, nothing_lost_nothing_twice
from tests.crash.simulated_host import JOB_LASTED_S
from tests.specs import SPEC
from tests.zygote import Forked

STEPS = [
    Step.PREPARE,
    Step.ARM,
    Step.AWAIT,
    Step.VERIFY,
    Step.START,
    Step.POLL,
    Step.RESTORE,
    Step.FINISH,
]


def test_an_unhurt_worker_finishes_the_plan(fleet: Fleet) -> None:
    experiment = fleet.submit()
    fleet.worker()
    nothing_lost_nothing_twice(fleet.until_over(experiment), fleet.did())
    with transaction(fleet.engine) as session:
        assert set(session.scalars(select(Boot.job_lasted_s))) == {JOB_LASTED_S}


def test_killed_before_and_after_every_steps_commit(fleet: Fleet) -> None:
    experiment = fleet.submit()
    for step in STEPS:
        for moment in ("before", "after"):
            if step is Step.FINISH and moment == "after":
                continue  # nothing is left to do then
            doomed = fleet.worker(f"{step}:{moment}")
            fleet.until(partial(has_ended, doomed), f"death {moment} {step}")
            assert doomed.returncode == -signal.SIGKILL
    fleet.worker()
    view = fleet.until_over(experiment)
    nothing_lost_nothing_twice(view, fleet.did())


def test_killed_right_after_the_last_commit(fleet: Fleet) -> None:
    experiment = fleet.submit()
    doomed = fleet.worker(f"{Step.FINISH}:after")
    nothing_lost_nothing_twice(fleet.until_over(experiment), fleet.did())
    fleet.until(lambda: doomed.poll() is not None, "the worker's death")


def test_a_worker_paused_past_its_lease_has_its_commit_refused(fleet: Fleet) -> None:
    experiment = _overtaken(fleet, f"{Step.VERIFY}:pause")
    nothing_lost_nothing_twice(fleet.until_over(experiment), fleet.did())
    fleet.until(lambda: "fence" in _event_kinds(fleet, experiment), "the refusal in the log")


def test_a_worker_paused_before_it_acts_no_longer_touches_the_host(fleet: Fleet) -> None:
    experiment = _overtaken(fleet, f"{Step.ARM}:doze")
    nothing_lost_nothing_twice(fleet.until_over(experiment), fleet.did())


def test_two_workers_share_the_work_without_doing_it_twice(fleet: Fleet) -> None:
    text = fleet_spec(hosts="[alpha, beta]")
    experiment = fleet.submit(text, "alpha", "beta")
    fleet.worker()
    fleet.worker()
    view = fleet.until_over(experiment)
    nothing_lost_nothing_twice(view, fleet.did("alpha") + fleet.did("beta"))


def test_a_database_stopped_in_mid_run_and_started_again_loses_nothing(
    fleet: Fleet, postgres_home: Path
) -> None:
    experiment = fleet.submit(SPEC.replace("blocks: 2", "blocks: 4"))
    worker = fleet.worker()
    for boots in (1, 4):
        fleet.until(partial(has_done, fleet, experiment, boots), f"{boots} boots")
        restart_immediately(postgres_home)
    view = fleet.until_over(experiment)
    nothing_lost_nothing_twice(view, fleet.did())
    assert worker.poll() is None


def fleet_spec(hosts: str) -> str:
    return SPEC.replace("[alpha]", hosts)


def _overtaken(fleet: Fleet, fault: str) -> int:
    """An experiment whose first worker stopped itself and goes on after another took over."""
    experiment = fleet.submit()
    sleeper = fleet.worker(fault)
    fleet.until(lambda: _stopped(sleeper.pid), "the worker to stop itself")
    fleet.worker()
    fleet.until(lambda: fleet.show(experiment).boots_done >= 1, "another worker to go on")
    os.kill(sleeper.pid, signal.SIGCONT)
    return experiment


def has_ended(worker: Forked) -> bool:
    return worker.poll() is not None


def has_done(fleet: Fleet, experiment: int, boots: int) -> bool:
    return fleet.show(experiment).boots_done >= boots


def _stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


def _event_kinds(fleet: Fleet, experiment: int) -> set[str]:
    with transaction(fleet.engine) as session:
        return {event.kind for event in views.list_events(session, experiment, limit=2000)}
